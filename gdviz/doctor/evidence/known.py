"""A value together with what establishes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from gdviz.readers import Evidence

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Known(Generic[T_co]):
    """A value that the inputs give; None in its place means that they do not tell.

    Attributes
    ----------
    value
        False is a 'no' that is known.
    evidence
        The lines that say so, the best first.
    """

    value: T_co
    evidence: tuple[Evidence, ...] = ()


def value_of(known: Known[T] | None) -> T | None:
    """Return the value, None where it is unknown."""
    return None if known is None else known.value


def evidence_of(*knowns: Known[object] | None) -> tuple[Evidence, ...]:
    """Return all evidence of some values, each piece once."""
    found = dict.fromkeys(piece for known in knowns if known is not None for piece in known.evidence)
    return tuple(found)
