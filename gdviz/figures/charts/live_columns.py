"""What the live charts show, as numbers: columns from samples, pages, ends of axes, ceilings. No Bokeh."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from gdviz.figures.charts.axes import nice_end
from gdviz.figures.charts.short_names import short_name
from gdviz.figures.charts.text import table
from gdviz.figures.text_size import text_width
from gdviz.messages import _
from gdviz.model import Ceiling, Place, PlaceKind
from gdviz.quantities import format_count, format_duration, format_rate, three_digits

#: Columns of the live source, in the charts' units: seconds, GB/s, millions a second, microseconds,
#: percent of a core; the loads of the places of the path, bytes a second; the wall's milliseconds.
COLUMNS = ("t", "bandwidth", "rate", "p50", "p99", "p999", "cpu", "loads", "at")

GIGA, MEGA, MICRO = 1e9, 1e6, 1e-6

#: Pixels that a label has in the narrowest chart.
LABEL_ROOM_PX = 240


class LiveSample(Protocol):
    """What the charts read of a sample: means over a short interval, in base units."""

    @property
    def time_s(self) -> float:
        """End of the interval."""

    @property
    def bandwidth_bytes_per_s(self) -> float:
        """Payload bytes a second."""

    @property
    def messages_per_s(self) -> float:
        """Messages a second."""

    @property
    def p50_s(self) -> float | None:
        """Median latency of the messages that completed in the interval; None if none did."""

    @property
    def p99_s(self) -> float | None:
        """Its 99th percentile."""

    @property
    def p999_s(self) -> float | None:
        """Its 99.9th percentile."""

    @property
    def cpu_share(self) -> float:
        """CPU time over wall time, one core counted as 1."""

    @property
    def loads(self) -> Mapping[Place, float]:
        """Bytes a second through each place."""


def what_to_do() -> str:
    """Return what charts without samples say."""
    return _("Start a transfer to see it move")


def text(samples: Iterable[LiveSample]) -> str:
    """Return samples as a table."""
    headings = (
        _("time, s"), _("bandwidth"), _("messages/s"), "p50", "p99", "p99.9", _("CPU, one core"),
    )  # fmt: skip

    def latency(seconds: float | None) -> str:
        return format_duration(seconds) if seconds else "–"

    rows = [
        (
            f"{sample.time_s:.1f}",
            format_rate(sample.bandwidth_bytes_per_s),
            format_count(sample.messages_per_s),
            latency(sample.p50_s),
            latency(sample.p99_s),
            latency(sample.p999_s),
            f"{three_digits(sample.cpu_share * 100)} %",
        )
        for sample in samples
    ]
    return table(headings, rows, left=0)


def empty_columns() -> dict[str, list[Any]]:
    """Return the columns without rows."""
    return {name: [] for name in COLUMNS}


def columns(
    samples: Iterable[LiveSample], places: Sequence[Place] = (), at_ms: float = 0.0
) -> dict[str, list[Any]]:
    """Return samples as columns of the live source.

    Parameters
    ----------
    places
        Gives the order of each row's `loads`; a place that a sample does not name carries 0.
    at_ms
        The wall's time in milliseconds since the epoch, to measure how late a page draws.

    Returns
    -------
    dict of list
        Plain lists, as `ColumnDataSource.stream` likes them. Where no message completed, the three
        percentiles are not a number, which Bokeh draws as a gap: a latency that nobody measured must not
        look like one.
    """
    out = empty_columns()
    for sample in samples:
        out["t"].append(sample.time_s)
        out["bandwidth"].append(sample.bandwidth_bytes_per_s / GIGA)
        out["rate"].append(sample.messages_per_s / MEGA)
        for name, seconds in (("p50", sample.p50_s), ("p99", sample.p99_s), ("p999", sample.p999_s)):
            out[name].append(seconds / MICRO if seconds else math.nan)
        out["cpu"].append(sample.cpu_share * 100)
        out["loads"].append([float(sample.loads.get(place, 0.0)) for place in places])
        out["at"].append(at_ms)
    return out


def page_start(t: float, window_s: float, origin: float = 0.0) -> float:
    """Return where the page that holds time `t` starts, pages of `window_s` counted from `origin`.

    Examples
    --------
    >>> page_start(59.9, 60), page_start(60.0, 60), page_start(75, 60, origin=12.0)
    (0.0, 60.0, 72.0)
    """
    return origin + math.floor((t - origin) / window_s + 1e-9) * window_s


def grown_end(end: float, values: Iterable[float]) -> float:
    """Return an axis's end: the same while it holds the values, else the next round number."""
    top = max((value for value in values if math.isfinite(value)), default=0.0)
    return end if top <= end else nice_end(top)


def grown_decades(low: float, high: float, values: Iterable[float]) -> tuple[float, float]:
    """Return a log axis's ends: the same while they hold the values, else widened to whole decades."""
    seen = [value for value in values if math.isfinite(value) and value > 0]
    if not seen:
        return low, high
    bottom, top = min(seen), max(seen)
    if bottom < low:
        low = 10.0 ** math.floor(math.log10(bottom))
    if top > high:
        high = 10.0 ** math.ceil(math.log10(top))
    return low, high


def latency_decades(p50: float, p999: float, queued: float) -> tuple[float, float]:
    """Return whole decades, two at least, that hold what is expected, with some room.

    Parameters
    ----------
    p50, p999
        Median and tail of a message alone.
    queued
        Latency with the queue full: messages in flight over messages a second (Little's law).
    """
    p999 = max(p50, queued) * p999 / p50
    p50 = max(p50, queued)
    low = 10.0 ** math.floor(math.log10(p50 / 1.3))
    high = 10.0 ** math.ceil(math.log10(max(p50, p999) * 1.5))
    return low, max(high, low * 100)


@dataclass(frozen=True, slots=True)
class CeilingMark:
    """A ceiling's line on the bandwidth chart.

    Attributes
    ----------
    rate
        GB/s.
    text
        Its label; empty where the label of the line next to it speaks for it too.
    """

    rate: float
    text: str


def ceiling_marks(
    ceilings: Iterable[Ceiling], height_px: float, *, label_px: float = 15.0
) -> tuple[CeilingMark, ...]:
    """Return the ceilings to draw, lowest first.

    The narrowest one is always drawn; the wire's and the PCIe link's only if they lie less than 1.35
    times as high, since the axis must stay fit for the curve. Lines whose labels would touch (closer
    than `label_px` on a chart of `height_px`) share the label of the higher one, two at most, and if both
    names fit a narrow chart; else the narrowest ceiling has it.
    """
    ordered = sorted(ceilings, key=lambda one: one.bytes_per_s)
    if not ordered:
        return ()
    chosen = [ordered[0]]
    for kinds in ((PlaceKind.PORT, PlaceKind.WIRE), (PlaceKind.LINK,)):
        one = next((ceiling for ceiling in ordered if ceiling.place.kind in kinds), None)
        if one and one not in chosen and one.bytes_per_s <= 1.35 * ordered[0].bytes_per_s:
            chosen.append(one)
    chosen.sort(key=lambda one: one.bytes_per_s)
    top = chosen[-1].bytes_per_s
    marks: list[CeilingMark] = []
    for ceiling in chosen:
        label = f"{short_name(ceiling)} {format_rate(ceiling.bytes_per_s)}"
        rate = ceiling.bytes_per_s / GIGA
        if marks and (rate - marks[-1].rate) * GIGA / top * height_px < label_px:
            if len(marks) > 1 and not marks[-2].text:
                continue  # no room for a third name
            label = shared_label(marks[-1].text, label)
            marks[-1] = CeilingMark(marks[-1].rate, "")
        marks.append(CeilingMark(rate, label))
    return tuple(marks)


def shared_label(narrower: str, wider: str) -> str:
    """Return two ceilings' labels as one, the unit once if it is the same, or the first if both are too long.

    Examples
    --------
    >>> shared_label("NIC port 48.6 GB/s", "PCIe 52.0 GB/s")
    'NIC port 48.6 · PCIe 52.0 GB/s'
    """
    head, _blank, unit = narrower.rpartition(" ")
    text = f"{head if wider.endswith(f' {unit}') else narrower} · {wider}"
    return text if text_width(text, 12) <= LABEL_ROOM_PX else narrower
