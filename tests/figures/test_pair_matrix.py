from __future__ import annotations

from itertools import pairwise

import pytest
from bokeh.events import Tap

from gdviz.figures.pair_matrix import PairMatrix
from gdviz.figures.pair_matrix_layout import COLUMNS, NAMES, ROW_PX, ROWS, PairCell, cell_columns, grid_of
from gdviz.machine import reference_machine

EVIL = "<img src=x onerror=alert(1)>"


def cells_of(node: str = "node-a", gpus: int = 8, nics: int = 8) -> list[PairCell]:
    machine = reference_machine("hgx-h100")
    return [
        PairCell(
            node,
            f"g{g}",
            f"n{n}",
            f"GPU {g}",
            f"mlx5_{n}",
            machine.path(g % 8, n % 8).distance.value,
            g % 8 == n % 8,
            "because",
            int(g == n == 1),
        )
        for g in range(gpus)
        for n in range(nics)
    ]


@pytest.mark.parametrize(("gpus", "nics"), [(1, 1), (8, 8), (8, 32), (3, 13)])
def test_no_two_cells_overlap_and_all_lie_inside(gpus: int, nics: int) -> None:
    cells = cells_of(gpus=gpus, nics=nics)
    grid = grid_of(cells)
    data = cell_columns(cells, grid)
    assert len(data["x"]) == gpus * nics
    by_line: dict[float, list[tuple[float, float]]] = {}
    for x, y, width in zip(data["x"], data["y"], data["width"], strict=True):
        by_line.setdefault(y, []).append((x - width / 2, x + width / 2))
        assert 0 < y - ROW_PX / 2 < y + ROW_PX / 2 < grid.height_px
    for line in by_line.values():
        assert len(line) <= COLUMNS
        assert min(line)[0] >= NAMES - 1e-9
        assert max(end for _start, end in line) <= 1 + 1e-9
        assert all(left[1] <= right[0] + 1e-9 for left, right in pairwise(sorted(line)))
    assert all(b - a >= ROW_PX for a, b in pairwise(sorted(by_line)))


def test_a_cell_says_its_verdict_by_sign_fill_and_word() -> None:
    cells = [
        PairCell("a", "g", f"n{n}", "GPU 0", f"mlx5_{n}", "PIX", used)
        for n, used in enumerate((True, False, None))
    ]
    data = cell_columns(cells, grid_of(cells))
    assert data["text"] == ["● PIX", "× PIX", "? PIX"]
    assert len(set(data["role"])) == 3
    assert data["verdict"] == ["used", "not used", "cannot be told"]


def test_choosing_a_cell_tells_which() -> None:
    matrix = PairMatrix(cells_of())
    told: list[PairCell] = []
    matrix.on_click(told.append)
    x, y = (matrix.source.data[name][9] for name in ("x", "y"))
    matrix.root._trigger_event(Tap(matrix.root, x=x, y=y))
    matrix.root._trigger_event(Tap(matrix.root, x=0.01, y=y))
    matrix.select("node-a", "g7", "n2")
    matrix.select("node-a", "nothing", "n2")
    assert [(cell.gpu, cell.nic) for cell in told] == [("g1", "n1"), ("g7", "n2")]
    assert matrix.chosen is told[-1]
    matrix.update(cells_of("b"))
    assert matrix.chosen is None


def test_findings_are_marked_and_rows_beyond_the_limit_counted() -> None:
    cells = [cell for node in range(20) for cell in cells_of(f"node-{node}")]
    grid = grid_of(cells)
    assert (len(grid.rows), grid.left_out) == (ROWS, 160 - ROWS)
    matrix = PairMatrix(cells)
    assert matrix._touched.indices == [i for i, dots in enumerate(matrix.source.data["dots"]) if dots]
    assert len(matrix._touched.indices) == 8
    assert any("96 more GPUs" in text for text in matrix._words.data["text"])


def test_the_text_twin_and_hostile_names() -> None:
    cells = [PairCell(EVIL, "g", "n", EVIL, EVIL + "\x1b", "PIX", None, EVIL)]
    text = str(PairMatrix(cells))
    assert "PIX" in text
    assert "cannot be told" in text
    assert "\x1b" not in text
    assert "no pair" in str(PairMatrix())
