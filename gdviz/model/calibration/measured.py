"""What was measured, and whether it can be."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise

from gdviz.errors import GdvizError
from gdviz.messages import _
from gdviz.model.constants import Constants
from gdviz.model.predict import predict
from gdviz.model.results import Prediction, Side
from gdviz.model.workload import Endpoint, Fabric, Op, Workload
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
    bandwidth_bytes_per_s
        What was measured of it, payload bytes a second; None where it was not.
    latency_s
        Median seconds from posting to the poster's completion.
    one_way_s
        Median seconds from posting to the moment when the far side's program knows: half of a ping-pong's
        round trip, which is what ``ib_write_lat`` and ``ib_send_lat`` print. A READ has none.
    """

    workload: Workload
    bandwidth_bytes_per_s: float | None = None
    latency_s: float | None = None
    one_way_s: float | None = None


class Kind(StrEnum):
    """What a number of a point is."""

    BANDWIDTH = "bandwidth"
    LATENCY = "latency"
    ONE_WAY = "one-way latency"


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of a point, which the model can be asked for.

    Attributes
    ----------
    workload
        With depth 1 and one queue pair where it is a latency.
    value
        Bytes a second, or seconds.
    kind
        Which of a point's three.
    """

    workload: Workload
    value: float
    kind: Kind

    def ask(self, local: Endpoint, remote: Endpoint, fabric: Fabric | None, constants: Constants) -> float:
        """Return what the model expects in its place."""
        found = predict(local, remote, self.workload, fabric=fabric, constants=constants, messages=_MESSAGES)
        if self.kind is Kind.BANDWIDTH:
            return found.bandwidth_bytes_per_s
        return found.latency.p50 if self.kind is Kind.LATENCY else half_round_trip_s(found, constants)

    def __str__(self) -> str:
        name = {
            Kind.BANDWIDTH: _("bandwidth"),
            Kind.LATENCY: _("latency"),
            Kind.ONE_WAY: _("one-way latency"),
        }[self.kind]
        return _("{what} at {size}").format(what=name, size=format_size(self.workload.size_bytes))

    def written(self, value: float) -> str:
        """Return a value of this kind as people write it."""
        return format_rate(value) if self.kind is Kind.BANDWIDTH else format_duration(value)


def half_round_trip_s(found: Prediction, constants: Constants) -> float:
    """Return seconds until the far side's program knows, which is half of a ping-pong's round trip.

    Parameters
    ----------
    found
        Of a WRITE or a SEND; the far CPU polls for what has come.
    constants
        With the time of a poll.
    """
    last = max((stage for stage in found.stages if stage.side is Side.REMOTE), key=lambda stage: stage.end_s)
    return last.end_s if last.cpu else last.end_s + constants.poll_s


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
    given = (
        (point.bandwidth_bytes_per_s, Kind.BANDWIDTH),
        (point.latency_s, Kind.LATENCY),
        (point.one_way_s, Kind.ONE_WAY),
    )
    figures = []
    for value, kind in given:
        if value is None:
            continue
        if not (math.isfinite(value) and value > 0):
            raise GdvizError(
                _("A measured figure at {size} bytes is {value}.").format(
                    size=point.workload.size_bytes, value=value
                ),
                _("Give bytes a second and seconds, larger than 0."),
            )
        if kind is Kind.ONE_WAY and point.workload.op is Op.READ:
            raise GdvizError(
                _("A READ has no one-way latency."), _("Give it as latency_s: what comes, comes back.")
            )
        alone = replace(point.workload, depth=1, qps=1)
        figures.append(Figure(point.workload if kind is Kind.BANDWIDTH else alone, value, kind))
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
        if figure.kind is Kind.BANDWIDTH and figure.value > port * _ROUNDED:
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
