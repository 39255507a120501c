"""Bars of stages in the colours of their paths, those of the CPU hatched; shared by two charts."""

from __future__ import annotations

from typing import Any

from bokeh.models import CDSView, ColumnDataSource, GroupFilter
from bokeh.plotting import figure

from gdviz.figures.charts.frame import HATCH
from gdviz.figures.theme import paint
from gdviz.model import DataPath

#: Kind of a bar where no stage is active.
IDLE = "idle"


def kind_of(path: DataPath, *, cpu: bool) -> str:
    """Return the kind of a bar: a value of the column `kind`."""
    return f"{path.value} cpu" if cpu else path.value


def draw_bars(plot: figure, source: ColumnDataSource, height: float, **settings: Any) -> dict[str, Any]:
    """Draw a horizontal bar for each row of the source (`left`, `right`, `y`, `kind`); return them by kind.

    All kinds are there from the start, so that no colour is set again after the page has taken its look.
    """
    drawn = {}
    for path in DataPath:
        for cpu in (False, True):
            kind = kind_of(path, cpu=cpu)
            bar = _bar(plot, source, kind, height, **settings)
            paint(bar.glyph, fill_color=path.value, line_color="paper")
            if cpu:
                bar.glyph.update(**{**HATCH, "hatch_alpha": 0.9})
                paint(bar.glyph, hatch_color="paper")
            drawn[kind] = bar
    drawn[IDLE] = _bar(plot, source, IDLE, height, **settings)
    paint(drawn[IDLE].glyph, fill_color="none", line_color="grid")
    return drawn


def _bar(plot: figure, source: ColumnDataSource, kind: str, height: float, **settings: Any) -> Any:
    view = CDSView(filter=GroupFilter(column_name="kind", group=kind))
    return plot.hbar(y="y", left="left", right="right", height=height, source=source, view=view, **settings)
