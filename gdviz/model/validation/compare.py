"""Tables beside the model: errors, and whether they are within tolerance."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from gdviz.model.constants import DEFAULTS, FITTED, Constants
from gdviz.model.validation.table import Point, Table


@dataclass(frozen=True, slots=True)
class Compared:
    """One point beside the model.

    Attributes
    ----------
    error
        Relative; from the nearer end of a range, and 0 inside it.
    """

    point: Point
    predicted: float

    @property
    def error(self) -> float:
        """Predicted over measured, less 1; 0 inside the measured range."""
        if self.predicted < self.point.low:
            return self.predicted / self.point.low - 1
        if self.predicted > self.point.high:
            return self.predicted / self.point.high - 1
        return 0.0

    @property
    def within(self) -> bool:
        """Whether the error is within the point's tolerance."""
        return abs(self.error) <= self.point.tolerance


@dataclass(frozen=True, slots=True)
class Row:
    """A table beside the model.

    Attributes
    ----------
    fitted
        Names of the constants that were fitted to this table, or to another on the same hardware that
        decides this one as well.
    """

    table: Table
    points: tuple[Compared, ...]
    fitted: tuple[str, ...]

    @property
    def median_error(self) -> float | None:
        """Median of the errors' sizes; None without points."""
        return median(abs(each.error) for each in self.points) if self.points else None

    @property
    def largest_error(self) -> float | None:
        """The error of the worst point, with its sign; None without points."""
        return max((each.error for each in self.points), key=abs) if self.points else None

    @property
    def within(self) -> bool | None:
        """Whether every point is within its tolerance; None where nothing is judged."""
        if not self.points or self.table.unjudged:
            return None
        return all(each.within for each in self.points)


def compare(tables: Iterable[Table], constants: Constants = DEFAULTS) -> tuple[Row, ...]:
    """Return every table beside the model."""
    return tuple(
        Row(
            table,
            tuple(Compared(point, point.ask(constants)) for point in table.points),
            tuple(name for name, source in FITTED.items() if source in (table.source, *table.leans_on)),
        )
        for table in tables
    )
