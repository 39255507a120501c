"""Fit the uncertain constants to a measured sweep, and say how well they fit where they were not fitted.

Half of the points, every other size, is fitted by Levenberg and Marquardt's method on the logarithms of
the constants; the other half judges. Everything else in the model stays as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from gdviz.errors import GdvizError
from gdviz.messages import _
from gdviz.model.calibration.least_squares import Array, least_squares, standard_errors
from gdviz.model.calibration.measured import Figure, Kind, Measured, check_units, figures_of
from gdviz.model.calibration.results import Calibration, Fit
from gdviz.model.constants import DEFAULTS, Constants
from gdviz.model.workload import Endpoint, Fabric

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
_LEAST_POINTS = 4

_Errors = Callable[[Constants], Array]


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
        Figures of at least four sizes, of one or more operations and paths; every other size is held out.
    local, remote, fabric
        Where they were measured.
    fit
        Names of constants, fields of `Constants`.
    constants
        Where to start; none is moved by more than a factor of 100 from there.

    Raises
    ------
    GdvizError
        Too few points, a figure that is none or in another unit, or a name that is no constant with a
        unit.
    """
    points = sorted(measured, key=lambda point: point.workload.size_bytes)
    names = _checked_names(fit)
    figures = [figure for point in points for figure in figures_of(point)]
    number = {
        size: at for at, size in enumerate(dict.fromkeys(figure.workload.size_bytes for figure in figures))
    }
    if len(number) < _LEAST_POINTS:
        raise GdvizError(
            _("Measured figures of {n} sizes are too few to fit to.").format(n=len(number)),
            _("Measure at least {n} sizes.").format(n=_LEAST_POINTS),
        )
    asked = [figure.ask(local, remote, fabric, constants) for figure in figures]
    check_units(figures, asked, local, remote)
    chosen = [figure for figure in figures if number[figure.workload.size_bytes] % 2 == 0]
    rest = [figure for figure in figures if number[figure.workload.size_bytes] % 2]

    def errors_of(some: Sequence[Figure]) -> _Errors:
        def errors(used: Constants) -> Array:
            return np.array(
                [math.log(figure.ask(local, remote, fabric, used) / figure.value) for figure in some]
            )

        return errors

    errors = errors_of(chosen)
    start = _start(names, constants, figures)
    active = [name for name in names if _matters(name, start, errors)]
    if len(chosen) < len(active):
        raise GdvizError(
            _("{n} fitted figures are too few for {m} constants.").format(n=len(chosen), m=len(active)),
            _("Measure more sizes, or name fewer constants: {names}.").format(names=", ".join(active)),
        )
    found, bounds, spread = _found(active, start, errors)
    kept, found = _kept(active, constants, found, errors)
    return Calibration(
        found,
        {name: (getattr(constants, name), getattr(found, name)) for name in kept},
        _fit_of(np.log([ask / figure.value for ask, figure in zip(asked, figures, strict=True)])),
        _fit_of(errors(found)),
        _fit_of(errors_of(rest)(found)),
        tuple(name for name in names if name not in kept),
        {name: bounds[name] for name in kept},
        {name: spread[name] for name in kept},
    )


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


def _start(names: Sequence[str], constants: Constants, figures: Sequence[Figure]) -> Constants:
    """Give constants without a value one to start from: the fastest that was measured."""
    fastest = max((figure.value for figure in figures if figure.kind is Kind.BANDWIDTH), default=None)
    missing = {name: fastest for name in names if getattr(constants, name) is None and fastest is not None}
    return _with(constants, missing)


def _matters(name: str, start: Constants, errors: _Errors) -> bool:
    value = getattr(start, name)
    if not value:
        return False
    base = errors(start)
    # A ceiling that is far above all measured may matter once it is lowered.
    moved = (errors(_with(start, {name: value * factor})) for factor in (0.5, 2.0))
    return any(float(np.max(np.abs(each - base))) > 1e-9 for each in moved)


def _found(
    names: Sequence[str], start: Constants, errors: _Errors
) -> tuple[Constants, dict[str, tuple[float, float]], dict[str, float]]:
    """Return the constants of the least squares, their bounds and their relative standard errors."""
    if not names:
        return start, {}, {}
    origin = np.log([getattr(start, name) for name in names])
    low, high = origin - math.log(_WIDEST), origin + math.log(_WIDEST)

    def at(point: Array) -> Constants:
        return _with(start, dict(zip(names, np.exp(point).tolist(), strict=True)))

    point = least_squares(lambda point: errors(at(point)), origin, low, high)
    spread = standard_errors(lambda point: errors(at(point)), point)
    ends = zip(np.exp(low).tolist(), np.exp(high).tolist(), strict=True)
    return at(point), dict(zip(names, ends, strict=True)), dict(zip(names, spread.tolist(), strict=True))


def _kept(
    names: Sequence[str], before: Constants, found: Constants, errors: _Errors
) -> tuple[list[str], Constants]:
    """Put back what the points are no worse off without; return what stays moved, and the constants."""
    kept = []
    square = float(np.sum(errors(found) ** 2))
    for name in names:
        back = _with(found, {name: getattr(before, name)})
        if float(np.sum(errors(back) ** 2)) <= square * (1 + 1e-9) + 1e-12:
            found = back
        else:
            kept.append(name)
    # What had no value, and did not matter, has none again.
    missing = {field.name: None for field in fields(Constants) if getattr(before, field.name) is None}
    return kept, _with(found, {name: None for name in missing if name not in kept})


def _with(constants: Constants, values: dict[str, Any]) -> Constants:
    return replace(constants, **values)


def _fit_of(logs: Array) -> Fit:
    sizes = np.abs(np.expm1(logs))
    if not sizes.size:
        return Fit(0, 0.0, 0.0)
    return Fit(sizes.size, float(np.median(sizes)), float(sizes.max()))
