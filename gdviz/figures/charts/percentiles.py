"""Latency by percentile, as HdrHistogram draws it.

The x axis is 1 / (1 - p) on a log scale: 90 %, 99 % and 99.9 % stand equally far apart, so the tail, which
an average or a bar chart hides, takes most of the room.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Protocol

from bokeh.models import ColumnDataSource, LayoutDOM

from gdviz.figures.charts import axes
from gdviz.figures.charts.fit import NARROW_PX
from gdviz.figures.charts.frame import (
    DASH,
    HEADROOM_PX,
    MARKER,
    bearing,
    chart,
    heading,
    hover,
    legend,
    note,
    set_ticks,
    tint,
)
from gdviz.figures.charts.text import table
from gdviz.figures.text_size import plain, shorten
from gdviz.figures.theme import paint
from gdviz.messages import _
from gdviz.model import DataPath
from gdviz.quantities import format_count, format_duration

#: Points of a curve each time that the distance to 100 % halves (HdrHistogram's default).
STEPS_PER_HALF = 5

#: Percentiles of the text twin and of the marks on the curves.
NAMED = (50.0, 90.0, 99.0, 99.9, 99.99)

#: Height of the chart, and of what is plotted in it.
HEIGHT_PX, PLOT_PX = 280, 204

#: What the axis and the word 'simulated' take of the width, and the most percentiles named on the axis.
MARGIN_PX, MOST_TICKS = 150, 7


class Distribution(Protocol):
    """What the chart reads of a distribution of latencies."""

    @property
    def count(self) -> int:
        """Number of messages."""

    def percentile(self, q: float) -> float:
        """Return the seconds that `q` percent of the messages do not exceed."""


class PercentileChart:
    """The latency distributions of both paths.

    Parameters
    ----------
    curves
        Distributions by path; one without messages is left out.
    simulated
        Whether they come from the simulated provider; then the chart says so.
    title
        Of which messages they are, for instance 'Latency by percentile: 64 KiB, one in flight'.

    Attributes
    ----------
    root : LayoutDOM
        The chart.
    source : dict of DataPath to ColumnDataSource
        The curves.
    """

    def __init__(
        self,
        curves: Mapping[DataPath, Distribution] | None = None,
        *,
        simulated: bool = True,
        title: str = "",
    ) -> None:
        self.simulated = simulated
        self._title = heading("")
        self._curves: dict[DataPath, Distribution] = {}
        self.source = {path: ColumnDataSource(dict(columns(None))) for path in DataPath}
        self._marks = {path: ColumnDataSource(dict(columns(None))) for path in DataPath}
        self._plot = chart(
            self._title, x=(1.0, 1e4), y=(0.0, 1.0), height=HEIGHT_PX, x_scale="log",
            x_title=_("share of messages that take no longer"),
        )  # fmt: skip
        # Room for half of the first and the last tick's text.
        self._plot.update(min_border_left=48, min_border_right=38)
        self._draw()
        self.root: LayoutDOM = self._plot
        self.update(curves or {}, title=title)

    def update(self, curves: Mapping[DataPath, Distribution], *, title: str = "") -> None:
        """Show these distributions instead; `title` says of which messages they are."""
        self.title = plain(title) or _("Latency by percentile")
        shown = shorten(self.title, 14, NARROW_PX - MARGIN_PX, bold=True)
        self._title.text = bearing(shown, simulated=self.simulated)
        self._curves = {path: curves[path] for path in DataPath if path in curves and curves[path].count}
        for path in DataPath:
            curve = self._curves.get(path)
            self.source[path].data = dict(columns(curve))
            self._marks[path].data = dict(columns(curve, NAMED))
        most = max((curve.count for curve in self._curves.values()), default=1)
        top = max((curve.percentile(100.0) for curve in self._curves.values()), default=0.0)
        end = axes.nice_end(top) if top > 0 else 1.0
        self._plot.x_range.update(start=0.93, end=max(1e4, float(most)) * 1.2)  # half a mark
        self._plot.y_range.update(start=0.0, end=end * PLOT_PX / (PLOT_PX - HEADROOM_PX))
        self._plot.yaxis[0].bounds = (0.0, end)
        set_ticks(self._plot.xaxis[0], percent_labels(max(10_000, most)))
        ticks = axes.linear_ticks(end) if top > 0 else []
        set_ticks(self._plot.yaxis[0], axes.labels(ticks, axes.time_label))
        for item, path in zip(self._entries, DataPath, strict=True):
            item.visible = path in self._curves
        self._empty.visible = not self._curves

    def _draw(self) -> None:
        keys: dict[str, list[Any]] = {}
        for path in DataPath:
            line = self._plot.line("x", "y", source=self.source[path], line_width=2.5, line_dash=DASH[path])
            marks = self._plot.scatter(
                "x", "y", source=self._marks[path], marker=MARKER[path], size=8, line_width=1.5
            )
            tint(line, path.value)
            tint(marks, path.value)
            paint(marks.glyph, line_color="ink")
            keys[path.value] = [line, marks]
            tips = [(path.value, "@percent"), (_("latency"), "@latency")]
            hover(self._plot, tips, renderers=[line], mode="mouse")
        # The curves rise to the right.
        self._entries: list[Any] = list(legend(self._plot, keys, location="top_left").items)
        text = _("Run a transfer to see how its latencies are spread")
        self._empty = note(self._plot, 12, HEIGHT_PX / 2 - 20, text, x_units="screen", y_units="screen")

    def __str__(self) -> str:
        """Return the usual percentiles of each path as a table."""
        if not self._curves:
            return _("Run a transfer to see how its latencies are spread")
        curves = self._curves.values()
        rows = [(f"p{q:g}", *(_time(curve, q) for curve in curves)) for q in NAMED]
        rows.append((_("max"), *(format_duration(curve.percentile(100.0)) for curve in curves)))
        rows.append((_("messages"), *(format_count(curve.count) for curve in curves)))
        text = f"{self.title}\n{table(('', *self._curves), rows)}"
        return f"{text}\n\n{_('simulated')}" if self.simulated else text


def _time(curve: Distribution, percent: float) -> str:
    return format_duration(curve.percentile(percent)) if known(percent, curve.count) else "–"


def known(percent: float, count: int) -> bool:
    """Return whether so many messages can have such a percentile: a thousand have no p99.99."""
    return (100 - percent) * count >= 100 * (1 - 1e-9)


def percents(count: int) -> list[float]:
    """Return the percentiles at which a curve of `count` messages is drawn, from 0 to the last one known."""
    found: list[float] = []
    distance = 1.0
    while True:
        for step in range(STEPS_PER_HALF):
            left = distance * (1 - step / STEPS_PER_HALF / 2)
            if left * count <= 1:
                return [*found, 100 * (1 - 1 / count)] if count > 0 else []
            found.append(100 * (1 - left))
        distance /= 2


def columns(
    curve: Distribution | None, wanted: tuple[float, ...] | None = None
) -> dict[str, list[float] | list[str]]:
    """Return a distribution as columns: x = 1 / (1 - p), y = seconds, and words for hover.

    The last point is the slowest message, drawn where 1 / (1 - p) is the number of messages.
    """
    count = curve.count if curve else 0
    some = sorted(q for q in {*(wanted or (*percents(count), *NAMED))} if known(q, count))
    times = [curve.percentile(q) for q in some] if curve else []
    words = [percent_text(q) for q in some]
    x = [100 / (100 - q) for q in some]
    if curve and count:
        x.append(float(count))
        times.append(curve.percentile(100.0))
        words.append("100 %")
    return {"x": x, "y": times, "percent": words, "latency": [format_duration(time) for time in times]}


def percent_text(percent: float) -> str:
    """Return a percentile below 100 with as many nines as it has: '99.95 %'.

    Examples
    --------
    >>> percent_text(90.0), percent_text(99.951171875), percent_text(0.0)
    ('90 %', '99.95 %', '0 %')
    """
    nines = -math.log10((100 - percent) / 100)
    digits = max(0, math.ceil(nines - 1e-9) - 2)
    return f"{percent:.{digits}f} %"


def percent_labels(count: int) -> dict[float, str]:
    """Return the ticks from 0 % to the last decade that `count` messages reach, not too many."""
    ticks = {1.0: "0 %"}
    nines = range(1, int(math.log10(max(count, 10)) + 1e-9) + 1)
    for tick in axes.thin(nines, MOST_TICKS):
        ticks[10.0**tick] = f"{100 - 100 / 10**tick:.{max(0, int(tick) - 2)}f} %"
    return ticks
