"""The bare chart that all charts start from: type, greys and fixed ranges in one place.

A chart lies on whatever is behind it (its paper is clear), so it fits both looks of JupyterLab.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from typing import Any, Literal

from bokeh.core.properties import value
from bokeh.models import Axis, ColumnDataSource, CustomJS, FixedTicker, HoverTool, Node, Range1d, SaveTool
from bokeh.models.annotations import Label, Legend, LegendItem, Title
from bokeh.plotting import figure

from gdviz.figures.text_size import plain
from gdviz.figures.theme import FONT, paint
from gdviz.figures.tips import rows_tip
from gdviz.messages import _
from gdviz.model import DataPath

#: Sizes of type, in pixels.
TITLE_PX, BASE_PX, TICK_PX, SMALL_PX = "14px", "13px", "12px", "11px"

#: Pixels at the top of a chart that its data leave free for labels and the legend.
HEADROOM_PX = 18

Scale = Literal["linear", "log"]

#: How a path is told apart without its colour.
DASH: dict[DataPath, str] = {DataPath.DIRECT: "solid", DataPath.STAGED: "dashed"}
MARKER: dict[DataPath, str] = {DataPath.DIRECT: "circle", DataPath.STAGED: "square"}


#: The CPU's work is hatched wherever it is drawn.
HATCH: dict[str, Any] = {
    "hatch_pattern": "right_diagonal_line", "hatch_alpha": 0.6, "hatch_scale": 8, "hatch_weight": 1,
}  # fmt: skip


def bearing(title: str, *, simulated: bool) -> str:
    """Return a title that bears the word where what the chart shows is simulated."""
    return _("{title}, simulated").format(title=title) if simulated else title


def heading(text: str) -> Title:
    """Return a chart's title."""
    title = Title(text=plain(text), text_font=FONT, text_font_size=TITLE_PX)
    paint(title, text_color="ink")
    return title


def chart(
    title: str | Title,
    *,
    x: tuple[float, float] | Range1d,
    y: tuple[float, float],
    height: int,
    width: int = 960,
    x_title: str = "",
    y_title: str = "",
    x_scale: Scale = "linear",
    y_scale: Scale = "linear",
    toolbar: bool = True,
) -> figure:
    """Return an empty chart with fixed ranges, painted.

    Parameters
    ----------
    x, y
        Ends of the axes, or the x range that several charts share.
    height, width
        Pixels; the width is where stretching starts from.
    toolbar
        Whether the chart shows its own button to save it.
    """
    plot = figure(
        title=heading(title) if isinstance(title, str) else title,
        width=width,
        min_width=min(width, 300),
        height=height,
        sizing_mode="stretch_width",
        x_range=x if isinstance(x, Range1d) else Range1d(start=x[0], end=x[1]),
        y_range=Range1d(start=y[0], end=y[1]),
        x_axis_type=x_scale,
        y_axis_type=y_scale,
        tools=[SaveTool()],
        toolbar_location="right" if toolbar else None,
        toolbar_inner=True,  # outside it would take 30 px, seen or not
    )
    plot.toolbar.logo = None
    plot.toolbar.autohide = True
    paint(plot, background_fill_color="none", border_fill_color="none", outline_line_color="none")
    for axis, text in ((plot.xaxis[0], x_title), (plot.yaxis[0], y_title)):
        dress(axis, text)
    for grid in plot.grid:
        grid.minor_grid_line_color = None
        paint(grid, grid_line_color="grid")
    return plot


def tint(renderer: Any, role: str) -> None:
    """Give a line's or a marker's glyph the colour of a role."""
    name = "fill_color" if hasattr(renderer.glyph, "marker") else "line_color"
    paint(renderer.glyph, **{name: role})


def dress(axis: Axis, title: str) -> None:
    """Give an axis its type and greys."""
    axis.update(
        axis_label=title or None,
        axis_label_text_font=FONT,
        axis_label_text_font_size=BASE_PX,
        axis_label_text_font_style="normal",
        axis_label_standoff=6,
        major_label_text_font=FONT,
        major_label_text_font_size=TICK_PX,
        major_tick_in=0,
        major_tick_out=4,
        minor_tick_line_color=None,
    )
    paint(
        axis,
        axis_label_text_color="faint",
        major_label_text_color="faint",
        axis_line_color="edge",
        major_tick_line_color="edge",
    )


def set_ticks(axis: Axis, ticks: Mapping[float, str]) -> None:
    """Put ticks with these texts on an axis, and no others."""
    axis.ticker = FixedTicker(ticks=list(ticks))
    axis.update(major_label_overrides=dict(ticks))


def note(plot: figure, x: float | Node, y: float | Node, text: str = "", **settings: Any) -> Label:
    """Return a small note inside a chart, painted faint."""
    settings = {"text_font_size": TICK_PX, **settings}
    label = Label(x=x, y=y, text=text, text_font=FONT, **settings)
    paint(label, text_color="faint")
    plot.add_layout(label)
    return label


def words(plot: figure, source: ColumnDataSource, role: str, **settings: Any) -> Any:
    """Draw the column `text` at columns `x` and `y`; return the renderer."""
    font = value(settings.pop("font", FONT))
    settings = {"text_font_size": TICK_PX, "text_baseline": "middle", **settings}
    made = plot.text("x", "y", "text", source=source, text_font=font, **settings)
    paint(made.glyph, text_color=role)
    return made


def legend(plot: figure, entries: Mapping[str, list[Any]], **settings: Any) -> Legend:
    """Return a legend without a frame, one entry a text with the renderers that it stands for."""
    items = [LegendItem(label={"value": text}, renderers=made) for text, made in entries.items()]
    settings = {"orientation": "horizontal", "location": "top_right", "margin": 0, "spacing": 12, **settings}
    box = Legend(
        items=items,
        label_text_font=FONT,
        label_text_font_size=TICK_PX,
        label_text_baseline="middle",
        border_line_color=None,
        label_standoff=5,
        label_height=15,
        glyph_height=15,
        glyph_width=26,
        **settings,
    )
    paint(box, label_text_color="ink", background_fill_color="none")
    plot.add_layout(box)
    return box


def hover(plot: figure, tooltips: list[tuple[str, str]], **settings: Any) -> HoverTool:
    """Return a hover tool that shows columns; Bokeh escapes what stands in them."""
    tool = HoverTool(tooltips=rows_tip(tooltips), **settings)
    plot.add_tools(tool)
    return tool


def keep_fitted(plot: figure, source: ColumnDataSource, *, whole: bool = False) -> None:
    """Have the page set the source's texts anew whenever they or the chart's width change.

    Parameters
    ----------
    source
        Has the columns that `gdviz.figures.charts.fit` explains.
    whole
        Whether shares are of the whole chart's width, not of its frame's.
    """
    arguments = {"plot": plot, "source": source, "font": FONT, "whole": whole}
    fit = CustomJS(args=arguments, code=javascript("chart_fit.js"))
    plot.js_on_change("outer_width" if whole else "inner_width", fit)
    source.js_on_change("data", fit)


def javascript(name: str) -> str:
    """Return the text of a script beside this package."""
    return resources.files("gdviz.figures").joinpath("js").joinpath(name).read_text(encoding="utf-8")
