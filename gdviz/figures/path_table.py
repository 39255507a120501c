"""A path picture in words: an aligned table of hops, for a terminal or a screen reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gdviz.figures.route import Leg
from gdviz.figures.text_size import plain, text_width
from gdviz.figures.words import link_text
from gdviz.machine import Bridge, Cpu, Device, Gpu, Machine, Nic
from gdviz.messages import _
from gdviz.model.results import Place, PlaceKind
from gdviz.quantities import format_rate


def part_name(machine: Machine, part_id: str) -> str:
    """Return what people call a part: ``GPU 0``, the NIC's name, the CPU's id, else the kind and bus id."""
    part = machine.part(part_id)
    if isinstance(part, Gpu):
        return f"GPU {part.index}"
    if isinstance(part, Nic):
        return plain(part.name)
    if isinstance(part, Bridge):
        return f"{part.kind.value} {plain(part.id)}"
    if isinstance(part, Cpu):
        number = part.numa if part.numa >= 0 else machine.cpus.index(part)
        return f"CPU {number}"
    return plain(part.id)


def place_name(machine: Machine | None, place: Place) -> str:
    """Return what people call a place."""
    if place.kind is PlaceKind.WIRE or machine is None:
        return _("the wire")
    if place.kind is PlaceKind.PORT:
        return _("port of {name}").format(name=part_name(machine, place.id))
    if place.kind is PlaceKind.MEMORY:
        return _("host memory of {name}").format(name=part_name(machine, place.id))
    if place.kind is PlaceKind.LINK:
        if any(part.id == place.id for part in machine):
            return _("link of {name}").format(name=part_name(machine, place.id))
        return _("between CPU sockets")
    return part_name(machine, place.id)


def pcie_text(machine: Machine | None, place: Place) -> str:
    """Return generation and width of the PCIe link that a place is; empty for other places."""
    if machine is None or place.kind is not PlaceKind.LINK:
        return ""
    part = next((part for part in machine if part.id == place.id), None)
    if isinstance(part, Gpu) and part.c2c_bytes_per_s:
        return "C2C"
    return link_text(part.link) if isinstance(part, Bridge | Gpu | Nic | Device) else ""


def hop_rows(
    legs: Sequence[Leg],
    machines: Mapping[int, Machine],
    capacities: Sequence[float | None],
    loads: Sequence[float] | None,
    narrowest: Place | None,
) -> list[tuple[str, ...]]:
    """Return (node, hop, PCIe, capacity, load, remark) for every leg of a path."""
    rows: list[tuple[str, ...]] = []
    for i, leg in enumerate(legs):
        machine = machines.get(leg.node)
        capacity = capacities[i] if i < len(capacities) else None
        load = loads[i] if loads is not None and i < len(loads) else None
        rows.append(
            (
                plain(machine.name) if machine else "",
                place_name(machine, leg.place),
                pcie_text(machine, leg.place),
                format_rate(capacity) if capacity else "?",
                "" if load is None else f"{load * 100:.0f} %",
                _("narrowest") if leg.place == narrowest else "",
            )
        )
    return rows


def table(rows: Sequence[Sequence[str]], heads: Sequence[str]) -> str:
    """Return rows as aligned columns below their heads; empty columns are left out."""
    kept = [i for i in range(len(heads)) if any(row[i] for row in rows)]
    cells = [[head for i, head in enumerate(heads) if i in kept]]
    cells += [[row[i] for i in kept] for row in rows]
    widths = [max(_columns(row[i]) for row in cells) for i in range(len(kept))]
    lines = [
        "  ".join(c + " " * (w - _columns(c)) for c, w in zip(row, widths, strict=True)) for row in cells
    ]
    return "\n".join(line.rstrip() for line in lines)


def _columns(text: str) -> int:
    """Terminal columns of a text: a Chinese character takes two."""
    return sum(2 if text_width(c, 1.0) >= 1.0 and ord(c) > 0x2E80 else 1 for c in text)
