"""What a calibration answers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from gdviz.messages import _
from gdviz.model.constants import Constants

#: Largest median error, on points held out, of a fit that is worth keeping.
USABLE = 0.25


@dataclass(frozen=True, slots=True)
class Fit:
    """Relative errors of the model over some points.

    Attributes
    ----------
    points
        How many figures.
    median, largest
        Of the errors' sizes; 0 where there is no point.
    """

    points: int
    median: float
    largest: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """Constants fitted to a sweep.

    Attributes
    ----------
    constants
        The fitted ones, for `predict` and all others.
    changed
        Name of each constant that was moved, with its value before and after; before is None where
        there was none.
    before
        Errors over all points with the constants as they were.
    fitted, held_out
        Errors with the new ones over the points that were fitted, and over those that were not.
    idle
        Constants that the points can do without: they keep their value, since moving them explains nothing
        that the others do not.
    bounds
        Least and largest value that each of `changed` could take.
    spread
        Standard error of each of `changed`, relative to its value, as the scatter of the fitted points
        about the model has it; infinite where there are no more points than constants.
    """

    constants: Constants
    changed: Mapping[str, tuple[float | None, float]]
    before: Fit
    fitted: Fit
    held_out: Fit
    idle: tuple[str, ...]
    bounds: Mapping[str, tuple[float, float]]
    spread: Mapping[str, float]

    @property
    def at_bound(self) -> tuple[str, ...]:
        """Names of constants that stopped at a bound: the points ask for more than they may give."""
        return tuple(
            name
            for name, ends in self.bounds.items()
            if any(math.isclose(self.changed[name][1], end, rel_tol=1e-6) for end in ends)
        )

    @property
    def usable(self) -> bool:
        """Whether half of the points that were not fitted to come out within `USABLE`."""
        return self.held_out.median <= USABLE

    def __str__(self) -> str:
        lines = []
        for name, (old, new) in self.changed.items():
            low, high = self.bounds[name]
            words = _("{name}: {before} → {after:.4g} ± {spread:.1%}, from {low:.4g} to {high:.4g}").format(
                name=name,
                before="–" if old is None else f"{old:.4g}",
                after=new,
                spread=self.spread[name],
                low=low,
                high=high,
            )
            lines.append(_("{words} (at its bound)").format(words=words) if name in self.at_bound else words)
        if self.idle:
            lines.append(_("The points can do without {names}.").format(names=", ".join(self.idle)))
        for what, fit in (
            (_("before, all points"), self.before),
            (_("fitted points"), self.fitted),
            (_("points held out"), self.held_out),
        ):
            lines.append(
                _("{what}: {points} figures, median error {median:.1%}, largest {largest:.1%}").format(
                    what=what, points=fit.points, median=fit.median, largest=fit.largest
                )
            )
        if not self.usable:
            lines.append(
                _(
                    "This fit is not usable: is the unit of the table's rates another one, or the path, the "
                    "GPU or the NIC of the measurement?"
                )
            )
        return "\n".join(lines)
