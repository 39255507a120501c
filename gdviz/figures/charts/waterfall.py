"""Where one message's time goes: a bar for each path in one scale, cut by stage in order.

How overlapping stages share the time is said in `gdviz.figures.charts.portions`. Lengths are true: what
is too short for a label stands in the list below its bar, in order and with its time. The axis runs from
0 to 1, the longest message, whatever that takes: only the texts of its ticks change with the messages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from bokeh.models import CDSView, ColumnDataSource, GroupFilter, LayoutDOM

from gdviz.figures.charts import axes
from gdviz.figures.charts.bars import IDLE, draw_bars, kind_of
from gdviz.figures.charts.fit import COLUMNS, NARROW_PX, Fitted, fixed, line_count
from gdviz.figures.charts.frame import BASE_PX, bearing, chart, hover, keep_fitted, legend, set_ticks, words
from gdviz.figures.charts.portions import Portion, own_times, portions
from gdviz.figures.charts.text import table
from gdviz.figures.text_size import plain
from gdviz.messages import _
from gdviz.model import DataPath, Prediction, Side, Stage
from gdviz.quantities import format_duration, three_digits

#: Pixels: heading, labels above the bar, bar, a line of the list, room between paths; type of labels.
HEAD_PX, LABEL_PX, BAR_PX, LINE_PX, GAP_PX, TYPE_PX = 22, 17, 30, 16, 14, 12

#: What surrounds the frame, at most, and what keeps a label from the next one, in pixels.
MARGIN_PX, APART_PX = 20, 5

#: Where the axis ends, the longest message being 1, and the most lines that a list takes.
END, MOST_LINES = 1.02, 6


class WaterfallChart:
    """One message's time by stage, for each path.

    Parameters
    ----------
    messages
        By path: a prediction, whose capacities tell which of several overlapping stages is the
        narrowest, or only the stages.
    simulated
        Whether the stages come from the model; then the chart says so.

    Attributes
    ----------
    root : LayoutDOM
        The chart.
    source : ColumnDataSource
        The pieces.
    """

    def __init__(
        self,
        messages: Mapping[DataPath, Prediction | Sequence[Stage]] | None = None,
        *,
        simulated: bool = True,
    ) -> None:
        self.simulated = simulated
        self._cut: dict[DataPath, tuple[Portion, ...]] = {}
        self.source = ColumnDataSource(pieces({}))
        self._texts = ColumnDataSource(layout({})[2])
        title = bearing(_("Where one message's time goes"), simulated=simulated)
        self._plot = chart(title, x=(0.0, END), y=(1.0, 0.0), height=200, x_title=_("time since posting"))
        self._plot.yaxis[0].visible = False
        self._plot.min_border_right = 14  # for half of the last tick's text
        self._plot.grid.visible = False  # lines would run through the lists
        self._draw()
        self.root: LayoutDOM = self._plot
        self.update(messages or {})

    def update(self, messages: Mapping[DataPath, Prediction | Sequence[Stage]]) -> None:
        """Show these messages instead."""
        self._cut = {}
        for path in DataPath:
            message = messages.get(path, ())
            if isinstance(message, Prediction):
                self._cut[path] = portions(message.stages, message.capacities)
            else:
                self._cut[path] = portions(message)
        self._cut = {path: cut for path, cut in self._cut.items() if cut}
        set_ticks(self._plot.xaxis[0], axes.share_ticks(longest(self._cut)) if self._cut else {})
        height, tops, texts = layout(self._cut)
        self._plot.y_range.update(start=height, end=0.0)
        self._plot.update(frame_height=int(height), height=None)
        self._texts.data = texts
        self.source.data = pieces(self._cut, tops)
        self._key.visible = bool(self._cut)

    # ------------------------------------------------------------------ drawing

    def _draw(self) -> None:
        bars = draw_bars(self._plot, self.source, BAR_PX, line_alpha="line_alpha", line_width=1.5)
        self._words("label", "ink")
        self._words("list", "faint", text_baseline="top", text_line_height=LINE_PX / TYPE_PX)
        self._words("empty", "faint", text_font_size=BASE_PX)
        for path in DataPath:
            self._words(path.value, path.value, text_font_size=BASE_PX, text_font_style="bold")
        hatched = bars[kind_of(DataPath.STAGED, cpu=True)]
        self._key = legend(self._plot, {_("hatched: a CPU is involved"): [hatched]}, location="top_right")
        tips = [
            ("", "@path: @name"),
            (_("its share"), "@own"),
            (_("active"), "@active"),
            ("", "@text"),
        ]
        hover(self._plot, tips, renderers=list(bars.values()))
        keep_fitted(self._plot, self._texts)

    def _words(self, kind: str, role: str, **settings: Any) -> None:
        view = CDSView(filter=GroupFilter(column_name="kind", group=kind))
        words(self._plot, self._texts, role, view=view, **settings)

    # ------------------------------------------------------------------ words

    def __str__(self) -> str:
        """Return each path's stages with their share of the time, in order."""
        blocks = []
        for path, cut in self._cut.items():
            total = cut[-1].end_s
            names = stage_names(cut)
            rows = [
                (
                    names[stage],
                    _("yes") if stage and stage.cpu else "",
                    format_duration(seconds),
                    share(seconds, total),
                )
                for stage, seconds in own_times(cut)
            ]
            headings = (_("stage"), "CPU", _("time"), _("share"))
            blocks.append(f"{headline(path, cut)}\n{table(headings, rows, left=2)}")
        if self.simulated and blocks:
            blocks.append(_("simulated"))
        return "\n\n".join(blocks) or what_to_do()


def what_to_do() -> str:
    """Return what a chart without a message says."""
    return _("Choose a message to see where its time goes")


def share(seconds: float, total: float) -> str:
    """Return a part of a whole in percent."""
    return f"{three_digits(100 * seconds / total)} %"


def headline(path: DataPath, cut: Sequence[Portion]) -> str:
    """Return a path's total and how long a CPU is involved."""
    cpu = sum(portion.duration_s for portion in cut if portion.cpu)
    text = _("{path}: {total}, a CPU involved for {cpu}")
    return text.format(path=path.value, total=format_duration(cut[-1].end_s), cpu=format_duration(cpu))


def stage_names(cut: Sequence[Portion]) -> dict[Stage | None, str]:
    """Return the stages' names, with the side where two stages bear one name."""
    stages = dict.fromkeys(portion.stage for portion in cut)
    count = Counter(stage.name for stage in stages if stage)
    names: dict[Stage | None, str] = {}
    for stage in stages:
        if stage is None:
            names[stage] = _("Nothing active")
        elif count[stage.name] > 1 and stage.side is not Side.LOCAL:
            names[stage] = plain(_("{stage}, {side}").format(stage=stage.name, side=stage.side.value))
        else:
            names[stage] = plain(stage.name)
    return names


def pieces(
    cuts: Mapping[DataPath, Sequence[Portion]], tops: Mapping[DataPath, float] | None = None
) -> dict[str, list[Any]]:
    """Return portions as columns: a row each, `tops` giving the y of each path's bar.

    Left and right are shares of the longest message.
    """
    names = ("kind", "path", "name", "left", "right", "y", "line_alpha", "own", "active", "text")
    out: dict[str, list[Any]] = {name: [] for name in names}
    whole = longest(cuts)
    for path, cut in cuts.items():
        called, own = stage_names(cut), dict(own_times(cut))
        for portion in cut:
            stage = portion.stage
            kind = IDLE if stage is None else kind_of(path, cpu=portion.cpu)
            first, last = (stage.start_s, stage.end_s) if stage else (portion.start_s, portion.end_s)
            row = (
                kind,
                path.value,
                called[stage],
                portion.start_s / whole,
                portion.end_s / whole,
                (tops or {}).get(path, 0.0) + BAR_PX / 2,
                1.0 if portion.duration_s > whole / 200 else 0.0,  # an edge would hide a thin piece
                f"{format_duration(own[stage])}, {share(own[stage], cut[-1].end_s)}",
                f"{format_duration(first) if first else '0'} – {format_duration(last)}",
                plain(stage.text) if stage else "",
            )
            for name, value in zip(names, row, strict=True):
                out[name].append(value)
    return out


def longest(cuts: Mapping[DataPath, Sequence[Portion]]) -> float:
    """Return the seconds that the longest message takes; 1 without a message."""
    return max((cut[-1].end_s for cut in cuts.values()), default=1.0)


def layout(
    cuts: Mapping[DataPath, Sequence[Portion]], width_px: float = NARROW_PX
) -> tuple[float, dict[DataPath, float], dict[str, list[Any]]]:
    """Return the height in pixels, the top of each path's bar, and the texts with their places.

    A label stands above its piece where it is not wider than that; the list below has them all. Both are
    set for a chart of `width_px`, and the height holds the lines that they take there; the page sets
    them anew for the width that it has (see `gdviz.figures.charts.fit`).
    """
    texts: dict[str, list[Any]] = {name: [] for name in ("x", "y", "kind", *COLUMNS)}
    frame_px = width_px - MARGIN_PX

    def put(x: float, y: float, kind: str, cells: Mapping[str, Any]) -> None:
        for name, value in {"x": x, "y": y, "kind": kind, **cells}.items():
            texts[name].append(value)

    tops: dict[DataPath, float] = {}
    whole = longest(cuts)
    y = 4.0
    for path, cut in cuts.items():
        put(0.0, y + HEAD_PX / 2, path.value, fixed(headline(path, cut)))
        tops[path] = y + HEAD_PX + LABEL_PX
        names = stage_names(cut)
        for start, end, stage in runs(cut):
            if stage:
                share = (end - start) / whole / END
                label = Fitted((names[stage],), "", TYPE_PX, share, APART_PX, 0).row(frame_px)
                put(start / whole, y + HEAD_PX + LABEL_PX / 2 + 1, "label", label)
        y = tops[path] + BAR_PX + 6
        parts = tuple(f"{names[stage]} {format_duration(seconds)}" for stage, seconds in own_times(cut))
        listed = Fitted(parts, "  ·  ", TYPE_PX, 1.0, 0.0, MOST_LINES).row(frame_px)
        put(0.0, y, "list", listed)
        y += LINE_PX * line_count(listed["text"]) + GAP_PX
    if not cuts:
        put(0.02, 40.0, "empty", fixed(what_to_do()))
        y = 80.0
    return y, tops, texts


def runs(cut: Sequence[Portion]) -> list[tuple[float, float, Stage | None]]:
    """Return start, end and stage of neighbouring portions of one stage, whether a CPU works or not."""
    joined: list[tuple[float, float, Stage | None]] = []
    for portion in cut:
        if joined and joined[-1][2] is portion.stage:
            joined[-1] = (joined[-1][0], portion.end_s, portion.stage)
        else:
            joined.append((portion.start_s, portion.end_s, portion.stage))
    return joined
