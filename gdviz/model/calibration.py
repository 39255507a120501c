"""Fit the uncertain constants to a measured sweep, and say how well they fit where they were not fitted.

Half of the points, every other size, is fitted by Levenberg and Marquardt's method on the logarithms of
the constants; the other half judges. Everything else in the model stays as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gdviz.errors import GdvizError
from gdviz.messages import _
from gdviz.model.constants import DEFAULTS, Constants
from gdviz.model.predict import predict
from gdviz.model.workload import Endpoint, Fabric, Workload

Array = npt.NDArray[np.float64]

#: What is fitted where a person does not say: the constants that no data sheet gives.
UNCERTAIN: tuple[str, ...] = (
    "program_s",
    "qp_message_s",
    "copy_launch_s",
    "copy_start_s",
    "peer_read_bytes_per_s",
    "peer_write_bytes_per_s",
)

#: A constant is moved by this factor at most, either way.
_WIDEST = 100.0
_STEPS, _MESSAGES = 40, 200
_LEAST_POINTS = 4


@dataclass(frozen=True, slots=True)
class Measured:
    """One measured point.

    Attributes
    ----------
    workload
        What was sent. A latency is that of one message in flight, whatever the workload's depth.
    bandwidth_bytes_per_s, latency_s
        What was measured of it, payload bytes a second and the median; None where it was not.
    """

    workload: Workload
    bandwidth_bytes_per_s: float | None = None
    latency_s: float | None = None


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
        Constants that no point depends on; they keep their value.
    """

    constants: Constants
    changed: Mapping[str, tuple[float | None, float]]
    before: Fit
    fitted: Fit
    held_out: Fit
    idle: tuple[str, ...]

    def __str__(self) -> str:
        lines = [
            _("{name}: {before} → {after:.4g}").format(
                name=name, before="–" if old is None else f"{old:.4g}", after=new
            )
            for name, (old, new) in self.changed.items()
        ]
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
        return "\n".join(lines)


def calibrate(
    measured: Iterable[Measured],
    local: Endpoint,
    remote: Endpoint,
    *,
    fit: Sequence[str] = UNCERTAIN,
    fabric: Fabric | None = None,
    constants: Constants = DEFAULTS,
) -> Calibration:
    """Fit constants to measured points.

    Parameters
    ----------
    measured
        At least four figures, of one or more operations and paths; every other size is held out.
    local, remote, fabric
        Where they were measured.
    fit
        Names of constants, fields of `Constants`.
    constants
        Where to start.

    Raises
    ------
    GdvizError
        Too few points, a figure that is none, or a name that is no constant with a unit.
    """
    points = sorted(measured, key=lambda point: point.workload.size_bytes)
    names = _checked_names(fit)
    figures = [figure for point in points for figure in _figures(point)]
    if len(figures) < _LEAST_POINTS:
        raise GdvizError(
            _("{n} measured figures are too few to fit to.").format(n=len(figures)),
            _("Measure at least {n}, over several sizes.").format(n=_LEAST_POINTS),
        )
    sizes = {
        size: number for number, size in enumerate(dict.fromkeys(f.workload.size_bytes for f in figures))
    }
    chosen = [figure for figure in figures if sizes[figure.workload.size_bytes] % 2 == 0]
    rest = [figure for figure in figures if sizes[figure.workload.size_bytes] % 2]

    def errors(of: Sequence[_Figure], used: Constants) -> Array:
        return np.array([math.log(figure.ask(local, remote, fabric, used) / figure.value) for figure in of])

    start, origin = _start(names, constants, figures)
    active, idle = _that_matter(names, start, lambda used: errors(chosen, used))
    found = _descend(active, start, lambda used: errors(chosen, used))
    return Calibration(
        found,
        {name: (origin[name], getattr(found, name)) for name in active},
        _fit_of(errors(figures, constants)),
        _fit_of(errors(chosen, found)),
        _fit_of(errors(rest, found)),
        idle,
    )


@dataclass(frozen=True, slots=True)
class _Figure:
    workload: Workload
    value: float
    is_latency: bool

    def ask(self, local: Endpoint, remote: Endpoint, fabric: Fabric | None, constants: Constants) -> float:
        found = predict(local, remote, self.workload, fabric=fabric, constants=constants, messages=_MESSAGES)
        return found.latency.p50 if self.is_latency else found.bandwidth_bytes_per_s


def _figures(point: Measured) -> list[_Figure]:
    given = [(point.bandwidth_bytes_per_s, False), (point.latency_s, True)]
    figures = []
    for value, is_latency in given:
        if value is None:
            continue
        if not (math.isfinite(value) and value > 0):
            raise GdvizError(
                _("A measured figure at {size} bytes is {value}.").format(
                    size=point.workload.size_bytes, value=value
                ),
                _("Give bytes a second and seconds, larger than 0."),
            )
        work = replace(point.workload, depth=1, qps=1) if is_latency else point.workload
        figures.append(_Figure(work, value, is_latency))
    return figures


def _checked_names(fit: Sequence[str]) -> tuple[str, ...]:
    known = {field.name for field in fields(Constants) if field.name.endswith("_s")}
    for name in fit:
        if name not in known:
            raise GdvizError(
                _("{name!r} cannot be fitted.").format(name=str(name)[:60]),
                _("These can: {names}.").format(names=", ".join(sorted(known))),
            )
    if not fit:
        raise GdvizError(_("No constant is named to fit."), _("Name at least one."))
    return tuple(dict.fromkeys(fit))


def _start(
    names: Sequence[str], constants: Constants, figures: Sequence[_Figure]
) -> tuple[Constants, dict[str, float | None]]:
    """Give constants without a value one to start from: the fastest that was measured."""
    fastest = max((f.value for f in figures if not f.is_latency), default=None)
    origin = {name: getattr(constants, name) for name in names}
    missing: dict[str, Any] = {
        name: fastest for name, value in origin.items() if value is None and fastest is not None
    }
    return replace(constants, **missing), origin


def _that_matter(
    names: Sequence[str], start: Constants, errors: Callable[[Constants], Array]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    base = errors(start)

    def matters(name: str) -> bool:
        value = getattr(start, name)
        if not value:
            return False
        # A ceiling that is far above all measured may matter once it is lowered.
        moved = (errors(_with(start, {name: value * factor})) for factor in (0.5, 2.0))
        return any(float(np.max(np.abs(each - base))) > 1e-9 for each in moved)

    active = tuple(name for name in names if matters(name))
    return active, tuple(name for name in names if name not in active)


def _descend(names: Sequence[str], start: Constants, errors: Callable[[Constants], Array]) -> Constants:
    """Return the constants of the least squares, by damped steps on their logarithms."""
    if not names:
        return start
    origin = np.log([getattr(start, name) for name in names])
    reach = math.log(_WIDEST)

    def at(point: Array) -> Constants:
        return _with(start, dict(zip(names, np.exp(point).tolist(), strict=True)))

    point, damping = origin.copy(), 1e-2
    now = errors(at(point))
    for _step in range(_STEPS):
        slopes = np.stack(
            [(errors(at(point + nudge)) - now) / 1e-3 for nudge in 1e-3 * np.eye(len(names))], axis=1
        )
        pull = slopes.T @ now
        curve = slopes.T @ slopes
        move = np.linalg.solve(curve + damping * (np.diag(np.diag(curve)) + 1e-9 * np.eye(len(names))), -pull)
        there = np.clip(point + np.clip(move, -1.0, 1.0), origin - reach, origin + reach)
        then = errors(at(there))
        square, smaller = float(now @ now), float(then @ then)
        if smaller < square:
            settled = square - smaller < 1e-10 * max(1.0, square)
            point, now, damping = there, then, damping / 3
            if settled:
                break
        else:
            damping *= 4
            if damping > 1e8:
                break
    return at(point)


def _with(constants: Constants, values: dict[str, Any]) -> Constants:
    return replace(constants, **values)


def _fit_of(logs: Array) -> Fit:
    sizes = np.abs(np.expm1(logs))
    if not sizes.size:
        return Fit(0, 0.0, 0.0)
    return Fit(sizes.size, float(np.median(sizes)), float(sizes.max()))


def sweep_points(
    sizes: Iterable[int],
    bandwidths_bytes_per_s: Iterable[float],
    workload: Workload,
) -> tuple[Measured, ...]:
    """Return the points of a bandwidth sweep: sizes in bytes, payload bytes a second.

    Parameters
    ----------
    workload
        Operation, path, depth and queue pairs of all points.
    """
    return tuple(
        Measured(replace(workload, size_bytes=size), rate)
        for size, rate in zip(sizes, bandwidths_bytes_per_s, strict=True)
    )
