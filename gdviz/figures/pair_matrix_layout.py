"""Where the cells and words of a pair matrix stand: plain columns, no Bokeh."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gdviz.figures.charts.fit import NARROW_PX, Fitted, fixed
from gdviz.figures.text_size import MIN_PX, SMALL_PX, plain
from gdviz.messages import _

#: Height of a row of cells, of the head over each block and of the key, in pixels.
ROW_PX, HEAD_PX, KEY_PX = 30.0, 24.0, 30.0

#: Columns side by side at most: a cell is then wide enough for its distance class in the narrowest picture.
COLUMNS = 12

#: Rows at most; the rest is counted.
ROWS = 64

#: Share of the width that the rows' names take.
NAMES = 0.2


@dataclass(frozen=True, slots=True)
class PairCell:
    """A GPU and a NIC of one node.

    Attributes
    ----------
    gpu, nic
        Ids of the devices, unique on their node.
    gpu_name, nic_name
        What a person calls them.
    distance
        Class of the way between them; empty where it is unknown.
    used
        Whether GPUDirect RDMA is or would be used; None where it cannot be told.
    why
        One sentence.
    findings
        How many findings touch the pair.
    """

    node: str
    gpu: str
    nic: str
    gpu_name: str
    nic_name: str
    distance: str
    used: bool | None
    why: str = ""
    findings: int = 0

    @property
    def verdict(self) -> str:
        """The verdict in a word or two."""
        if self.used is None:
            return _("cannot be told")
        return _("used") if self.used else _("not used")

    @property
    def sign(self) -> str:
        """The verdict as a sign, so that it is not told by colour alone."""
        return "?" if self.used is None else "●" if self.used else "×"


@dataclass(frozen=True, slots=True)
class Grid:
    """The matrix cut into rows and blocks of columns.

    Attributes
    ----------
    rows
        (node, GPU id) of each row shown, in order.
    columns
        NIC names, in order of appearance.
    left_out
        Rows that are not shown.
    """

    rows: tuple[tuple[str, str], ...]
    columns: tuple[str, ...]
    left_out: int

    @property
    def blocks(self) -> int:
        """Blocks of columns, one below the other."""
        return max(1, -(-len(self.columns) // COLUMNS))

    @property
    def across(self) -> int:
        """Columns of a block."""
        return min(COLUMNS, max(1, len(self.columns)))

    @property
    def block_px(self) -> float:
        """Height of a block."""
        return HEAD_PX + len(self.rows) * ROW_PX

    @property
    def height_px(self) -> float:
        """Height of the whole matrix."""
        return self.blocks * self.block_px + KEY_PX

    def place(self, row: int, column: int) -> tuple[float, float, float]:
        """Return the centre of a cell (share of the width, pixels from above) and its width (share)."""
        block, across = divmod(column, COLUMNS)
        width = (1.0 - NAMES) / self.across
        y = block * self.block_px + HEAD_PX + (row + 0.5) * ROW_PX
        return NAMES + (across + 0.5) * width, y, width


def grid_of(cells: Sequence[PairCell]) -> Grid:
    """Return the grid of some pairs."""
    rows = list(dict.fromkeys((cell.node, cell.gpu) for cell in cells))
    columns = tuple(dict.fromkeys(cell.nic_name for cell in cells))
    return Grid(tuple(rows[:ROWS]), columns, max(0, len(rows) - ROWS))


def cell_columns(cells: Sequence[PairCell], grid: Grid) -> dict[str, list[Any]]:
    """Return one row a cell that is shown: its rectangle, role, words."""
    made: dict[str, list[Any]] = {
        name: []
        for name in (
            "x",
            "y",
            "mark_x",
            "mark_y",
            "width",
            "role",
            "text",
            "index",
            "pair",
            "distance",
            "verdict",
            "why",
            "dots",
        )
    }
    row_of = {row: number for number, row in enumerate(grid.rows)}
    column_of = {column: number for number, column in enumerate(grid.columns)}
    for index, cell in enumerate(cells):
        row = row_of.get((cell.node, cell.gpu))
        if row is None:
            continue
        x, y, width = grid.place(row, column_of[cell.nic_name])
        values = {
            "x": x,
            "y": y,
            "mark_x": x + 0.38 * width,
            "mark_y": y - 0.3 * ROW_PX,
            "width": width,
            "role": "band" if cell.used is None else "gpu" if cell.used else "refused",
            "text": f"{cell.sign} {cell.distance or '–'}",
            "index": index,
            "pair": f"{plain(cell.node)}: {plain(cell.gpu_name)}, {plain(cell.nic_name)}".removeprefix(": "),
            "distance": cell.distance or _("unknown"),
            "verdict": cell.verdict,
            "why": plain(cell.why),
            "dots": cell.findings,
        }
        for name, value in values.items():
            made[name].append(value)
    return made


def word_columns(cells: Sequence[PairCell], grid: Grid) -> dict[str, list[Any]]:
    """Return the names of rows and columns and the key, as rows that the page fits to its width."""
    names = {(cell.node, cell.gpu): cell.gpu_name for cell in cells}
    several = len({node for node, _gpu in grid.rows}) > 1
    rows: list[dict[str, Any]] = []
    for block in range(grid.blocks):
        for number, (node, gpu) in enumerate(grid.rows):
            parts = (f"{node} {names[node, gpu]}" if several else names[node, gpu],)
            _x, y, _width = grid.place(number, block * COLUMNS)
            cell = Fitted(parts, " ", SMALL_PX, NAMES, 10.0, 1).row(NARROW_PX)
            rows.append({"x": NAMES - 0.01, "y": y, "align": "right", **cell})
    for number, name in enumerate(grid.columns):
        x, _y, width = grid.place(0, number)
        y = (number // COLUMNS) * grid.block_px + HEAD_PX / 2
        rows.append(
            {"x": x, "y": y, "align": "center", **Fitted((name,), " ", MIN_PX, width, 4.0, 1).row(NARROW_PX)}
        )
    key = _("● used   × not used   ? cannot be told   ▲ a finding")
    if grid.left_out:
        key += "   " + _("{n} more GPUs are not shown").format(n=grid.left_out)
    rows.append({"x": NAMES, "y": grid.height_px - KEY_PX / 2, "align": "left", **fixed(key)})
    return {name: [row[name] for row in rows] for name in rows[0]}


def cell_at(columns: Mapping[str, Any], x: float, y: float) -> int | None:
    """Return the row of `cell_columns` whose rectangle holds a point, None if none does."""
    for row, (left, top, width) in enumerate(zip(columns["x"], columns["y"], columns["width"], strict=True)):
        if abs(x - left) <= width / 2 and abs(y - top) <= ROW_PX / 2:
            return row
    return None
