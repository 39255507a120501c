"""The Bokeh side of a path picture: one figure, a few sources, a renderer for each layer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from bokeh.models import (
    ColumnDataSource,
    CustomJS,
    HoverTool,
    Patches,
    Plot,
    Quad,
    Range1d,
    SaveTool,
    Scatter,
    Text,
    Toolbar,
)
from bokeh.models.renderers import GlyphRenderer

from gdviz.figures.node_layout import WIDTH
from gdviz.figures.text_size import MIN_PX
from gdviz.figures.theme import FONT, paint, role_mapper
from gdviz.figures.tips import tip

#: Values come from files; Bokeh escapes them (never write ``{safe}`` here).
_TOOLTIP = tip('<b>@title</b><div style="white-space:pre-line;overflow-wrap:anywhere">@detail</div>')


def javascript(name: str) -> str:
    """Return the text of a script beside this package."""
    return resources.files("gdviz.figures").joinpath("js").joinpath(name).read_text(encoding="utf-8")


@dataclass(frozen=True)
class PictureModels:
    """The figure, its vertical range, and its sources, lowest layer first."""

    plot: Plot
    height: Range1d
    links: ColumnDataSource
    boxes: ColumnDataSource
    decorations: ColumnDataSource
    glow: ColumnDataSource
    lit: ColumnDataSource
    marks: ColumnDataSource
    outlines: ColumnDataSource
    texts: ColumnDataSource
    chips: ColumnDataSource


def _made(kind: Any, **properties: Any) -> Any:
    # Bokeh's own types do not know of columns that are mapped to colours.
    return kind(**properties)


class _Maker:
    def __init__(self, plot: Plot) -> None:
        self.plot = plot
        self.mapper = role_mapper()

    def role(self, column: str = "role") -> dict[str, Any]:
        return {"field": column, "transform": self.mapper}

    def add(self, source: ColumnDataSource, glyph: Any, level: str = "glyph") -> GlyphRenderer[Any]:
        # What is clicked keeps its look: outlines show the selection.
        return self.plot.add_glyph(source, glyph, selection_glyph=None, nonselection_glyph=None, level=level)


def make_models(height: float) -> PictureModels:
    """Return an empty picture of that height, in its own pixels."""
    extent = Range1d(start=height, end=0)
    plot = Plot(
        x_range=Range1d(start=0, end=WIDTH),
        y_range=extent,
        sizing_mode="stretch_width",
        aspect_ratio=WIDTH / height,
        min_width=640,
        # In a column Bokeh gives a plot a fixed height; this one's follows its width.
        styles={"flex": "0 0 auto", "height": "auto"},
        min_border=0,
        outline_line_color=None,
        # Its own ground would lie over the heading.
        toolbar=Toolbar(logo=None, autohide=True, stylesheets=[":host { background: none !important; }"]),
        toolbar_location="above",
        toolbar_inner=True,
        title=None,
    )
    paint(plot, background_fill_color="paper", border_fill_color="paper")
    maker = _Maker(plot)
    sources = {
        name: ColumnDataSource() for name in PictureModels.__annotations__ if name not in ("plot", "height")
    }
    models = PictureModels(plot, extent, **sources)
    patch = {"xs": "xs", "ys": "ys"}
    maker.add(
        models.links, _made(Patches, **patch, fill_color=maker.role(), fill_alpha="alpha", line_color=None)
    )
    hits = maker.add(models.links, _made(Patches, xs="hit_xs", ys="hit_ys", fill_alpha=0.0, line_color=None))
    box_glyph = _made(Patches, **patch, fill_color=maker.role(), line_width="edge")
    boxes = maker.add(models.boxes, paint(box_glyph, line_color="edge"))
    maker.add(models.decorations, _made(Patches, **patch, fill_color=maker.role(), line_color=None))
    maker.add(
        models.glow,
        _made(Patches, **patch, fill_color=maker.role(), line_color=maker.role(), fill_alpha="alpha"),
    )
    lit = _add_lit(maker, models.lit)
    marks = _made(
        Scatter,
        x="x",
        y="y",
        size="size",
        angle="angle",
        marker="triangle",
        line_color=maker.role(),
        line_width=1.2,
    )
    # The moving marks and what lies over them are on a canvas of their own, so that a step of the marks
    # does not paint the whole picture anew.
    maker.add(models.marks, paint(marks, fill_color="paper"), "overlay")
    maker.add(
        models.outlines,
        _made(
            Patches, **patch, fill_color=None, line_color=maker.role(), line_width="width", line_join="round"
        ),
        "overlay",
    )
    _add_texts(maker, models)
    plot.add_tools(
        SaveTool(filename="gdviz-path"),
        HoverTool(renderers=[boxes], tooltips=_TOOLTIP, point_policy="follow_mouse", visible=False),
        HoverTool(renderers=[hits, lit], tooltips=_TOOLTIP, point_policy="follow_mouse", visible=False),
    )
    plot.js_on_event("mouseenter", CustomJS(args={"plot": plot}, code=javascript("path_escape.js")))
    _keep_proportions(models)
    return models


def _add_lit(maker: _Maker, source: ColumnDataSource) -> GlyphRenderer[Any]:
    def quad(prefix: str, **look: Any) -> Any:
        edges = {"left": "l", "top": "t", "right": "r", "bottom": "b"}
        sides = {name: prefix + side for name, side in edges.items()}
        return _made(Quad, **sides, line_color=None, **look)

    outer = maker.add(source, quad("o", fill_color=maker.role(), fill_alpha="alpha"))
    # Paper laid thinly over the wall's colour: an idle path still shows from afar.
    maker.add(source, paint(quad("i", fill_alpha=0.72), fill_color="paper"))
    maker.add(source, quad("c", fill_color=maker.role(), fill_alpha="alpha"))
    return outer


def _add_texts(maker: _Maker, models: PictureModels) -> None:
    common = {
        "x": "x",
        "y": "y",
        "text": {"field": "text"},
        "text_font": {"value": FONT},
        "text_font_size": {"field": "font_size"},
        "text_font_style": {"field": "style"},
        "text_color": maker.role(),
        "text_baseline": "middle",
        "text_line_height": 1.15,
    }
    maker.add(models.texts, _made(Text, **common, text_align={"field": "align"}, text_alpha="alpha"))
    chip = _made(
        Text,
        **common,
        text_align="center",
        border_line_color=maker.role("edge"),
        border_line_width=2.0,
        background_fill_alpha="ground",
        border_radius=4,
        padding=(5, 2),
    )
    maker.add(models.chips, paint(chip, background_fill_color="paper"), "overlay")


def _keep_proportions(models: PictureModels) -> None:
    """Have the page scale the type with the picture, whenever either is new."""
    scale = CustomJS(
        args={
            "plot": models.plot,
            "texts": [models.texts],
            "chips": [models.chips],
            "marks": models.marks,
            "width": WIDTH,
            "smallest": MIN_PX,
        },
        code=javascript("path_scale.js"),
    )
    models.plot.js_on_change("inner_width", scale)
    for source in (models.texts, models.chips, models.marks):
        source.js_on_change("data", scale)


def fill(source: ColumnDataSource, columns: dict[str, list[Any]]) -> None:
    """Write columns into a source if they differ from what it holds."""
    if _as_text(source.data) != _as_text(columns):
        source.data = columns


def _as_text(data: Mapping[str, Any]) -> str:
    # Not-a-number differs from itself; its text does not.
    return repr({key: list(values) for key, values in data.items()})
