"""The way of the bytes: from the right box to the right box, through the right places, over no label."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from gdviz.figures.labels import node_labels
from gdviz.figures.layout import Layout, lay_out
from gdviz.figures.lit import Lit, pieces
from gdviz.figures.paths import needed, path_lit, transfer_lit
from gdviz.figures.shapes import BoxKind, inside, overlap, tube_px
from gdviz.machine import Machine
from gdviz.model import predict
from gdviz.model.constants import DEFAULTS
from gdviz.model.results import Place, PlaceKind, Side
from gdviz.model.route import memory_cpu, route
from gdviz.model.workload import DataPath, Endpoint, Op, Workload
from tests.figures.machines import ALL, machine


def pairs(one: Machine, most: int = 6) -> Iterator[tuple[str, str]]:
    """Yield GPUs and NICs far and near, not all of a big machine."""
    found = [(gpu.id, nic.id) for gpu in one.gpus for nic in one.nics]
    yield from found[:: max(1, len(found) // most)]


def lit_transfer(
    one: Machine, gpu: str | None, nic: str, path: DataPath, *, op: Op = Op.WRITE, numa: int | None = None
) -> tuple[Layout, Lit]:
    other = one.renamed("other")
    opened = needed(one, gpu, nic)
    layout = lay_out([one, other], [opened, opened])
    ends = ((0, Endpoint(one, nic, gpu, numa)), (1, Endpoint(other, nic, gpu, numa)))
    return layout, transfer_lit(layout, ends, path, op, {})


def at_edge(point: tuple[float, float], layout: Layout, node: int, key: str) -> bool:
    left, top, right, bottom = layout.nodes[node].boxes[key].rect
    return left <= point[0] <= right and min(abs(point[1] - top), abs(point[1] - bottom)) < 0.01


@pytest.mark.parametrize("name", ALL)
def test_direct_goes_from_gpu_to_gpu(name: str) -> None:
    one = machine(name)
    for gpu, nic in pairs(one):
        layout, lit = lit_transfer(one, gpu, nic, DataPath.DIRECT)
        assert at_edge(lit.legs[0].points[0], layout, 0, gpu)
        assert at_edge(lit.legs[-1].points[-1], layout, 1, gpu)
        assert PlaceKind.MEMORY not in {place.kind for place in lit.places}
        assert lit.places.count(Place(Side.WIRE, PlaceKind.WIRE, "fabric")) == 1


@pytest.mark.parametrize("name", ALL)
def test_staged_turns_in_host_memory_at_both_ends(name: str) -> None:
    one = machine(name)
    if not one.cpus:
        return
    for gpu, nic in pairs(one):
        layout, lit = lit_transfer(one, gpu, nic, DataPath.STAGED)
        memories = [leg for leg in lit.legs if leg.place.kind is PlaceKind.MEMORY]
        assert [leg.place.side for leg in memories] == [Side.LOCAL, Side.REMOTE]
        for leg in memories:
            box = layout.nodes[leg.node].boxes[f"memory:{leg.place.id}"]
            turns = [p for p in leg.points if inside((*p, *p), box.rect)]
            assert len(turns) >= 2
        assert at_edge(lit.legs[0].points[0], layout, 0, gpu)
        assert at_edge(lit.legs[-1].points[-1], layout, 1, gpu)


@pytest.mark.parametrize("path", list(DataPath))
@pytest.mark.parametrize("name", ALL)
def test_a_route_is_one_line_but_for_the_nics(name: str, path: DataPath) -> None:
    one = machine(name)
    for gpu, nic in pairs(one):
        layout, lit = lit_transfer(one, gpu, nic, path)
        breaks = 0
        for before, after in itertools.pairwise(lit.legs):
            if after.joined:
                assert before.points[-1] == pytest.approx(after.points[0])
                continue
            breaks += 1
            node = before.node
            assert at_edge(before.points[-1], layout, node, nic)
            assert at_edge(after.points[0], layout, node, nic)
        assert breaks == 2
        for leg in lit.legs:
            for (x0, y0), (x1, y1) in itertools.pairwise(leg.points):
                assert (abs(x0 - x1) < 0.01) != (abs(y0 - y1) < 0.01)


@pytest.mark.parametrize("path", list(DataPath))
@pytest.mark.parametrize("name", ALL)
def test_a_route_keeps_clear_of_labels_and_of_other_devices(name: str, path: DataPath) -> None:
    one = machine(name)
    for gpu, nic in pairs(one):
        layout, lit = lit_transfer(one, gpu, nic, path)
        lit_switches = [frozenset(p for n, p in lit.inner if n == i) for i in (0, 1)]
        labels = [label for i in (0, 1) for label in node_labels(layout.nodes[i], lit_switches[i])]
        solid = [
            b for b in layout.boxes if b.kind in (BoxKind.GPU, BoxKind.NIC, BoxKind.GROUP, BoxKind.DEVICE)
        ]
        switches = [
            b for b in layout.boxes if b.kind is BoxKind.SWITCH and (b.node, b.part) not in set(lit.inner)
        ]
        for piece in pieces(lit.legs):
            rect = piece.rect(tube_px(lit.capacities[piece.segment]))
            for label in labels:
                assert not overlap(rect, label.rect), (lit.places[piece.segment], label)
            for box in (*solid, *switches):
                assert not overlap(rect, box.rect, -0.01), (lit.places[piece.segment], box)


@pytest.mark.parametrize("path", list(DataPath))
@pytest.mark.parametrize("name", ALL)
def test_lanes_of_a_staged_path_do_not_touch(name: str, path: DataPath) -> None:
    one = machine(name)
    for gpu, nic in pairs(one):
        _layout, lit = lit_transfer(one, gpu, nic, path)
        cut = pieces(lit.legs)
        for (i, a), (j, b) in itertools.combinations(enumerate(cut), 2):
            if j - i < 2 or a.segment == b.segment:
                continue
            # Corners of neighbours share their filling; all others stay apart.
            if lit.legs[b.segment].joined and b.segment - a.segment == 1:
                continue
            assert not overlap(a.rect(4.0), b.rect(4.0)), (lit.places[a.segment], lit.places[b.segment])


@pytest.mark.parametrize("name", ALL)
def test_places_are_those_of_the_model(name: str) -> None:
    one = machine(name)
    kinds = (PlaceKind.LINK, PlaceKind.MEMORY)
    for gpu, nic in pairs(one):
        _layout, lit = lit_transfer(one, gpu, nic, DataPath.DIRECT)
        drawn = [p for p in lit.places if p.side is Side.LOCAL and p.kind in kinds]
        known = route(one, Side.LOCAL, one.gpu(gpu), one.nic(nic), DEFAULTS)
        assert drawn == [p for p in known.places if p.kind in kinds]
        if not one.cpus:
            continue
        _layout, lit = lit_transfer(one, gpu, nic, DataPath.STAGED)
        drawn = [p for p in lit.places if p.side is Side.LOCAL and p.kind in kinds]
        store = memory_cpu(one, one.nic(nic), None)
        copy = route(one, Side.LOCAL, store, one.gpu(gpu), DEFAULTS)
        read = route(one, Side.LOCAL, store, one.nic(nic), DEFAULTS)
        up = [p for p in reversed(copy.places) if p.kind in kinds]
        down = [p for p in read.places if p.kind in kinds]
        assert drawn == up + down[1:]


@pytest.mark.parametrize("path", list(DataPath))
def test_every_capacity_of_a_prediction_is_drawn(path: DataPath) -> None:
    one, other = machine("hgx-h100"), machine("hgx-h100").renamed("other")
    here, there = (Endpoint(m, m.nics[1].id, m.gpus[6].id) for m in (one, other))
    expected = predict(here, there, Workload(path=path))
    layout = lay_out([one, other])
    lit = transfer_lit(layout, ((0, here), (1, there)), path, Op.WRITE, expected.capacities)
    inside_parts = {place for place in expected.capacities if place.kind is PlaceKind.PART}
    assert set(expected.capacities) - inside_parts <= set(lit.places)
    assert all(rate for rate in lit.capacities)


def test_read_runs_the_other_way() -> None:
    one = machine("hgx-h100")
    gpu, nic = one.gpus[0].id, one.nics[0].id
    _layout, write = lit_transfer(one, gpu, nic, DataPath.STAGED)
    _layout, read = lit_transfer(one, gpu, nic, DataPath.STAGED, op=Op.READ)
    assert read.places == write.places[::-1]
    assert [leg.points for leg in read.legs] == [leg.points[::-1] for leg in write.legs[::-1]]
    assert [leg.joined for leg in read.legs].count(False) == 3


def test_host_memory_starts_in_its_own_socket() -> None:
    one = machine("hgx-h100")
    layout, lit = lit_transfer(one, None, "mlx5_6", DataPath.DIRECT, numa=0)
    assert lit.places[0] == Place(Side.LOCAL, PlaceKind.MEMORY, "cpu0")
    assert Place(Side.LOCAL, PlaceKind.LINK, "cpu0-cpu1") in lit.places
    start = lit.legs[0].points[0]
    assert inside((*start, *start), layout.nodes[0].boxes["memory:cpu0"].rect)


@pytest.mark.parametrize(("gpu", "nic", "numa"), [(0, 7, 0), (0, 7, 1), (7, 0, 0), (0, 0, 1), (7, 7, 0)])
def test_bounce_buffers_on_any_socket(gpu: int, nic: int, numa: int) -> None:
    one = machine("hgx-h100")
    _layout, lit = lit_transfer(one, one.gpus[gpu].id, one.nics[nic].id, DataPath.STAGED, numa=numa)
    local = [p for p in lit.places if p.side is Side.LOCAL]
    assert Place(Side.LOCAL, PlaceKind.MEMORY, f"cpu{numa}") in local
    crossings = local.count(Place(Side.LOCAL, PlaceKind.LINK, "cpu0-cpu1"))
    assert crossings == (gpu // 4 != numa) + (nic // 4 != numa)


def test_two_ends_of_one_node() -> None:
    one = machine("hgx-h100")
    layout = lay_out([one])
    ends = ((0, Endpoint(one, "mlx5_0", one.gpus[0].id)), (0, Endpoint(one, "mlx5_7", one.gpus[7].id)))
    lit = transfer_lit(layout, ends, DataPath.DIRECT, Op.WRITE, {})
    assert at_edge(lit.legs[0].points[0], layout, 0, one.gpus[0].id)
    assert at_edge(lit.legs[-1].points[-1], layout, 0, one.gpus[7].id)


def test_direct_is_much_shorter_than_staged() -> None:
    one = machine("hgx-h100")
    lengths = []
    for path in DataPath:
        _layout, lit = lit_transfer(one, one.gpus[2].id, one.nics[2].id, path)
        lengths.append(
            sum(
                abs(x1 - x0) + abs(y1 - y0)
                for p in pieces(lit.legs)
                for (x0, y0), (x1, y1) in [(p.start, p.end)]
            )
        )
    assert lengths[1] > 1.5 * lengths[0]


def test_a_path_names_the_devices_and_switches_on_it() -> None:
    one = machine("hgx-h100")
    lit = path_lit(lay_out([one]), 0, one.path(1, 1))
    assert set(lit.ends) == {(0, one.gpus[1].id), (0, "mlx5_1")}
    assert set(lit.inner) == {(0, one.nics[1].parent)}
