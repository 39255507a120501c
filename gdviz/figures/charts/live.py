"""Four live charts of a transfer on one source: bandwidth, message rate, latency and CPU share.

Everything a chart needs to know before the first sample (ends of axes, ceilings, what the model
expects) comes with `LiveCharts.expect`; after that a tick costs one `stream()` of plain lists. The x
axis shows a page of `window_s` seconds and flips to the next one when it is full; the y axis of
bandwidth ends at the ceiling, so that height reads as share.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from importlib import resources
from typing import Any

from bokeh.layouts import gridplot
from bokeh.models import CDSView, ColumnDataSource, CustomJSFilter, LayoutDOM, Node, Range1d
from bokeh.models.annotations import Label, Span
from bokeh.plotting import figure

from gdviz.figures.charts import axes
from gdviz.figures.charts import live_columns as live
from gdviz.figures.charts.frame import (
    BASE_PX,
    DASH,
    HEADROOM_PX,
    bearing,
    chart,
    corner_note,
    hover,
    legend,
    note,
    set_ticks,
    tint,
)
from gdviz.figures.charts.text import plain, table
from gdviz.figures.theme import FONT, paint
from gdviz.messages import _
from gdviz.model import Ceiling, DataPath, Place, Prediction
from gdviz.quantities import format_count, format_rate, three_digits

#: Heights of the two rows of charts (the lower one bears the time axis's title) and of what is plotted.
ROW_PX, LAST_ROW_PX, PLOT_PX = 180, 202, 122

#: Pages of samples kept in the source at 10 samples a second.
PAGES_KEPT, FASTEST_HZ = 2, 10

#: Samples that the text twin shows.
TEXT_ROWS = 10


class LiveCharts:
    """Live charts of one transfer after the other.

    Parameters
    ----------
    ceilings
        Limits on bandwidth; the narrowest gives the axis its end.
    window_s
        Seconds on a page.
    simulated
        Whether the samples come from the simulated provider; then the charts say so.
    places
        Order of the `loads` in each row of the source.
    prediction
        What the model expects; see `expect`.

    Attributes
    ----------
    root : LayoutDOM
        The grid.
    source : ColumnDataSource
        The only source; its columns are `live_columns.COLUMNS`.
    """

    def __init__(
        self,
        ceilings: Sequence[Ceiling] = (),
        *,
        window_s: float = 60.0,
        simulated: bool,
        places: Sequence[Place] = (),
        prediction: Prediction | None = None,
    ) -> None:
        self.window_s = window_s
        self.simulated = simulated
        self.places = tuple(places)
        self.rollover = math.ceil(window_s * FASTEST_HZ * PAGES_KEPT)
        self.source = ColumnDataSource(live.empty_columns())
        self._recent: deque[live.LiveSample] = deque(maxlen=TEXT_ROWS)
        self._origin: float | None = None
        self._ceilings: tuple[Ceiling, ...] = ()
        self._x = Range1d(start=0.0, end=window_s)
        self._lines: list[Any] = []
        self._build()
        if prediction is not None:
            self.expect(prediction)
        if ceilings or prediction is None:
            self.set_ceilings(ceilings)

    # ------------------------------------------------------------------ data

    def update(self, samples: Sequence[live.LiveSample], *, at_ms: float = 0.0) -> None:
        """Stream new samples into the source; turn the page and widen an axis where they ask for it."""
        if not samples:
            return
        if self._origin is None:
            self._origin = math.floor(samples[0].time_s)
            self._show_empty(False)
        self._recent.extend(samples)
        rows = live.columns(samples, self.places, at_ms)
        self._grow(rows)
        self.page(rows["t"][-1])
        self.source.stream(dict(rows), rollover=self.rollover)

    def page(self, t: float) -> None:
        """Show the page that holds time `t`, in seconds."""
        start = live.page_start(t, self.window_s, self._origin or 0.0)
        if start != self._x.start:
            self._x.update(start=start, end=start + self.window_s)

    def clear(self) -> None:
        """Forget all samples and show the empty state; the next sample starts a new page."""
        self._origin = None
        self._recent.clear()
        self.source.data = live.empty_columns()
        self._show_empty(True)
        self._x.update(start=0.0, end=self.window_s)

    def _show_empty(self, empty: bool) -> None:
        self._empty.visible = empty
        self._legend.visible = not empty  # without rows it would show words without lines

    # ------------------------------------------------------------------ what is expected

    def expect(self, prediction: Prediction) -> None:
        """Start anew for a transfer: its path's colour, its ceilings, the model's values as dotted lines."""
        self.clear()
        path = prediction.workload.path
        for made in self._lines:
            tint(made, path.value)
        self._bandwidth_line.glyph.line_dash = DASH[path]
        self.set_ceilings(prediction.ceilings)
        latency, bandwidth = prediction.latency, prediction.bandwidth_bytes_per_s
        rate, cpu = prediction.messages_per_s, prediction.cpu_share * 100
        self._set_rate_end(axes.nice_end(rate * 1.05 / live.MEGA))
        self._set_latency(*live.latency_decades(latency.p50 / live.MICRO, latency.p999 / live.MICRO))
        self._set_cpu_end(max(100.0, axes.nice_end(cpu * 1.05)))
        values = (bandwidth / live.GIGA, rate / live.MEGA, cpu)
        texts = (format_rate(bandwidth), f"{format_count(rate)}/s", f"{three_digits(cpu)} %")
        for span, label, value, text in zip(self._expected, self._notes, values, texts, strict=True):
            span.update(location=value, visible=True)
            label.text = _("model: {value}").format(value=text)

    def set_ceilings(self, ceilings: Sequence[Ceiling]) -> None:
        """Draw these ceilings and end the axis of bandwidth at the highest one drawn."""
        self._ceilings = tuple(ceilings)
        marks = live.ceiling_marks(ceilings, PLOT_PX - HEADROOM_PX)
        for index, (span, label) in enumerate(self._ceiling_marks):
            shown = index < len(marks)
            span.visible = shown
            label.visible = shown and bool(marks[index].text)
            if shown:
                span.location = label.y = marks[index].rate
                label.text = plain(marks[index].text)
        self._set_bandwidth_end(marks[-1].rate if marks else 1.0)

    # ------------------------------------------------------------------ axes

    def _grow(self, rows: dict[str, list[Any]]) -> None:
        """Widen the axes that the new rows leave: rarely, since each change is drawn anew as a whole."""
        ends = self._ends
        for name, setter in (
            ("bandwidth", self._set_bandwidth_end),
            ("rate", self._set_rate_end),
            ("cpu", self._set_cpu_end),
        ):
            end = live.grown_end(ends[name], rows[name])
            if end != ends[name]:
                setter(end)
        seen = rows["p50"] + rows["p99"] + rows["p999"]
        spread = live.grown_decades(*self._decades, seen)
        if spread != self._decades:
            self._set_latency(*spread)

    def _set_linear(
        self, name: str, plot: figure, end: float, ticks: Sequence[float], texts: dict[float, str]
    ) -> None:
        self._ends[name] = end
        plot.y_range.update(start=0.0, end=end * PLOT_PX / (PLOT_PX - HEADROOM_PX))
        plot.yaxis[0].bounds = (0.0, end)
        set_ticks(plot.yaxis[0], texts)

    def _set_bandwidth_end(self, end: float) -> None:
        ticks = axes.linear_ticks(end, most=6)
        texts = axes.labels(ticks, axes.rate_label, live.GIGA)
        self._set_linear("bandwidth", self._bandwidth, end, ticks, texts)

    def _set_rate_end(self, end: float) -> None:
        ticks = axes.linear_ticks(end)
        self._set_linear("rate", self._rate, end, ticks, axes.labels(ticks, axes.count_label, live.MEGA))

    def _set_cpu_end(self, end: float) -> None:
        ticks = axes.linear_ticks(end)
        self._set_linear("cpu", self._cpu, end, ticks, axes.labels(ticks, axes.share_label, 0.01))

    def _set_latency(self, low: float, high: float) -> None:
        self._decades = (low, high)
        spread = math.log10(high / low)
        top = high * 10 ** (spread * HEADROOM_PX / (PLOT_PX - HEADROOM_PX))
        self._latency.y_range.update(start=low, end=top)
        self._latency.yaxis[0].bounds = (low, high)
        ticks = axes.thin(axes.decades(low, high), 5)
        set_ticks(self._latency.yaxis[0], axes.labels(ticks, axes.time_label, live.MICRO))

    # ------------------------------------------------------------------ drawing

    def _build(self) -> None:
        self._ends: dict[str, float] = {}
        self._bandwidth = self._chart(_("Bandwidth"))
        self._rate = self._chart(_("Messages a second"))
        self._latency = self._chart(_("Latency"), last=True, log=True)
        self._cpu = self._chart(_("CPU, share of one core"), last=True)
        self._bandwidth_line = self._line(self._bandwidth, "bandwidth", line_width=2.5)
        rate_line = self._line(self._rate, "rate", line_width=2.5)
        self._draw_latency()
        cpu_line = self._draw_cpu()
        self._expected = [self._span(plot, "dotted") for plot in (self._bandwidth, self._rate, self._cpu)]
        self._notes = [corner_note(plot, "") for plot in (self._bandwidth, self._rate, self._cpu)]
        self._ceiling_marks = [
            (self._span(self._bandwidth, "solid"), self._ceiling_label()) for _i in range(3)
        ]
        self._empty = self._empty_note()
        self._set_rate_end(1.0)
        self._set_latency(1.0, 1000.0)
        self._set_cpu_end(100.0)
        self._show_empty(True)
        self._hover(self._bandwidth, [(_("bandwidth"), "@bandwidth{0.00} GB/s")], self._bandwidth_line)
        self._hover(self._rate, [(_("messages a second"), "@rate{0.000000} M")], rate_line)
        percentiles = [("p50", "@p50 µs"), ("p99", "@p99 µs"), ("p99.9", "@p999 µs")]
        self._hover(self._latency, percentiles, self._lines[-2])
        self._hover(self._cpu, [(_("CPU"), "@cpu{0.0} %")], cpu_line)
        self.root: LayoutDOM = gridplot(
            [[self._bandwidth, self._rate], [self._latency, self._cpu]],
            sizing_mode="stretch_width",
            toolbar_location="right",
            toolbar_options={"logo": None, "autohide": True},
        )

    @staticmethod
    def _hover(plot: figure, rows: list[tuple[str, str]], line: Any) -> None:
        hover(plot, [(_("time"), "@t{0.0} s"), *rows], mode="vline", renderers=[line])

    def _chart(self, title: str, *, last: bool = False, log: bool = False) -> figure:
        return chart(
            bearing(title, simulated=self.simulated),
            x=self._x,
            y=(1.0, 1000.0) if log else (0.0, 1.0),
            width=470,
            height=LAST_ROW_PX if last else ROW_PX,
            x_title=_("time, s") if last else "",
            y_scale="log" if log else "linear",
            toolbar=False,
        )

    def _line(self, plot: figure, column: str, *, role: str = "", **settings: Any) -> Any:
        """Draw a line, and a dot where it ends now; without a role they take the path's colour."""
        line = plot.line("t", column, source=self.source, line_join="round", **settings)
        head = plot.scatter(
            "t", column, source=self.source, size=7, line_color=None, view=CDSView(filter=_head(column))
        )
        for made in (line, head):
            tint(made, role or DataPath.DIRECT.value)
        if not role:
            self._lines += [line, head]
        return line

    def _draw_latency(self) -> None:
        made = {}
        for column, name, dash, width in (
            ("p50", "p50", "solid", 2.5),
            ("p99", "p99", "dashed", 2.0),
            ("p999", "p99.9", "dotted", 2.0),
        ):
            made[name] = [self._line(self._latency, column, line_width=width, line_dash=dash)]
        self._legend = legend(self._latency, made, location="top_left")

    def _draw_cpu(self) -> Any:
        """Draw the CPU's share as a hatched area: the CPU is hatched in every chart."""
        area = self._cpu.varea("t", 0, "cpu", source=self.source, fill_alpha=0.35)
        area.glyph.update(hatch_pattern="right_diagonal_line", hatch_alpha=0.6, hatch_scale=8, hatch_weight=1)
        paint(area.glyph, fill_color="edge", hatch_color="faint")
        return self._line(self._cpu, "cpu", role="faint", line_width=2)

    def _span(self, plot: figure, dash: str) -> Span:
        span = Span(location=0.0, dimension="width", line_dash=dash, line_width=1, visible=False)
        paint(span, line_color="faint")
        plot.add_layout(span)
        return span

    def _ceiling_label(self) -> Label:
        return note(
            self._bandwidth, 4, 0.0, x_units="screen", y_offset=2, text_baseline="bottom", visible=False
        )

    def _empty_note(self) -> Label:
        label = Label(
            x=Node(target="frame", symbol="center"),
            y=Node(target="frame", symbol="center"),
            text=_("Start a transfer to see it move"),
            text_align="center",
            text_baseline="middle",
            text_font=FONT,
            text_font_size=BASE_PX,
        )
        paint(label, text_color="faint")
        self._bandwidth.add_layout(label)
        return label

    # ------------------------------------------------------------------ words

    def __str__(self) -> str:
        """Return the last samples and the ceilings as tables."""
        lines = [live.text(self._recent) if self._recent else _("Start a transfer to see it move")]
        if self._ceilings:
            ordered = sorted(self._ceilings, key=lambda one: one.bytes_per_s)
            rows = [(one.name, format_rate(one.bytes_per_s)) for one in ordered]
            lines += ["", table((_("ceiling"), ""), rows)]
        if self.simulated:
            lines += ["", _("simulated")]
        return "\n".join(lines)


def _head(column: str) -> CustomJSFilter:
    code = resources.files("gdviz.figures").joinpath("js/chart_head.js").read_text(encoding="utf-8")
    return CustomJSFilter(args={"column": column}, code=code)
