"""What was measured, and whether it can be."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise

from gdviz.errors import GdvizError
from gdviz.messages import _
from gdviz.model.constants import Constants
from gdviz.model.predict import predict
from gdviz.model.workload import Endpoint, Fabric, Workload
from gdviz.quantities import format_duration, format_rate, format_size

#: Single messages drawn for a median.
_MESSAGES = 200

#: A figure this many times off is in another unit: no constant is moved that far.
_UNIT = 1000.0

#: Payload over the port's speed: tools round, and take 1 MB for 1 MiB.
_ROUNDED = 1.05


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
class Figure:
    """One number of a point, which the model can be asked for.

    Attributes
    ----------
    workload
        With depth 1 and one queue pair where it is a latency.
    value
        Bytes a second, or seconds.
    is_latency
        Which of the two.
    """

    workload: Workload
    value: float
    is_latency: bool

    def ask(self, local: Endpoint, remote: Endpoint, fabric: Fabric | None, constants: Constants) -> float:
        """Return what the model expects in its place."""
        found = predict(local, remote, self.workload, fabric=fabric, constants=constants, messages=_MESSAGES)
        return found.latency.p50 if self.is_latency else found.bandwidth_bytes_per_s

    def __str__(self) -> str:
        what = _("latency") if self.is_latency else _("bandwidth")
        return _("{what} at {size}").format(what=what, size=format_size(self.workload.size_bytes))

    def written(self, value: float) -> str:
        """Return a value of this kind as people write it."""
        return format_duration(value) if self.is_latency else format_rate(value)


def sweep_points(
    sizes: Iterable[int],
    bandwidths_bytes_per_s: Iterable[float],
    workload: Workload,
) -> tuple[Measured, ...]:
    """Return the points of a bandwidth sweep.

    Parameters
    ----------
    sizes
        Bytes, ascending.
    bandwidths_bytes_per_s
        Payload bytes a second, as many.
    workload
        Operation, path, depth and queue pairs of all points.

    Raises
    ------
    GdvizError
        The sizes do not ascend, or there are not as many figures.
    """
    sizes, rates = tuple(sizes), tuple(bandwidths_bytes_per_s)
    if len(sizes) != len(rates):
        raise GdvizError(
            _("There are {sizes} sizes and {rates} bandwidths.").format(sizes=len(sizes), rates=len(rates)),
            _("Give one bandwidth for each size."),
        )
    for before, after in pairwise(sizes):
        if not before < after:
            raise GdvizError(
                _("The sizes of a sweep do not ascend: {after} comes after {before}.").format(
                    before=before, after=after
                ),
                _("Give each size once, the smallest first."),
            )
    return tuple(
        Measured(replace(workload, size_bytes=size), rate) for size, rate in zip(sizes, rates, strict=True)
    )


def figures_of(point: Measured) -> list[Figure]:
    """Return a point's figures.

    Raises
    ------
    GdvizError
        One is not a number above 0.
    """
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
        figures.append(Figure(work, value, is_latency))
    return figures


def check_units(
    figures: Iterable[Figure], expected: Iterable[float], local: Endpoint, remote: Endpoint
) -> None:
    """Refuse figures that cannot be bytes a second and seconds.

    Parameters
    ----------
    expected
        What the model says in place of each.
    local, remote
        Where they were measured.

    Raises
    ------
    GdvizError
        A bandwidth above what a port carries, or a figure too far from the model's for any constant.
    """
    units = _("Give payload bytes a second of one direction, and seconds.")
    speeds = [end.nic_part.speed_bytes_per_s for end in (local, remote)]
    port = min((speed for speed in speeds if speed), default=math.inf)
    for figure, model in zip(figures, expected, strict=True):
        if not figure.is_latency and figure.value > port * _ROUNDED:
            raise GdvizError(
                _("The measured {figure} is {value}; the NIC's port carries {port}.").format(
                    figure=figure, value=figure.written(figure.value), port=format_rate(port)
                ),
                units,
            )
        if not 1 / _UNIT < figure.value / model < _UNIT:
            raise GdvizError(
                _("The measured {figure} is {value}, and the model expects {model}.").format(
                    figure=figure, value=figure.written(figure.value), model=figure.written(model)
                ),
                units,
            )
