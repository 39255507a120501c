"""A published table and its points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from gdviz.model.constants import Constants

#: Asks the model, with some constants, for the figure that was measured.
Question = Callable[[Constants], float]


@dataclass(frozen=True, slots=True)
class Point:
    """One measured figure.

    Attributes
    ----------
    what
        Which of the table's figures it is.
    low, high
        The figure, or the ends of the range that was published, in the table's unit.
    ask
        The same from the model.
    tolerance
        Largest relative error that counts as right.
    """

    what: str
    low: float
    high: float
    ask: Question
    tolerance: float


@dataclass(frozen=True, slots=True)
class Table:
    """Figures of one setup.

    Attributes
    ----------
    key
        Number of the check.
    setup
        Hardware and method, one line.
    source
        Who published it. Constants fitted to it name it in `gdviz.model.FITTED`.
    quantity, unit
        What was measured.
    points
        Empty where nothing was published.
    unjudged
        Why the table is shown but not judged; empty where it is.
    assumed
        What the source leaves open and the question assumes; empty for nothing of weight.
    leans_on
        Sources of other tables on the same hardware whose fitted constants decide this one as well.
    """

    key: str
    setup: str
    source: str
    quantity: str
    unit: str
    points: tuple[Point, ...] = field(default=())
    unjudged: str = ""
    assumed: str = ""
    leans_on: tuple[str, ...] = ()
