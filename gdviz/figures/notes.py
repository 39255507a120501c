"""What is written beside a lit path: links' generations, the narrowest place, and its collar."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from gdviz.figures.chips import Chip, chip_size, place_chip
from gdviz.figures.labels import Label, rects
from gdviz.figures.lit import WALL, Lit, pieces
from gdviz.figures.node_layout import Layout
from gdviz.figures.path_table import pcie_text
from gdviz.figures.picture_columns import link_key
from gdviz.figures.route import Leg
from gdviz.figures.shapes import Box, BoxKind, LinkKind, Rect, bars, overlap, tube_px
from gdviz.figures.words import link_wordings
from gdviz.machine import Bridge, Device, Gpu, Nic, PcieLink
from gdviz.messages import _
from gdviz.model.results import Ceiling, Place, PlaceKind, Side
from gdviz.quantities import format_rate

_SOLID = (BoxKind.GPU, BoxKind.NIC, BoxKind.SWITCH, BoxKind.DEVICE, BoxKind.GROUP)
_BANDS = (BoxKind.CPU, BoxKind.MEMORY, BoxKind.PORT)


@dataclass(frozen=True)
class Notes:
    """Labels on a ground, and the collar round the narrowest place."""

    chips: tuple[Chip, ...] = ()
    collar: Rect | None = None


@dataclass(slots=True)
class _Ground:
    """What is taken already, and what is written where there was room."""

    walls: list[Rect]
    links: list[Rect]
    area: Rect
    chips: list[Chip] = field(default_factory=list)

    def add(self, chip: Chip | None) -> None:
        if chip is not None:
            self.chips.append(chip)
            self.walls.append(chip.rect)


def notes(
    layout: Layout, lit: Lit, labels: Sequence[Label], narrowest: Ceiling | None, narrowest_node: int = -1
) -> Notes:
    """Return what to write beside links, without covering boxes, labels or a lit path.

    Parameters
    ----------
    narrowest
        The place to name and to put a collar round.
    narrowest_node
        Index of the node it is in.
    """
    ground = _Ground(
        [box.rect for box in layout.boxes if box.kind in _SOLID] + rects(labels),
        [rect for link in layout.links for rect in bars(link.points, 6.0)],
        (4.0, 2.0, layout.width - 4.0, layout.height - 2.0),
    )
    ground.walls += [p.rect(tube_px(lit.capacities[p.segment]), WALL + 1) for p in pieces(lit.legs)]
    collar = _collar(lit, narrowest)
    box = part_box(layout, narrowest_node, narrowest.place) if narrowest and collar is None else None
    if collar is not None:
        ground.walls.append(collar)
    if narrowest is not None and (lit.legs or box is not None):
        ground.add(_narrowest(lit, narrowest, box, ground))
    # Over a socket's band, a link's generation would seem to be that of the way between sockets.
    ground.walls += [box.rect for box in layout.boxes if box.kind in _BANDS]
    for group, link in _lit_links(layout, lit):
        ground.add(
            place_chip(
                [step for i in group for step in _off_bands(layout, lit.legs[i])],
                max(tube_px(lit.capacities[i]) for i in group) + 2 * WALL,
                link_wordings(link),
                ground.walls,
                ground.area,
                avoid=ground.links,
                edge="warning" if link.degraded else "none",
            )
        )
    _add_degraded(layout, lit, ground)
    if collar is None and box is not None:
        collar = box.rect
    return Notes(tuple(ground.chips), collar)


def _pcie(layout: Layout, node: int, part_id: str) -> PcieLink | None:
    """Return the uplink of a part, None if it has none that is PCIe."""
    machine = layout.nodes[node].machine
    part = next((part for part in machine if part.id == part_id), None)
    return part.link if isinstance(part, Bridge | Gpu | Nic | Device) else None


def _off_bands(layout: Layout, leg: Leg) -> list[Leg]:
    """Return a leg's straight pieces, those inside a CPU or memory left out."""
    bands = [box.rect for box in layout.boxes if box.kind in (BoxKind.CPU, BoxKind.MEMORY)]
    steps = [replace(leg, points=step) for step in itertools.pairwise(leg.points)]
    return [
        step
        for step in steps
        if not any(
            min(y for _x, y in step.points) >= top and max(y for _x, y in step.points) <= bottom
            for _left, top, _right, bottom in bands
        )
    ]


def _lit_links(layout: Layout, lit: Lit) -> list[tuple[list[int], PcieLink]]:
    """Return (legs, their PCIe link), one entry for neighbours that say the same."""
    found: list[tuple[list[int], PcieLink]] = []
    said: set[Place] = set()
    last = (-2, "")
    for i, leg in enumerate(lit.legs):
        machine = layout.nodes[leg.node].machine if leg.node >= 0 else None
        text = pcie_text(machine, leg.place)
        link = _pcie(layout, leg.node, leg.place.id) if text else None
        if link is None or not link_wordings(link):
            continue
        if last == (leg.node, text):
            found[-1][0].append(i)
        elif leg.place not in said:
            found.append(([i], link))
        said.add(leg.place)
        last = (leg.node, text)
    return found


def _add_degraded(layout: Layout, lit: Lit, ground: _Ground) -> None:
    """Write both figures beside links trained below their maximum that are not lit, where there is room."""
    covered = {link_key(leg.node, leg.place) for leg in lit.legs}
    for link in layout.links:
        if not link.degraded or link.kind is not LinkKind.PCIE:
            continue
        pcie = _pcie(layout, link.node, link.of)
        if (link.node, link.of, link.kind) in covered or pcie is None:
            continue
        leg = Leg(Place(Side.LOCAL, PlaceKind.LINK, link.of), link.node, link.points)
        others = [rect for other in layout.links if other != link for rect in bars(other.points, 6.0)]
        walls = ground.walls + others
        ground.add(place_chip([leg], 9.0, link_wordings(pcie), walls, ground.area, role="faint"))


def _collar(lit: Lit, narrowest: Ceiling | None) -> Rect | None:
    """Return a ring round the middle of the leg that is the narrowest place."""
    mine = [p for p in pieces(lit.legs) if narrowest and lit.legs[p.segment].place == narrowest.place]
    if not mine:
        return None
    longest = max(mine, key=lambda p: abs(p.end[0] - p.start[0]) + abs(p.end[1] - p.start[1]))
    (x0, y0), (x1, y1) = longest.start, longest.end
    x, y = (x0 + x1) / 2, (y0 + y1) / 2
    across = tube_px(lit.capacities[longest.segment]) / 2 + 5.5
    along = 6.0
    if abs(x1 - x0) > abs(y1 - y0):
        return x - along, y - across, x + along, y + across
    return x - across, y - along, x + across, y + along


def _narrowest(lit: Lit, ceiling: Ceiling, box: Box | None, ground: _Ground) -> Chip | None:
    rate = format_rate(ceiling.bytes_per_s)
    words = [
        _("narrowest: {name}, {rate}").format(name=ceiling.name, rate=rate),
        _("narrowest:\n{name}\n{rate}").format(name=ceiling.name, rate=rate),
        _("narrowest: {rate}").format(rate=rate),
    ]
    if box is not None and box.kind in _BANDS:
        chip = _in_band(box, [words[0], words[2]], ground)
        if chip is not None:
            return chip
    at = [i for i, leg in enumerate(lit.legs) if leg.place == ceiling.place]
    if not at:
        # Inside a part: beside the legs that touch it, else those of its end.
        mine = [i for i, leg in enumerate(lit.legs) if ceiling.place.side == leg.place.side]
        at = sorted(mine, key=lambda i: lit.legs[i].place.id != ceiling.place.id)
    near = [*at, *(i + d for i in at for d in (1, -1) if 0 <= i + d < len(lit.legs))]
    legs = [lit.legs[i] for i in dict.fromkeys(near)]
    tube = max((tube_px(lit.capacities[i]) for i in near), default=9.0) + 11.0
    return place_chip(legs, tube, words, ground.walls, ground.area, sizes=(13, 12), edge="warning", bold=True)


def _in_band(box: Box, texts: Sequence[str], ground: _Ground) -> Chip | None:
    """Return a label inside a CPU's or memory's band, clear of its name and of the path."""
    for text, size in ((text, size) for text in texts for size in (13, 12)):
        width, height = chip_size(text, size, bold=True, edge="warning")
        left, right = box.rect[0] + width / 2 + 6, box.rect[2] - width / 2 - 6
        spots = range(int(right), int(left) - 1, -6)
        for x in spots:
            rect = (x - width / 2, box.centre[1] - height / 2, x + width / 2, box.centre[1] + height / 2)
            if not any(overlap(rect, wall) for wall in ground.walls):
                return Chip(float(x), box.centre[1], text, size, "ink", "warning", bold=True)
    return None


def part_box(layout: Layout, node: int, place: Place) -> Box | None:
    """Return the box inside which a place is, if it is inside one that is shown."""
    if place.kind not in (PlaceKind.PART, PlaceKind.MEMORY) or node < 0:
        return None
    key = f"memory:{place.id}" if place.kind is PlaceKind.MEMORY else place.id
    return layout.nodes[node].boxes.get(key)
