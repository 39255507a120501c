"""What is written beside a lit path: links' generations, the narrowest place, and its collar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gdviz.figures.chips import Chip, place_chip
from gdviz.figures.labels import Label, rects
from gdviz.figures.lit import WALL, Lit, pieces
from gdviz.figures.node_layout import Layout
from gdviz.figures.path_table import pcie_text
from gdviz.figures.shapes import BoxKind, Rect, bars, tube_px
from gdviz.machine import Bridge, Device, Gpu, Nic
from gdviz.messages import _
from gdviz.model.results import Ceiling, Place, PlaceKind
from gdviz.quantities import format_rate


@dataclass(frozen=True)
class Notes:
    """Labels on a ground, and the collar round the narrowest place."""

    chips: tuple[Chip, ...] = ()
    collar: Rect | None = None


def notes(layout: Layout, lit: Lit, labels: Sequence[Label], narrowest: Ceiling | None) -> Notes:
    """Return what to write beside a lit path, without covering boxes, labels or the path itself."""
    if not lit.legs:
        return Notes()
    walls = [box.rect for box in layout.boxes if box.kind in _SOLID]
    walls += rects(labels)
    walls += [piece.rect(tube_px(lit.capacities[piece.segment]), WALL + 1) for piece in pieces(lit.legs)]
    links = [rect for link in layout.links for rect in bars(link.points, 6.0)]
    area = (4.0, 2.0, layout.width - 4.0, layout.height - 2.0)
    found: list[Chip] = []
    collar = _collar(layout, lit, narrowest)
    if collar is not None:
        walls.append(collar)
    if narrowest is not None:
        chip = _narrowest(layout, lit, narrowest, walls, area)
        if chip is not None:
            found.append(chip)
            walls.append(chip.rect)
    # Over a socket's band, a link's generation would seem to be that of the way between sockets.
    walls += [box.rect for box in layout.boxes if box.kind in (BoxKind.CPU, BoxKind.MEMORY, BoxKind.PORT)]
    for group, text, degraded in _generations(layout, lit):
        words = [text, text.replace(" ", "\n", 1)]
        if degraded:
            words = [text, text.replace(_(" of "), "\n" + _("of "), 1).replace("  ", " ")]
        chip = place_chip(
            [lit.legs[i] for i in group],
            max(tube_px(lit.capacities[i]) for i in group) + 2 * WALL,
            words,
            walls,
            area,
            avoid=links,
            edge="warning" if degraded else "none",
        )
        if chip is not None:
            found.append(chip)
            walls.append(chip.rect)
    return Notes(tuple(found), collar)


_SOLID = (BoxKind.GPU, BoxKind.NIC, BoxKind.SWITCH, BoxKind.DEVICE, BoxKind.GROUP)


def _generations(layout: Layout, lit: Lit) -> list[tuple[list[int], str, bool]]:
    """Return (legs, 'Gen5 x16', degraded), one entry for neighbours that say the same."""
    found: list[tuple[list[int], str, bool]] = []
    said: set[Place] = set()
    last = (-2, "")
    for i, leg in enumerate(lit.legs):
        machine = layout.nodes[leg.node].machine if leg.node >= 0 else None
        text = pcie_text(machine, leg.place)
        if not text or machine is None:
            continue
        if last == (leg.node, text):
            found[-1][0].append(i)
        elif leg.place not in said:
            part = machine.part(leg.place.id)
            degraded = isinstance(part, Bridge | Gpu | Nic | Device) and part.link.degraded
            found.append(([i], text, degraded))
        said.add(leg.place)
        last = (leg.node, text)
    return found


def _collar(layout: Layout, lit: Lit, narrowest: Ceiling | None) -> Rect | None:
    if narrowest is None:
        return None
    mine = [p for p in pieces(lit.legs) if lit.legs[p.segment].place == narrowest.place]
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


def _narrowest(layout: Layout, lit: Lit, ceiling: Ceiling, walls: Sequence[Rect], area: Rect) -> Chip | None:
    rate = format_rate(ceiling.bytes_per_s)
    words = [
        _("narrowest: {name}, {rate}").format(name=ceiling.name, rate=rate),
        _("narrowest:\n{name}\n{rate}").format(name=ceiling.name, rate=rate),
    ]
    at = [i for i, leg in enumerate(lit.legs) if leg.place == ceiling.place]
    if not at:
        # Inside a part: beside the legs that touch it.
        at = [i for i, leg in enumerate(lit.legs) if ceiling.place.side == leg.place.side] or [0]
    near = [*at, *(i + d for i in at for d in (1, -1) if 0 <= i + d < len(lit.legs))]
    legs = [lit.legs[i] for i in dict.fromkeys(near)]
    tube = max(tube_px(lit.capacities[i]) for i in near) + 11.0
    return place_chip(legs, tube, words, walls, area, sizes=(13, 12), edge="warning", bold=True)


def part_collar(layout: Layout, node: int, place: Place) -> Rect | None:
    """Return the rectangle of the box inside which a place is, if it is inside one."""
    if place.kind not in (PlaceKind.PART, PlaceKind.MEMORY) or node < 0:
        return None
    key = f"memory:{place.id}" if place.kind is PlaceKind.MEMORY else place.id
    box = layout.nodes[node].boxes.get(key)
    return box.rect if box else None
