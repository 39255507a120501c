"""One message in slow motion: its stages as rows over time, and a cursor.

The rows stand in the order of start, so a small message descends like a staircase and the overlapping
stages of a large one lie above each other. Stages that are over, active and still to come differ in
strength; the active ones have a band behind them and their sentence above. The axis runs from 0 to 1, the
whole message, whatever that takes: only the texts of its ticks change with the message, so they can never
stand in another message's scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bokeh.models import ColumnDataSource, LayoutDOM

from gdviz.figures.charts import axes
from gdviz.figures.charts.bars import draw_bars, kind_of
from gdviz.figures.charts.fit import NARROW_PX, Fitted, in_words
from gdviz.figures.charts.frame import BASE_PX, bearing, chart, heading, hover, keep_fitted, set_ticks, words
from gdviz.figures.charts.text import table
from gdviz.figures.text_size import plain, shorten
from gdviz.figures.theme import paint
from gdviz.messages import _
from gdviz.model import DataPath, Side, Stage
from gdviz.quantities import format_duration

#: Pixels: the strip for the sentence, a row, its bar; to the left of the bars, for the rows' names, and to
#: the right, for the last duration.
STRIP_PX, ROW_PX, BAR_PX, LEFT_PX, RIGHT_PX = 42, 22, 15, 160, 62

#: Where the axis ends, the whole message being 1, and the parts of it that the shortest bar is drawn long.
END, SHORTEST = 1.01, 1 / 500

#: Strength of a stage that is over, active, to come.
OVER, ACTIVE, TO_COME = 0.45, 1.0, 0.18


class SlowMotion:
    """The timeline of one message with a cursor.

    Parameters
    ----------
    stages
        The message's stages.
    title
        What message it is.
    path
        Gives the colour; by default staged if a stage copies, else direct.
    simulated
        Whether the timeline is the model's; then the chart says so.

    Attributes
    ----------
    root : LayoutDOM
        The chart.
    source : ColumnDataSource
        A row for each stage.
    stages : tuple of Stage
        In the order of start.
    time_s : float
        Where the cursor stands.
    """

    def __init__(
        self,
        stages: Sequence[Stage],
        title: str = "",
        *,
        path: DataPath | None = None,
        simulated: bool = True,
    ) -> None:
        self.simulated = simulated
        self.stages: tuple[Stage, ...] = ()
        self.time_s = 0.0
        self._states: list[float] | None = None
        self.source = ColumnDataSource(rows((), DataPath.DIRECT))
        self._cursor = ColumnDataSource({"x": [], "top": [], "bottom": []})
        self._sentence = ColumnDataSource(saying(""))
        self._title = heading("")
        self._plot = chart(
            self._title, x=(0.0, END), y=(1.0, 0.0), height=200, x_title=_("time since posting")
        )
        self._plot.update(min_border_left=LEFT_PX, min_border_right=RIGHT_PX)
        self._plot.grid.visible = False  # lines would run through the words
        self._plot.yaxis[0].update(major_tick_out=0, axis_line_alpha=0.0)  # it would cross the sentence
        self._draw()
        self.root: LayoutDOM = self._plot
        self.update(stages, title=title, path=path)

    def update(self, stages: Sequence[Stage], *, title: str = "", path: DataPath | None = None) -> None:
        """Show another message, with the cursor at its start."""
        self.stages = tuple(sorted(stages, key=lambda stage: (stage.start_s, stage.end_s)))
        if path is None:
            copies = any(stage.key.startswith("copy") for stage in self.stages)
            path = DataPath.STAGED if copies else DataPath.DIRECT
        shown = shorten(title or _("One message"), 14, NARROW_PX - LEFT_PX - RIGHT_PX, bold=True)
        self._title.text = bearing(shown, simulated=self.simulated)
        height = STRIP_PX + ROW_PX * max(1, len(self.stages)) + 4
        self._plot.y_range.update(start=height, end=0.0)
        self._plot.update(frame_height=height, height=None)
        set_ticks(self._plot.xaxis[0], axes.share_ticks(self.end_s) if self.end_s else {})
        set_ticks(self._plot.yaxis[0], {row_y(n): row_name(stage) for n, stage in enumerate(self.stages)})
        self.source.data = rows(self.stages, path)
        self._states = None
        self.set_time(0.0)

    @property
    def end_s(self) -> float:
        """When the message is complete, seconds."""
        return max((stage.end_s for stage in self.stages), default=0.0)

    @property
    def steps(self) -> tuple[float, ...]:
        """Times at which a stage starts or ends, in order."""
        return steps(self.stages)

    def at(self, t: float) -> tuple[Stage, ...]:
        """Return the stages that are active at time `t`, in the order of start."""
        return active(self.stages, t)

    def set_time(self, t: float) -> None:
        """Put the cursor at time `t`, in seconds since posting."""
        self.time_s = t
        states = [strength(stage, t) for stage in self.stages]
        if states != self._states:
            self._states = states
            band = [0.35 if state == ACTIVE else 0.0 for state in states]
            everything = slice(len(states))
            self.source.patch({"alpha": [(everything, states)], "band": [(everything, band)]})
            self._sentence.data = saying(sentence(self.stages, t))
        bottom = STRIP_PX + ROW_PX * len(self.stages)
        drawn = bool(self.stages)
        self._cursor.data = {
            "x": [t / (self.end_s or 1.0)] if drawn else [],
            "top": [STRIP_PX - 2.0] if drawn else [],
            "bottom": [float(bottom)] if drawn else [],
        }

    def _draw(self) -> None:
        band = self._plot.hbar(
            y="y",
            left=0.0,
            right=END,
            height=ROW_PX,
            source=self.source,
            fill_alpha="band",
            line_color=None,
        )
        paint(band.glyph, fill_color="link")
        bars = draw_bars(
            self._plot, self.source, BAR_PX, fill_alpha="alpha", hatch_alpha="alpha", line_alpha=0.0
        )
        # Overlays may leave the frame: the durations to the right, the sentence above the rows' names.
        words(self._plot, self.source, "faint", x_offset=6, level="overlay")
        words(
            self._plot, self._sentence, "ink", text_font_size=BASE_PX, x_offset=6 - LEFT_PX, level="overlay"
        )
        keep_fitted(self._plot, self._sentence, whole=True)
        cursor = self._plot.segment(x0="x", x1="x", y0="top", y1="bottom", source=self._cursor, line_width=2)
        paint(cursor.glyph, line_color="chosen")
        tips = [("", "@name"), (_("from – to"), "@span"), ("", "@sentence")]
        hover(self._plot, tips, renderers=list(bars.values()))

    def __str__(self) -> str:
        """Return the stages as a table, the active ones marked, and what happens now."""
        if not self.stages:
            return sentence((), 0.0)
        now = self.at(self.time_s)
        lines = [
            (
                ">" if stage in now else "",
                plain(stage.name),
                stage.side.value,
                "CPU" if stage.cpu else "",
                _time(stage.start_s),
                _time(stage.end_s),
                format_duration(stage.duration_s),
            )
            for stage in self.stages
        ]
        headings = ("", _("stage"), _("side"), "", _("from"), _("to"), _("time"))
        text = f"{self._title.text}\n{table(headings, lines, left=4)}"
        return f"{text}\n\n{_time(self.time_s)}: {plain(sentence(self.stages, self.time_s))}"


def _time(seconds: float) -> str:
    return format_duration(seconds) if seconds else "0"


def steps(stages: Sequence[Stage]) -> tuple[float, ...]:
    """Return the times at which a stage starts or ends, in order and each once."""
    return tuple(sorted({time for stage in stages for time in (stage.start_s, stage.end_s)}))


def active(stages: Sequence[Stage], t: float) -> tuple[Stage, ...]:
    """Return the stages that have started by `t` and not ended."""
    return tuple(stage for stage in stages if stage.start_s <= t < stage.end_s)


def strength(stage: Stage, t: float) -> float:
    """Return how strongly a stage is drawn at time `t`."""
    if stage.end_s <= t:
        return OVER
    return ACTIVE if stage.start_s <= t else TO_COME


def sentence(stages: Sequence[Stage], t: float) -> str:
    """Return what happens at time `t`."""
    if not stages:
        return _("Choose a message to play it in slow motion")
    now = active(stages, t)
    if len(now) > 6:
        text = _("{count} stages at once, each on another part of the message.")
        return text.format(count=len(now))
    if len(now) > 2:
        names = ", ".join(stage.name for stage in now)
        return _("At once, on different parts of the message: {names}.").format(names=names)
    if now:
        return " ".join(stage.text or stage.name for stage in now)
    end = max(stage.end_s for stage in stages)
    return _("Done.") if t >= end else _("Nothing happens at this moment.")


def row_y(number: int) -> float:
    """Return the middle of a row in pixels from the top."""
    return STRIP_PX + ROW_PX * (number + 0.5)


def row_name(stage: Stage) -> str:
    """Return a row's name, with the end of the transfer that it happens at."""
    if stage.side is Side.WIRE:
        return plain(stage.name)
    return plain(_("{stage}, {side}").format(stage=stage.name, side=stage.side.value))


def saying(text: str) -> dict[str, Any]:
    """Return a sentence as the columns of one row, in two lines at most."""
    parts, joint = in_words(text)
    cells = Fitted(parts, joint, 13, 1.0, 12.0, 2).row(NARROW_PX)
    return {name: [cell] for name, cell in {"x": 0.0, "y": STRIP_PX / 2, **cells}.items()}


def rows(stages: Sequence[Stage], path: DataPath) -> dict[str, Any]:
    """Return stages as columns, a row each; left and right are shares of the whole message."""
    end = max((stage.end_s for stage in stages), default=0.0) or 1.0
    left = [stage.start_s / end for stage in stages]
    # A stage too short to see is drawn longer.
    right = [max(stage.end_s / end, start + SHORTEST) for stage, start in zip(stages, left, strict=True)]
    return {
        "y": [row_y(number) for number in range(len(stages))],
        "left": left,
        "right": right,
        "kind": [kind_of(path, cpu=stage.cpu) for stage in stages],
        "alpha": [TO_COME for _stage in stages],
        "band": [0.0 for _stage in stages],
        "x": right,
        "text": [format_duration(stage.duration_s) for stage in stages],
        "name": [row_name(stage) for stage in stages],
        "span": [f"{_time(stage.start_s)} – {_time(stage.end_s)}" for stage in stages],
        "sentence": [plain(stage.text) for stage in stages],
    }
