"""Bandwidth and latency against message size, both paths, on log-log axes.

What the model predicts is a line, what was measured (simulated or real) are points. Direct and staged
differ by colour, by dash and by marker. A ring marks where the two lines cross; the legend says at which
size. The words stand where no curve comes: the ceilings' above them, the legends where large messages are
slow, or small ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from bokeh.layouts import row
from bokeh.models import CDSView, ColumnDataSource, GroupFilter, LayoutDOM
from bokeh.models.annotations import Label, LegendItem, Span
from bokeh.plotting import figure

from gdviz.figures.charts import axes
from gdviz.figures.charts import sweep_columns as swept
from gdviz.figures.charts.fit import line_count
from gdviz.figures.charts.frame import (
    DASH,
    HEADROOM_PX,
    MARKER,
    bearing,
    chart,
    hover,
    legend,
    note,
    set_ticks,
    tint,
)
from gdviz.figures.charts.sweep_columns import Point
from gdviz.figures.text_size import plain, wrap
from gdviz.figures.theme import paint
from gdviz.messages import _
from gdviz.model import Ceiling, DataPath, Prediction
from gdviz.quantities import format_rate, format_size

#: Ends of the size axis: 2 B to 64 MiB with half a step of room.
SIZES = (2 / 1.5, 2**26 * 1.5)

#: Height of a chart, of what is plotted in it, and of a line of the ceilings' labels.
HEIGHT_PX, PLOT_PX, LABEL_PX = 340, 264, 15

#: Ends of the other axes before anything is known: 1 MB/s to 100 GB/s, 1 µs to 100 ms.
BANDWIDTHS, LATENCIES = (1e6, 1e11), (1e-6, 1e-1)


class SweepCharts:
    """The two curves of a sweep over message sizes.

    Parameters
    ----------
    predicted
        The model's sweep, by path.
    measured
        Points by path.
    simulated
        Whether the points come from the simulated provider; then the charts say so.

    Attributes
    ----------
    root : LayoutDOM
        The two charts side by side.
    source : ColumnDataSource
        The measured points; columns as `sweep_columns.columns` gives them.
    lines : dict of DataPath to ColumnDataSource
        The predicted curves, same columns.
    """

    def __init__(
        self,
        predicted: Mapping[DataPath, Sequence[Prediction]] | None = None,
        measured: Mapping[DataPath, Sequence[Point]] | None = None,
        *,
        simulated: bool = True,
    ) -> None:
        self.simulated = simulated
        self.source = ColumnDataSource(dict(swept.columns({})))
        self.lines = {path: ColumnDataSource(dict(swept.columns({}))) for path in DataPath}
        self._predicted: dict[DataPath, tuple[Point, ...]] = {}
        self._measured: dict[DataPath, list[Point]] = {}
        self._ceilings: tuple[Ceiling, ...] = ()
        self._bandwidth = self._chart(_("Bandwidth"), BANDWIDTHS)
        self._latency = self._chart(_("Latency, median"), LATENCIES)
        self._draw()
        self.root: LayoutDOM = row(self._bandwidth, self._latency, sizing_mode="stretch_width", spacing=10)
        self.update(predicted or {}, measured or {})

    def update(
        self,
        predicted: Mapping[DataPath, Sequence[Prediction]] | None = None,
        measured: Mapping[DataPath, Sequence[Point]] | None = None,
    ) -> None:
        """Show these curves and points instead; what is None stays as it is."""
        if predicted is not None:
            self._predicted = {path: swept.predicted_points(some) for path, some in predicted.items()}
            self._ceilings = swept.swept_ceilings(predicted)
            for path, line in self.lines.items():
                line.data = dict(swept.columns({path: self._predicted.get(path, ())}))
            self._mark_crossings()
        if measured is not None:
            self._measured = {path: list(some) for path, some in measured.items()}
            self.source.data = dict(swept.columns(self._measured))
        self._fit()

    def add(self, path: DataPath, point: Point) -> None:
        """Add one measured point, as a sweep makes it."""
        self._measured.setdefault(path, []).append(point)
        self.source.stream(dict(swept.columns({path: [point]})))
        self._fit()

    # ------------------------------------------------------------------ drawing

    def _chart(self, title: str, y: tuple[float, float]) -> figure:
        plot = chart(
            bearing(title, simulated=self.simulated),
            x=SIZES,
            y=y,
            width=475,
            height=HEIGHT_PX,
            x_title=_("message size"),
            x_scale="log",
            y_scale="log",
        )
        set_ticks(plot.xaxis[0], axes.size_labels())
        plot.min_border_right = 20  # for half of the last tick's text
        return plot

    def _draw(self) -> None:
        keys: dict[str, list[Any]] = {}
        run = _("{path}, simulated") if self.simulated else _("{path}, measured")
        for plot, column in ((self._bandwidth, "bandwidth"), (self._latency, "latency")):
            points = []
            for path in DataPath:
                view = CDSView(filter=GroupFilter(column_name="path", group=path.value))
                line = plot.line(
                    "size", column, source=self.lines[path], line_width=2.5, line_dash=DASH[path]
                )
                shape = plot.scatter(
                    "size", column, source=self.source, view=view, marker=MARKER[path], size=8, line_width=1.5
                )
                tint(line, path.value)
                tint(shape, path.value)
                paint(shape.glyph, line_color="ink")
                points += [line, shape]
                if plot is self._bandwidth:
                    keys[_("{path}, model").format(path=path)] = [line]
                    keys[run.format(path=path)] = [shape]
            tips = [
                ("", "@path, @size_text"),
                (_("bandwidth"), "@bandwidth_text"),
                (_("latency p50"), "@latency_text"),
                (_("latency p99"), "@p99_text"),
            ]
            hover(plot, tips, renderers=points)
        rings = [self._ring(plot) for plot in (self._bandwidth, self._latency)]
        upright: dict[str, Any] = {"orientation": "vertical", "spacing": 1, "margin": 4}
        box = legend(self._bandwidth, keys, location="bottom_right", **upright)
        self._entries: list[Any] = list(box.items)
        other = legend(self._latency, {}, location="top_left", **upright)
        self._rings = []
        for (source, ring), place in zip(rings, (box, other), strict=True):
            item = LegendItem(label={"value": ""}, renderers=[ring], visible=False)
            place.items = [*place.items, item]
            self._rings.append((source, item))
        self._lids = [self._lid() for _i in range(2)]
        self._empty = note(
            self._bandwidth, 4, BANDWIDTHS[1] / 3, "\n".join(wrap(what_to_do(), 12, 200, 2)),
            x_units="screen", x_offset=8, text_baseline="top",
        )  # fmt: skip

    def _ring(self, plot: figure) -> tuple[ColumnDataSource, Any]:
        source = ColumnDataSource({"x": [], "y": []})
        ring = plot.scatter("x", "y", source=source, size=18, fill_color=None, line_width=2)
        paint(ring.glyph, line_color="ink")
        return source, ring

    def _lid(self) -> tuple[Span, Label]:
        span = Span(location=1.0, dimension="width", line_width=1, visible=False)
        paint(span, line_color="faint")
        self._bandwidth.add_layout(span)
        label = note(
            self._bandwidth, 4, 1.0, x_units="screen", y_offset=2, text_baseline="bottom", visible=False
        )
        return span, label

    def _mark_ceilings(self, marks: Sequence[tuple[float, str]]) -> None:
        for index, (span, label) in enumerate(self._lids):
            span.visible = index < len(marks)
            label.visible = span.visible and bool(marks[index][1])
            if span.visible:
                span.location = label.y = marks[index][0]
                label.text = marks[index][1]

    def _mark_crossings(self) -> None:
        for (source, item), field in zip(self._rings, ("bandwidth_bytes_per_s", "p50_s"), strict=True):
            met = swept.curve_crossing(self._predicted, field)
            source.data = {"x": [met[0]], "y": [met[1]]} if met else {"x": [], "y": []}
            item.visible = met is not None
            if met:
                text = _("equal at {size}").format(size=format_size(round(met[0])))
                item.label = {"value": text}

    def _keys(self) -> list[tuple[Mapping[DataPath, Sequence[Point]], DataPath]]:
        """Return what each entry of the legend stands for, in its order."""
        return [(points, path) for path in DataPath for points in (self._predicted, self._measured)]

    def _fit(self) -> None:
        """Set the log axes to the decades that hold everything drawn."""
        points = [point for some in (*self._predicted.values(), *self._measured.values()) for point in some]
        self._empty.visible = not points
        for item, (points_of, path) in zip(self._entries, self._keys(), strict=True):
            item.visible = bool(points_of.get(path))
        rates = [one.bandwidth_bytes_per_s for one in points] + [one.bytes_per_s for one in self._ceilings]
        times = [one.p50_s for one in points]
        for plot, values, before, label in (
            (self._bandwidth, rates, BANDWIDTHS, axes.rate_label),
            (self._latency, times, LATENCIES, axes.time_label),
        ):
            low, high = swept.log_ends(values, HEADROOM_PX / PLOT_PX) or before
            if plot is self._bandwidth:
                decade_px = PLOT_PX / math.log10(high / low)
                marks = swept.ceiling_labels(self._ceilings, decade_px)
                lines = max((line_count(text) for _rate, text in marks), default=0)
                if lines > 1:
                    low, high = swept.log_ends(values, (lines * LABEL_PX + 4) / PLOT_PX) or before
                self._mark_ceilings(marks)
            plot.y_range.update(start=low, end=high)
            set_ticks(plot.yaxis[0], axes.labels(axes.decades_within(low, high), label))

    # ------------------------------------------------------------------ words

    def __str__(self) -> str:
        """Return predicted and measured values as tables, the ceilings, and where the curves cross."""
        lines = []
        run = _("run, simulated") if self.simulated else _("measured")
        for heading, points in ((_("model"), self._predicted), (run, self._measured)):
            if any(points.values()):
                lines += [heading, swept.text(points), ""]
        if not lines:
            return what_to_do()
        lines += [f"{plain(one.name)}: {format_rate(one.bytes_per_s)}" for one in self._ceilings]
        for what, field in ((_("bandwidth"), "bandwidth_bytes_per_s"), (_("latency"), "p50_s")):
            met = swept.curve_crossing(self._predicted, field)
            if met:
                text = _("{what} of the two paths is equal at {size}")
                lines.append(text.format(what=what, size=format_size(round(met[0]))))
        return "\n".join(lines).rstrip()


def what_to_do() -> str:
    """Return what charts without curves say."""
    return _("Run both paths to see the two curves")
