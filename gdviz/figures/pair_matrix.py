"""GPUs by NICs: how far apart each pair is, and whether GPUDirect RDMA is used between them.

A cell's sign and fill are the verdict, its word the distance class; a triangle marks a pair that a finding
touches. Click a cell to choose the pair.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bokeh.events import Event, PointEvent, Tap
from bokeh.models import CDSView, ColumnDataSource, GroupFilter, IndexFilter, LayoutDOM

from gdviz.figures.charts.frame import (
    SMALL_PX,
    TICK_PX,
    bearing,
    chart,
    heading,
    hover,
    keep_fitted,
    words,
)
from gdviz.figures.charts.text import table
from gdviz.figures.pair_matrix_layout import ROW_PX, PairCell, cell_at, cell_columns, grid_of, word_columns
from gdviz.figures.theme import paint, role_mapper
from gdviz.messages import _

Chosen = Callable[[PairCell], None]


class PairMatrix:
    """The pairs of one or several nodes.

    Parameters
    ----------
    cells
        The pairs, in the order in which rows and columns shall stand.
    title
        What they belong to.
    simulated
        Whether the machine is the simulated provider's; then the title says so.

    Attributes
    ----------
    root : LayoutDOM
        The picture.
    source : ColumnDataSource
        One row a cell.
    """

    def __init__(self, cells: Sequence[PairCell] = (), *, title: str = "", simulated: bool = False) -> None:
        self.simulated = simulated
        self._cells: tuple[PairCell, ...] = ()
        self._callbacks: list[Chosen] = []
        self._title = heading("")
        self.source = ColumnDataSource(cell_columns((), grid_of(())))
        self._words = ColumnDataSource(word_columns((), grid_of(())))
        self._plot = chart(self._title, x=(0.0, 1.0), y=(1.0, 0.0), height=200)
        self._plot.axis.visible = False
        self._plot.grid.visible = False
        # Inside the frame it would lie on the last column.
        self._plot.update(toolbar_location="below", toolbar_inner=False)
        self._touched = IndexFilter(indices=[])
        self._draw()
        self.root: LayoutDOM = self._plot
        self._plot.on_event(Tap, self._tapped)
        self.update(cells, title=title)

    def update(self, cells: Sequence[PairCell], *, title: str = "") -> None:
        """Show other pairs."""
        self._cells = tuple(cells)
        grid = grid_of(self._cells)
        self._title.text = bearing(title or _("GPUs and NICs"), simulated=self.simulated)
        self.source.selected.indices = []
        self.source.data = cell_columns(self._cells, grid)
        self._touched.indices = [row for row, dots in enumerate(self.source.data["dots"]) if dots]
        self._words.data = word_columns(self._cells, grid)
        self._plot.y_range.update(start=grid.height_px, end=0.0)
        self._plot.update(frame_height=round(grid.height_px), height=None)

    def on_click(self, callback: Chosen) -> None:
        """Call back with the pair that a person chooses."""
        self._callbacks.append(callback)

    @property
    def chosen(self) -> PairCell | None:
        """The pair that is chosen."""
        indices = self.source.selected.indices
        return self._cells[self.source.data["index"][indices[0]]] if indices else None

    def select(self, node: str, gpu: str, nic: str) -> None:
        """Choose a pair; one that is not shown is ignored."""
        for row, index in enumerate(self.source.data["index"]):
            cell = self._cells[index]
            if (cell.node, cell.gpu, cell.nic) == (node, gpu, nic):
                self._choose(row)

    def _tapped(self, event: Event) -> None:
        # The event and not the selection: of what a page sends back, only events are a person's doing.
        if isinstance(event, PointEvent) and event.x is not None and event.y is not None:
            row = cell_at(self.source.data, event.x, event.y)
            if row is not None:
                self._choose(row)

    def _choose(self, row: int) -> None:
        self.source.selected.indices = [row]
        if self.chosen is not None:
            for callback in self._callbacks:
                callback(self.chosen)

    def _draw(self) -> None:
        plot = self._plot
        boxes = plot.rect("x", "y", width="width", height=ROW_PX, source=self.source, line_width=1)
        paint(boxes.glyph, line_color="paper")
        boxes.glyph.update(fill_color={"field": "role", "transform": role_mapper()})
        boxes.nonselection_glyph = None
        boxes.selection_glyph = boxes.glyph.clone()
        boxes.selection_glyph.update(line_width=3)
        paint(boxes.selection_glyph, line_color="chosen")
        written = words(plot, self.source, "ink", text_align="center", text_font_size=SMALL_PX)
        written.nonselection_glyph = None
        for align in ("left", "center", "right"):
            view = CDSView(filter=GroupFilter(column_name="align", group=align))
            size = SMALL_PX if align == "center" else TICK_PX
            words(plot, self._words, "ink", text_align=align, view=view, text_font_size=size)
        marks = plot.scatter(
            "mark_x",
            "mark_y",
            source=self.source,
            view=CDSView(filter=self._touched),
            marker="triangle",
            size=7,
        )
        marks.nonselection_glyph = None
        paint(marks.glyph, fill_color="warning", line_color="none")
        keep_fitted(plot, self._words)
        hover(
            plot,
            [
                ("", "@pair"),
                (_("distance"), "@distance"),
                (_("GPUDirect RDMA"), "@verdict"),
                ("", "@why"),
                (_("findings"), "@dots"),
            ],
            renderers=[boxes],
        )

    def __str__(self) -> str:
        """Return the pairs as a table."""
        if not self._cells:
            return _("There is no pair of a GPU and a NIC.")
        headings = (_("node"), "GPU", "NIC", _("distance"), _("GPUDirect RDMA"), _("findings"), _("why"))
        rows = [
            (c.node, c.gpu_name, c.nic_name, c.distance or "–", c.verdict, c.findings or "", c.why)
            for c in self._cells
        ]
        return f"{self._title.text}\n{table(headings, rows, left=7)}"
