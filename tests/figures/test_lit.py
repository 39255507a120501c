"""Tubes, cores and marks of a lit path as columns."""

from __future__ import annotations

import math

import pytest

from gdviz.figures.lit import DIMMED, MARK_SPACING, WALL, bright_legs, core_px, lit_columns, mark_columns
from gdviz.figures.path_picture import PathPicture
from gdviz.figures.shapes import bar, tube_px
from gdviz.model.results import Place, PlaceKind, Side
from gdviz.model.workload import DataPath, Endpoint
from tests.figures.machines import machine


def staged() -> PathPicture:
    one = machine("hgx-h100")
    other = one.renamed("other")
    shown = PathPicture([one, other])
    ends = [Endpoint(m, "mlx5_1", m.gpus[1].id) for m in (one, other)]
    shown.show_transfer(ends[0], ends[1], DataPath.STAGED)
    return shown


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ((0, 0), (10, 0), (-2, -2, 12, 2)),
        ((10, 0), (0, 0), (-2, -2, 12, 2)),
        ((0, 0), (0, 10), (-2, -2, 2, 12)),
        ((0, 10), (0, 0), (-2, -2, 2, 12)),
    ],
)
def test_a_bar_is_the_same_either_way(
    start: tuple[float, float], end: tuple[float, float], expected: tuple[float, ...]
) -> None:
    assert bar(start, end, 4, 2, 2) == expected


def test_a_core_is_as_thick_as_the_load() -> None:
    lit = staged().lit
    loads = [i / len(lit.legs) for i in range(len(lit.legs))]
    columns = lit_columns(lit, loads)
    for row, segment in enumerate(columns["segment"]):
        width = columns["cr"][row] - columns["cl"][row]
        height = columns["cb"][row] - columns["ct"][row]
        upright = columns["x0"][row] == columns["x1"][row]
        across = width if upright else height
        assert across == pytest.approx(core_px(tube_px(lit.capacities[segment]), loads[segment]), abs=0.02)


def test_unknown_loads_draw_a_solid_path_and_no_load_a_hollow_one() -> None:
    lit = staged().lit
    solid, idle = lit_columns(lit), lit_columns(lit, [0.0] * len(lit.legs))
    wall = solid["ol"][0] - solid["il"][0]
    assert wall == pytest.approx(-WALL, abs=0.02)
    assert solid["cr"][0] - solid["cl"][0] >= solid["ir"][0] - solid["il"][0]
    assert idle["cr"][0] == idle["cl"][0]
    assert "in use" not in solid["detail"][0]
    assert idle["detail"][0].startswith("0 % of 63.0 GB/s")


@pytest.mark.parametrize("loads", [[], [5.0] * 99, [-1.0] * 99])
def test_odd_loads_stay_in_their_tubes(loads: list[float]) -> None:
    lit = staged().lit
    columns = lit_columns(lit, loads)
    for row in range(len(columns["segment"])):
        assert columns["ol"][row] <= columns["cl"][row] <= columns["cr"][row] <= columns["or"][row]


def test_marks_stand_evenly_on_the_path_and_point_along_it() -> None:
    lit = staged().lit
    marks = mark_columns(lit)
    length = sum(
        abs(b[0] - a[0]) + abs(b[1] - a[1])
        for leg in lit.legs
        for a, b in zip(leg.points, leg.points[1:], strict=False)
    )
    assert len(marks["x"]) == pytest.approx(length / MARK_SPACING, abs=1)
    first = lit.legs[0]
    assert first.points[0][1] > first.points[-1][1]
    # Upwards: Bokeh's triangle points up unturned.
    at = marks["segment"].index(0)
    assert math.isclose(marks["angle"][at], 0.0, abs_tol=1e-9)
    for x, y, segment in zip(marks["x"], marks["y"], marks["segment"], strict=True):
        xs = [p[0] for p in lit.legs[segment].points]
        ys = [p[1] for p in lit.legs[segment].points]
        assert min(xs) - 0.1 <= x <= max(xs) + 0.1
        assert min(ys) - 0.1 <= y <= max(ys) + 0.1


def test_highlighting_a_copy_lights_one_lane_of_a_shared_link() -> None:
    lit = staged().lit
    one = machine("hgx-h100")
    switch = one.gpus[1].parent
    up = {
        Place(Side.LOCAL, PlaceKind.LINK, one.gpus[1].id),
        Place(Side.LOCAL, PlaceKind.LINK, switch),
        Place(Side.LOCAL, PlaceKind.MEMORY, "cpu0"),
    }
    assert bright_legs(lit, up) == {0, 1, 2}
    down = {Place(Side.LOCAL, PlaceKind.LINK, switch), Place(Side.LOCAL, PlaceKind.LINK, "mlx5_1")}
    assert bright_legs(lit, down) == {3, 4}
    columns = lit_columns(lit, None, up)
    bright = {s for s, alpha in zip(columns["segment"], columns["alpha"], strict=True) if alpha == 1.0}
    assert bright == {0, 1, 2}
    assert set(columns["alpha"]) == {1.0, DIMMED}
    assert set(mark_columns(lit, up)["segment"]) <= {0, 1, 2}
