"""How a NIC finds the pages of a memory region, as a picture.

From left to right: the address that programs use, the page in GPU (or host) memory, its address on PCIe
(in the GPU's BAR1 window), and, where the IOMMU translates, the I/O virtual address that the NIC uses
instead. In each column the boxes stand in the order of their addresses, so lines that cross show pages
that lie scattered. A few pages are drawn, the rest is counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from bokeh.models import CDSView, ColumnDataSource, GroupFilter, LayoutDOM

from gdviz.figures.charts.fit import NARROW_PX
from gdviz.figures.charts.frame import BASE_PX, TICK_PX, bearing, chart, heading, hover, keep_fitted, words
from gdviz.figures.charts.text import table
from gdviz.figures.charts.translation_layout import (
    BOX_PX,
    FIRST_PAGES,
    WIDTH_PX,
    Page,
    Region,
    address_text,
    boxes,
    captions,
    lines,
    picture_height,
    rest_text,
    shown_pages,
    spaces_of,
    what_to_do,
)
from gdviz.figures.text_size import shorten
from gdviz.figures.theme import paint
from gdviz.messages import _

#: Addresses line up in it.
MONOSPACE = "ui-monospace, 'DejaVu Sans Mono', 'Noto Sans Mono', Menlo, Consolas, monospace"


#: What the word 'simulated' and the border leave of a title's width.
TITLE_REST_PX = 110


class TranslationPicture:
    """The registration of a memory region.

    Parameters
    ----------
    rows
        The region's pages, or its first ones.
    how, page_bytes, total_pages, lkey, rkey, access
        See `Region`.
    title
        What region it is.
    simulated
        Whether the region is the simulated provider's; then the picture says so.

    Attributes
    ----------
    root : LayoutDOM
        The picture.
    source : ColumnDataSource
        The boxes.
    """

    def __init__(
        self,
        rows: Iterable[Page] = (),
        *,
        how: str = "",
        page_bytes: int = 0,
        title: str = "",
        simulated: bool = True,
        total_pages: int | None = None,
        lkey: int | None = None,
        rkey: int | None = None,
        access: str = "",
    ) -> None:
        self.simulated = simulated
        self._rows: tuple[Page, ...] = ()
        self._region = Region()
        self._title = heading("")
        self.source = ColumnDataSource(boxes((), Region()))
        self._lines = ColumnDataSource({"x0": [], "y0": [], "x1": [], "y1": []})
        self._texts = ColumnDataSource(captions((), Region()))
        self._plot = chart(self._title, x=(0.0, float(WIDTH_PX)), y=(1.0, 0.0), width=WIDTH_PX, height=200)
        self._plot.axis.visible = False
        self._plot.grid.visible = False
        self._draw()
        self.root: LayoutDOM = self._plot
        self.update(
            rows, how=how, page_bytes=page_bytes, title=title, total_pages=total_pages, lkey=lkey, rkey=rkey,
            access=access,
        )  # fmt: skip

    def update(
        self,
        rows: Iterable[Page],
        *,
        how: str,
        page_bytes: int,
        title: str,
        total_pages: int | None = None,
        lkey: int | None = None,
        rkey: int | None = None,
        access: str = "",
    ) -> None:
        """Show another region."""
        self._rows = tuple(rows)
        region = Region(how, page_bytes, total_pages, lkey, rkey, access)
        self._region = region
        shown = shorten(title or _("Memory registration"), 14, NARROW_PX - TITLE_REST_PX, bold=True)
        self._title.text = bearing(shown, simulated=self.simulated)
        self.source.data = boxes(self._rows, region)
        self._lines.data = lines(self._rows, region)
        self._texts.data = captions(self._rows, region)
        height = picture_height(self._rows, region)
        self._plot.y_range.update(start=height, end=0.0)
        self._plot.update(frame_height=height, height=None)

    @property
    def pages(self) -> int:
        """Pages of the region."""
        return self._region.total_pages or len(self._rows)

    def _draw(self) -> None:
        drawn = self._plot.segment("x0", "y0", "x1", "y1", source=self._lines, line_width=1.5)
        tips = self._plot.scatter(
            "x1", "y1", source=self._lines, marker="triangle", angle=-math.pi / 2, size=8, line_color=None
        )
        paint(drawn.glyph, line_color="edge")
        paint(tips.glyph, fill_color="edge")
        made = []
        for kind, role in (("gpu", "gpu"), ("host", "cpu"), ("bus", "switch"), ("iova", "nic")):
            view = CDSView(filter=GroupFilter(column_name="kind", group=kind))
            box = self._plot.rect(
                "x", "y", width="width", height=BOX_PX, source=self.source, view=view, line_width=1,
            )  # fmt: skip
            paint(box.glyph, fill_color=role, line_color="edge")
            made.append(box)
        words(self._plot, self.source, "ink", text_align="center", font=MONOSPACE)
        for kind, role, settings in (
            ("head", "ink", {"text_font_size": BASE_PX}),
            ("column", "ink", {"text_font_size": BASE_PX, "text_font_style": "bold", "text_align": "center"}),
            ("below", "faint", {"text_font_size": TICK_PX, "text_align": "center"}),
        ):
            view = CDSView(filter=GroupFilter(column_name="kind", group=kind))
            words(self._plot, self._texts, role, view=view, **settings)
        keep_fitted(self._plot, self._texts)
        hover(self._plot, [("", "@what"), (_("page"), "@number"), ("", "@span")], renderers=made)

    def __str__(self) -> str:
        """Return the region and its pages as a table."""
        if not self._rows:
            return what_to_do()
        drawn, rest = shown_pages(self._rows, self._region)
        spaces = spaces_of(self._rows, self._region)
        rows = [
            [f"{number:,}", *(address_text(getattr(page, space.field)) for space in spaces)]
            for number, page in drawn
        ]
        if rest:
            rows.insert(min(FIRST_PAGES, len(rows)), [rest_text(rest), *("" for _space in spaces)])
        headings = (_("page"), *(space.name for space in spaces))
        return f"{self._title.text}\n{self._region.text(self.pages)}\n\n{table(headings, rows)}"
