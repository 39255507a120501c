"""Levenberg and Marquardt's method within bounds, for a handful of unknowns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

_STEPS, _NUDGE, _FARTHEST = 40, 1e-3, 1.0
_STUCK = 1e8
_SETTLED = 1e-10


def slopes(errors: Callable[[Array], Array], point: Array, now: Array) -> Array:
    """Return how errors change with each unknown, shape (errors, unknowns)."""
    return np.stack([(errors(point + nudge) - now) / _NUDGE for nudge in _NUDGE * np.eye(point.size)], axis=1)


def least_squares(errors: Callable[[Array], Array], start: Array, low: Array, high: Array) -> Array:
    """Return the unknowns of the least sum of squared errors.

    Parameters
    ----------
    errors
        Of unknowns, shape (n,), any number of errors. A few unknowns, of size about 1: no step is longer
        than 1.
    start, low, high
        Shape (n,).
    """
    point, damping = start.copy(), 1e-2
    now = errors(point)
    for _step in range(_STEPS):
        slope = slopes(errors, point, now)
        pull, curve = slope.T @ now, slope.T @ slope
        damped = curve + damping * (np.diag(np.diag(curve)) + 1e-9 * np.eye(point.size))
        move = np.linalg.solve(damped, -pull)
        there = np.clip(point + np.clip(move, -_FARTHEST, _FARTHEST), low, high)
        then = errors(there)
        square, smaller = float(now @ now), float(then @ then)
        if smaller < square:
            settled = square - smaller < _SETTLED * max(1.0, square)
            point, now, damping = there, then, damping / 3
            if settled:
                break
        else:
            damping *= 4
            if damping > _STUCK:
                break
    return point


def standard_errors(errors: Callable[[Array], Array], point: Array) -> Array:
    """Return each unknown's standard error where the errors scatter as they do at a point.

    Infinite where there are no more errors than unknowns.
    """
    now = errors(point)
    free = now.size - point.size
    if free < 1:
        return np.full(point.size, np.inf)
    slope = slopes(errors, point, now)
    # Unknowns that cannot be told apart get a huge error, not a failure.
    curve = slope.T @ slope + 1e-12 * np.eye(point.size)
    return np.sqrt(np.abs(np.diag(np.linalg.inv(curve))) * float(now @ now) / free)
