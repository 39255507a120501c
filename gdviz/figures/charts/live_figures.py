"""The four live figures as Bokeh models: what is drawn, and the switches that `LiveCharts` turns.

Each renderer on a live source costs the page something with every row, shown or not, so there is one for
each line and none that waits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from bokeh.layouts import gridplot
from bokeh.models import (
    CDSView,
    ColumnDataSource,
    CustomJSFilter,
    LayoutDOM,
    Node,
    PrintfTickFormatter,
    Range1d,
)
from bokeh.models.annotations import Label, Span, Title
from bokeh.plotting import figure

from gdviz.figures.charts import axes
from gdviz.figures.charts import live_columns as live
from gdviz.figures.charts.frame import (
    BASE_PX,
    DASH,
    HATCH,
    HEADROOM_PX,
    bearing,
    chart,
    heading,
    hover,
    javascript,
    legend,
    note,
    set_ticks,
    tint,
)
from gdviz.figures.theme import paint
from gdviz.messages import _
from gdviz.model import DataPath

#: Height of what is plotted in a chart: with titles and the time axis, the four take 300 px.
PLOT_PX = 113

#: Heights of the strips above the axes: for the model's value or a legend, and on the chart of bandwidth
#: also for the ceilings' label below it.
STRIP_PX = {"bandwidth": 33, "rate": HEADROOM_PX, "latency": HEADROOM_PX, "cpu": HEADROOM_PX}

#: Column of the latency chart, its name, dash and width of line.
PERCENTILES = (
    ("p50", "p50", "solid", 2.5),
    ("p99", "p99", "dashed", 2.0),
    ("p999", "p99.9", "dotted", 2.0),
)


class LiveFigures:
    """The figures over one source.

    Attributes
    ----------
    root : LayoutDOM
        The grid of four.
    x : Range1d
        The page, shared by all.
    """

    def __init__(self, source: ColumnDataSource, window_s: float, *, simulated: bool) -> None:
        self.source = source
        self.x = Range1d(start=0.0, end=window_s)
        words = {
            "bandwidth": _("Bandwidth"),
            "rate": _("Message rate"),
            "latency": _("Latency"),
            "cpu": _("CPU share of a core"),
        }
        self._titles: dict[str, Title] = {
            name: heading(bearing(text, simulated=simulated)) for name, text in words.items()
        }
        self.charts: dict[str, figure] = {name: self._chart(name) for name in words}
        self._in_path_colour: list[Any] = []
        self._dashed_by_path: list[Any] = []
        self._draw()
        self._draw_cpu()
        self._expected = {name: self._span(name, "dotted") for name in ("bandwidth", "rate", "cpu")}
        self._notes = {name: self._corner_note(name) for name in self._expected}
        self._ceilings = [(self._span("bandwidth", "solid"), self._ceiling_label()) for _i in range(3)]
        self._empty = self._empty_note()
        self.show_path(DataPath.DIRECT)
        self.show_empty(True)
        grid: list[list[Any]] = [
            [self.charts["bandwidth"], self.charts["rate"]],
            [self.charts["latency"], self.charts["cpu"]],
        ]
        self.root: LayoutDOM = gridplot(
            grid,
            sizing_mode="stretch_width",
            merge_tools=False,
            toolbar_location=None,
        )

    # ------------------------------------------------------------------ switches

    def show_path(self, path: DataPath) -> None:
        """Draw the lines in the look of this path."""
        for renderer in self._in_path_colour:
            tint(renderer, path.value)
        for renderer in self._dashed_by_path:
            renderer.glyph.line_dash = DASH[path]

    def show_empty(self, empty: bool) -> None:
        """Show what to do, as long as there is nothing to see."""
        self._empty.visible = empty
        self._legend.visible = not empty  # without rows it has words and no lines

    def show_expected(self, name: str, value: float, text: str) -> None:
        """Draw the model's value (in the chart's unit) as a dotted line and name it."""
        self._expected[name].update(location=value, visible=True)
        self._notes[name].text = _("model: {value}").format(value=text)

    def show_ceilings(self, marks: Sequence[live.CeilingMark]) -> None:
        """Draw ceilings on the chart of bandwidth."""
        for index, (span, label) in enumerate(self._ceilings):
            shown = index < len(marks)
            span.visible = shown
            label.visible = shown and bool(marks[index].text)
            if shown:
                span.location = label.y = marks[index].rate
                label.text = marks[index].text

    def set_end(self, name: str, end: float) -> None:
        """End a linear axis here; above it stays a strip for labels."""
        label, unit, most = {
            "bandwidth": (axes.rate_label, live.GIGA, 5),
            "rate": (axes.count_label, live.MEGA, 5),
            "cpu": (axes.share_label, 0.01, 5),
        }[name]
        plot = self.charts[name]
        plot.y_range.update(start=0.0, end=end * PLOT_PX / (PLOT_PX - STRIP_PX[name]))
        plot.yaxis[0].bounds = (0.0, end)
        set_ticks(plot.yaxis[0], axes.labels(axes.linear_ticks(end, most), label, unit))

    def set_latency(self, low: float, high: float) -> None:
        """Give the latency axis its decades, in microseconds."""
        plot = self.charts["latency"]
        top = high * 10 ** (math.log10(high / low) * STRIP_PX["latency"] / (PLOT_PX - STRIP_PX["latency"]))
        plot.y_range.update(start=low, end=top)
        plot.yaxis[0].bounds = (low, high)
        ticks = axes.thin(axes.decades(low, high), 4)
        set_ticks(plot.yaxis[0], axes.labels(ticks, axes.time_label, live.MICRO))

    # ------------------------------------------------------------------ drawing

    def _chart(self, name: str) -> figure:
        log, last = name == "latency", name in ("latency", "cpu")
        title = self._titles[name]
        title.update(text_font_size=BASE_PX, standoff=4)
        plot = chart(
            title,
            x=self.x,
            y=(1.0, 1000.0) if log else (0.0, 1.0),
            width=470,
            height=PLOT_PX,
            y_scale="log" if log else "linear",
        )
        plot.update(frame_height=PLOT_PX, height=None, min_border_right=18)  # half of the last tick's text
        axis = plot.xaxis[0]
        # The lower charts' ticks stand for the upper ones' too.
        axis.formatter = PrintfTickFormatter(format=_("%g s") if last else "")
        if not last:
            axis.update(major_tick_out=0, major_label_standoff=0)
        return plot

    def _line(self, name: str, column: str, **settings: Any) -> list[Any]:
        """Draw a line, and a dot where it ends now."""
        plot = self.charts[name]
        line = plot.line("t", column, source=self.source, line_join="round", **settings)
        head = plot.scatter(
            "t", column, source=self.source, size=7, line_color=None, view=CDSView(filter=_head(column))
        )
        return [line, head]

    def _draw(self) -> None:
        for name, row in (
            ("bandwidth", (_("bandwidth"), "@bandwidth{0.00} GB/s")),
            ("rate", (_("messages a second"), "@rate{0.000000} M")),
        ):
            lines = self._line(name, name, line_width=2.5)
            self._hover(name, [row], lines)
            self._in_path_colour += lines
            self._dashed_by_path += lines[:1]
        keys = {}
        for column, text, dash, width in PERCENTILES:
            look: dict[str, Any] = {"line_width": width, "line_dash": dash}
            lines = self._line("latency", column, **look)
            # A legend that stood for the lines themselves would be built anew with every row; one that
            # stood for a line without any row would be blank.
            keys[text] = [self.charts["latency"].line([math.nan], [math.nan], **look)]
            self._in_path_colour += [*lines, *keys[text]]
            if column == "p50":
                rows = [(name, f"@{one}{{0.00}} µs") for one, name, _dash, _width in PERCENTILES]
                self._hover("latency", rows, lines)
        self._legend = legend(self.charts["latency"], keys, location="top_left")

    def _draw_cpu(self) -> None:
        """Draw the CPU's share as a hatched area: the CPU is hatched in every chart."""
        area = self.charts["cpu"].varea("t", 0, "cpu", source=self.source, fill_alpha=0.35)
        area.glyph.update(**HATCH)
        paint(area.glyph, fill_color="edge", hatch_color="faint")
        lines = self._line("cpu", "cpu", line_width=2)
        for renderer in lines:
            tint(renderer, "faint")
        self._hover("cpu", [(_("CPU"), "@cpu{0.0} %")], lines)

    def _hover(self, name: str, rows: list[tuple[str, str]], lines: list[Any]) -> None:
        hover(self.charts[name], [(_("time"), "@t{0.0} s"), *rows], mode="vline", renderers=lines[:1])

    def _span(self, name: str, dash: str) -> Span:
        span = Span(location=0.0, dimension="width", line_dash=dash, line_width=1, visible=False)
        paint(span, line_color="faint")
        self.charts[name].add_layout(span)
        return span

    def _ceiling_label(self) -> Label:
        settings: dict[str, Any] = {
            "x_units": "screen",
            "y_offset": 2,
            "text_baseline": "bottom",
            "visible": False,
        }
        return note(self.charts["bandwidth"], 4, 0.0, "", **settings)

    def _corner_note(self, name: str) -> Label:
        """Return a note in the strip above the axis."""
        left = Node(target="frame", symbol="left", offset=4)
        top = Node(target="frame", symbol="top", offset=1)
        return note(self.charts[name], left, top, text_baseline="top")

    def _empty_note(self) -> Label:
        middle = Node(target="frame", symbol="center")
        settings: dict[str, Any] = {"text_align": "center", "text_baseline": "middle"}
        return note(
            self.charts["bandwidth"], middle, middle, live.what_to_do(), text_font_size=BASE_PX, **settings
        )


def _head(column: str) -> CustomJSFilter:
    return CustomJSFilter(args={"column": column}, code=javascript("chart_head.js"))
