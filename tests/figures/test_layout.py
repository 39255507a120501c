"""Where things stand: nothing overlaps, everything is on the picture, what is folded can be opened."""

from __future__ import annotations

import itertools

import pytest

from gdviz.errors import GdvizError
from gdviz.figures.labels import fabric_labels, node_labels
from gdviz.figures.layout import WIDTH, Layout, lay_out
from gdviz.figures.shapes import BoxKind, LinkKind, bars, inside, overlap, thickness_px
from gdviz.figures.text_size import MIN_PX
from gdviz.machine import Bridge, Cpu, Gpu, Machine, Nic, Parts
from tests.figures.machines import ALL, HOSTILE, deep, hostile, machine


def both(name: str) -> tuple[Layout, Layout]:
    one = machine(name)
    return lay_out([one]), lay_out([one, one.renamed("other")])


def all_labels(layout: Layout) -> list:
    return [label for node in layout.nodes for label in node_labels(node, frozenset())] + fabric_labels(
        layout
    )


@pytest.mark.parametrize("name", ALL)
def test_boxes_lie_apart_and_on_the_picture(name: str) -> None:
    for layout in both(name):
        frame = (0.0, 0.0, layout.width, layout.height)
        assert all(inside(box.rect, frame) for box in layout.boxes)
        for one, other in itertools.combinations(layout.boxes, 2):
            assert not overlap(one.rect, other.rect), (one, other)


@pytest.mark.parametrize("name", ALL)
def test_labels_fit_their_boxes_and_lie_apart(name: str) -> None:
    for layout in both(name):
        labels = all_labels(layout)
        frame = (0.0, 0.0, layout.width, layout.height)
        for label in labels:
            assert label.size >= MIN_PX
            assert inside(label.rect, frame), label
            left, _top, right, _bottom = label.rect
            assert right - left <= label.room + 0.01, label
        for node in layout.nodes:
            for label in (found for found in node_labels(node, frozenset()) if found.box in node.boxes):
                assert inside(label.rect, node.boxes[label.box].rect), label
        for one, other in itertools.combinations(labels, 2):
            assert not overlap(one.rect, other.rect, -0.01), (one, other)


@pytest.mark.parametrize("name", ALL)
def test_free_labels_stand_on_no_box_and_no_link(name: str) -> None:
    for layout in both(name):
        for node in layout.nodes:
            free = [label for label in node_labels(node, frozenset()) if not label.box]
            for label in free:
                assert not any(overlap(label.rect, box.rect) for box in layout.boxes), label
                for link in node.links:
                    rects = bars(link.points, thickness_px(link.bytes_per_s))
                    assert not any(overlap(label.rect, rect) for rect in rects), (label, link)


@pytest.mark.parametrize("name", ALL)
def test_every_device_is_shown_or_folded_into_something_shown(name: str) -> None:
    one = machine(name)
    node = lay_out([one]).nodes[0]
    for part in (*one.gpus, *one.nics, *one.devices, *one.bridges):
        group = node.hidden_in(part.id)
        shown = part.id if group is None else group
        assert shown in node.boxes, part
        if group is not None:
            assert node.boxes[group].kind is BoxKind.GROUP


@pytest.mark.parametrize("name", ALL)
def test_every_device_can_be_brought_to_light(name: str) -> None:
    one = machine(name)
    for part in (*one.gpus[:3], *one.nics[-3:]):
        opened = frozenset(above.id for above in one.ancestors(part.id))
        layout = lay_out([one], [opened])
        node = layout.nodes[0]
        assert node.hidden_in(part.id) is None
        assert node.boxes[part.id].kind in (BoxKind.GPU, BoxKind.NIC)
        for first, second in itertools.combinations(layout.boxes, 2):
            assert not overlap(first.rect, second.rect), (first, second)


@pytest.mark.parametrize("name", ALL)
def test_links_run_upright_or_level_between_their_boxes(name: str) -> None:
    for layout in both(name):
        for node in layout.nodes:
            solid = (BoxKind.GPU, BoxKind.NIC, BoxKind.GROUP, BoxKind.SWITCH, BoxKind.DEVICE)
            boxes = [box for box in node.boxes.values() if box.kind in solid]
            for link in node.links:
                for (x0, y0), (x1, y1) in itertools.pairwise(link.points):
                    assert x0 == x1 or y0 == y1
                if link.kind is LinkKind.NVLINK:
                    continue
                for box in boxes:
                    others = [r for r in bars(link.points, 1.0) if overlap(r, box.rect, -0.5)]
                    assert not others, (link, box)


@pytest.mark.parametrize("key", ["hgx-h100", "dgx-a100", "pcie-a30"])
def test_the_catalogue_needs_no_folding(key: str) -> None:
    for layout in both(key):
        assert all(not node.folded for node in layout.nodes)


def test_heights_leave_room_for_the_rest_of_the_page() -> None:
    one, two = both("hgx-h100")
    assert one.width == two.width == WIDTH == 960
    assert one.height <= 400
    assert two.height <= 610


def test_big_machines_fold_by_switch_and_open_again() -> None:
    link = machine("dgx-a100").bridges[1].link
    bridges, nics, gpus = [], [], []
    for i in range(8):
        bridges.append(Bridge(f"0000:{i:02x}:00.0", f"cpu{i // 4}", link=link))
        gpus.append(Gpu(f"0001:{i:02x}:00.0", i, bridges[-1].id, f"0001:{i:02x}:00.0", link=link))
        for j in range(4):
            n = 4 * i + j
            nics.append(Nic(f"efa{n}", n, bridges[-1].id, f"0002:{n:02x}:00.0", f"efa{n}", link=link))
    base = machine("dgx-a100").parts
    from gdviz.machine import Parts

    big = Machine("big", Parts(base.cpus, tuple(bridges), tuple(gpus), tuple(nics)))
    folded = lay_out([big]).nodes[0]
    assert folded.folded == {bridge.id for bridge in bridges}
    group = folded.boxes[bridges[0].id]
    assert [line.split("|")[0] for line in group.lines] == ["GPU 0", "4 NICs"]
    opened = lay_out([big], [frozenset({bridges[0].id})]).nodes[0]
    assert opened.folded == {bridge.id for bridge in bridges[1:]}
    assert sum(box.kind is BoxKind.NIC for box in opened.boxes.values()) == 4
    assert min(box.width for box in opened.boxes.values() if box.kind is BoxKind.GROUP) >= 50


def test_nodes_are_mirrored_with_nics_nearest_the_wire() -> None:
    one = machine("hgx-h100")
    layout = lay_out([one, one.renamed("b")])
    upper, lower = layout.nodes
    for part_id, box in upper.boxes.items():
        twin = lower.boxes[part_id]
        assert twin.rect[0] == box.rect[0]
        assert twin.rect[1] == pytest.approx(layout.fabric.rect[1] + layout.fabric.rect[3] - box.rect[3])
    gaps = {
        kind: min(layout.fabric.rect[1] - b.rect[3] for b in upper.boxes.values() if b.kind is kind)
        for kind in (BoxKind.NIC, BoxKind.GPU, BoxKind.SWITCH, BoxKind.CPU, BoxKind.MEMORY)
    }
    assert list(gaps.values()) == sorted(gaps.values())


def test_thickness_grows_with_the_logarithm_of_capacity() -> None:
    rates = [8e9, 16e9, 32e9, 64e9]
    steps = [b - a for a, b in itertools.pairwise(map(thickness_px, rates))]
    assert steps == pytest.approx([steps[0]] * 3)
    assert steps[0] > 0
    assert thickness_px(None) == thickness_px(1e6)


def test_a_link_below_its_maximum_is_marked() -> None:
    layout = lay_out([deep(2)])
    assert [link.of for link in layout.links if link.degraded] == ["mlx5_0"]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_from_files_never_break_the_layout(name: str) -> None:
    layout = lay_out([hostile(name), hostile(name)])
    frame = (0.0, 0.0, layout.width, layout.height)
    for label in all_labels(layout):
        assert inside(label.rect, frame)
        assert not any(ord(c) < 32 for c in label.text)
        assert "\u202e" not in label.text


def test_parts_of_unknown_sockets_are_shown_too() -> None:
    node = lay_out([machine("rootless")]).nodes[0]
    assert {"0000:17:00.0", "mlx5_0"} <= set(node.boxes)


def _nested(levels: int, devices: int = 1) -> Machine:
    bridges = tuple(Bridge(f"b{i}", f"b{i - 1}" if i else "cpu0") for i in range(levels))
    last = f"b{levels - 1}"
    gpus = tuple(Gpu(f"g{i}", i, last, f"0000:{i // 32:02x}:{i % 32:02x}.0") for i in range(devices))
    return Machine("odd", Parts((Cpu("cpu0", 0),), bridges, gpus))


@pytest.mark.parametrize("odd", [_nested(5000), _nested(1, devices=600)], ids=["deep", "wide"])
def test_what_no_picture_can_show_is_one_sentence(odd: Machine) -> None:
    with pytest.raises(GdvizError, match="a picture shows up to"):
        lay_out([odd])


def test_deeper_than_any_real_machine_is_still_drawn() -> None:
    assert lay_out([_nested(20)]).height > 300
