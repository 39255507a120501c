"""What is written beside a path covers nothing that matters."""

from __future__ import annotations

import itertools

import pytest

from gdviz.figures.lit import pieces
from gdviz.figures.path_picture import PathPicture
from gdviz.figures.shapes import BoxKind, overlap, tube_px
from gdviz.machine import PcieLink
from gdviz.model.results import Ceiling, Place, PlaceKind, Side
from gdviz.model.workload import DataPath, Endpoint
from tests.figures.machines import ALL, deep, machine


def picture(name: str, path: DataPath, gpu: int = 0, nic: int = -1) -> PathPicture:
    one = machine(name)
    other = one.renamed("other")
    shown = PathPicture([one, other])
    ends = [Endpoint(m, m.nics[nic].id, m.gpus[gpu].id) for m in (one, other)]
    shown.show_transfer(ends[0], ends[1], path)
    return shown


@pytest.mark.parametrize("path", list(DataPath))
@pytest.mark.parametrize("name", ALL)
def test_notes_cover_neither_devices_nor_labels_nor_the_path(name: str, path: DataPath) -> None:
    if not (machine(name).gpus and machine(name).nics):
        return
    shown = picture(name, path)
    for place in (shown.segments[0], shown.segments[len(shown.segments) // 2]):
        shown.set_bottleneck(Ceiling("PCIe Gen5 x16", place, 50e9))
        solid = (BoxKind.GPU, BoxKind.NIC, BoxKind.SWITCH, BoxKind.GROUP, BoxKind.DEVICE)
        walls = [box.rect for box in shown.layout.boxes if box.kind in solid]
        walls += [label.rect for label in shown.labels]
        for piece in pieces(shown.lit.legs):
            walls.append(piece.rect(tube_px(shown.lit.capacities[piece.segment])))
        for chip in shown.notes.chips:
            assert not any(overlap(chip.rect, wall) for wall in walls), chip
        for one, other in itertools.combinations(shown.notes.chips, 2):
            assert not overlap(one.rect, other.rect)


@pytest.mark.parametrize("name", ["hgx-h100", "dgx-a100", "pcie-a30"])
@pytest.mark.parametrize("path", list(DataPath))
def test_the_lit_links_say_their_generation_and_the_narrowest_is_named(name: str, path: DataPath) -> None:
    shown = picture(name, path)
    port = Place(Side.LOCAL, PlaceKind.PORT, machine(name).nics[-1].id)
    shown.set_bottleneck(Ceiling("NIC port 400 Gb/s", port, 48.9e9))
    texts = [chip.text.replace("\n", " ") for chip in shown.notes.chips]
    assert "narrowest: NIC port 400 Gb/s, 48.9 GB/s" in texts
    assert str(machine(name).nics[-1].link) in texts
    leg = next(leg for leg in shown.lit.legs if leg.place == port)
    assert shown.notes.collar is not None
    (x0, y0), (x1, y1) = leg.points
    left, top, right, bottom = shown.notes.collar
    assert left < x0 == x1 < right
    assert min(y0, y1) < top < bottom < max(y0, y1)


def test_a_narrow_place_inside_a_part_rings_its_box() -> None:
    shown = picture("hgx-h100", DataPath.STAGED, nic=0)
    shown.set_bottleneck(Ceiling("CPU work", Place(Side.REMOTE, PlaceKind.PART, "cpu0"), 12e9))
    box = shown.layout.nodes[1].boxes["cpu0"]
    assert shown.notes.collar == box.rect
    assert any(overlap(chip.rect, box.rect) and "12.0 GB/s" in chip.text for chip in shown.notes.chips)


@pytest.mark.parametrize("lit", [False, True])
def test_a_degraded_link_bears_both_figures(lit: bool) -> None:
    one = deep(2)
    assert one.nics[0].link == PcieLink(3, 8, 4, 16)
    shown = PathPicture([one])
    if lit:
        shown.show_path(0, one.path(0, 0))
    texts = [chip.text.replace("\n", " ") for chip in shown.notes.chips]
    assert "Gen3 x8 of Gen4 x16" in texts
