"""From what is asked (a path, a transfer) to what is lit: legs, names and capacities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gdviz.figures.lit import Lit
from gdviz.figures.node_layout import Layout
from gdviz.figures.path_table import pcie_text, place_name
from gdviz.figures.route import Leg, end_route, reversed_legs, wire_route
from gdviz.figures.shapes import BoxKind, Rect, bars, overlap
from gdviz.machine import Bridge, Cpu, Device, Gpu, Machine, Nic, Path
from gdviz.machine.interconnect import inter_socket_bytes_per_s
from gdviz.model.results import Place, PlaceKind, Side
from gdviz.model.workload import DataPath, Endpoint, Op


def path_lit(layout: Layout, node_index: int, path: Path) -> Lit:
    """Return the way from a GPU to a NIC of one node, lit."""
    node = layout.nodes[node_index]
    gpu, nic = node.machine.gpu(path.gpu), node.machine.nic(path.nic)
    side = Side.LOCAL if node_index == 0 else Side.REMOTE
    legs = end_route(node, side, nic, gpu, staged=False)
    return _lit(layout, tuple(legs), DataPath.DIRECT, {}, ((node_index, gpu.id), (node_index, nic.id)))


def transfer_lit(
    layout: Layout,
    ends: tuple[tuple[int, Endpoint], tuple[int, Endpoint]],
    path: DataPath,
    op: Op,
    capacities: Mapping[Place, float],
) -> Lit:
    """Return the whole way of a transfer's bytes, lit.

    Parameters
    ----------
    ends
        (node index, endpoint) of who posts, and of the other.
    op
        A READ's bytes come from the remote end, all others' from the local one.
    capacities
        Of the places that the model knows; others are taken from the machine.
    """
    halves, ports = [], []
    for (index, end), side in zip(ends, (Side.LOCAL, Side.REMOTE), strict=True):
        node = layout.nodes[index]
        memory = next((cpu for cpu in node.machine.cpus if cpu.numa == end.numa), None)
        memory = memory if end.numa is not None else None
        nic, gpu = end.nic_part, end.gpu_part
        halves.append(end_route(node, side, nic, gpu, staged=path is DataPath.STAGED, memory=memory))
        ports.append((node, nic))
    wire = wire_route(layout, ports[0], ports[1])
    legs = [*halves[0], *wire, *reversed_legs(halves[1])]
    if op is Op.READ:
        legs = reversed_legs(legs)
    devices = [(index, part) for index, end in ends for part in (_gpu_id(end), end.nic_part.id)]
    return _lit(layout, tuple(legs), path, capacities, devices)


def _gpu_id(end: Endpoint) -> str | None:
    return end.gpu_part.id if end.gpu_part else None


def _lit(
    layout: Layout,
    legs: tuple[Leg, ...],
    path: DataPath,
    known: Mapping[Place, float],
    ends: Sequence[tuple[int, str | None]],
) -> Lit:
    names: list[str] = []
    rates: list[float | None] = []
    inner: dict[tuple[int, str], None] = {}
    for leg in legs:
        machine = layout.nodes[leg.node].machine if leg.node >= 0 else None
        width = pcie_text(machine, leg.place)
        name = place_name(machine, leg.place)
        names.append(f"{name}: {width}" if width else name)
        rate = known.get(leg.place) or capacity_of(machine, leg.place)
        if rate is None and leg.place.kind is PlaceKind.WIRE:
            # What no source says, the ports at its ends do.
            rate = rates[-1] if rates else None
        rates.append(rate)
    for index, part_id in ends:
        node = layout.nodes[index]
        for part in node.machine.ancestors(part_id) if part_id else ():
            box = node.boxes.get(part.id)
            if box is not None and box.kind is BoxKind.SWITCH and _crossed(legs, index, box.rect):
                inner[index, part.id] = None
    devices = tuple((index, part_id) for index, part_id in ends if part_id)
    return Lit(legs, path.value, tuple(names), tuple(rates), tuple(dict.fromkeys(devices)), tuple(inner))


def _crossed(legs: tuple[Leg, ...], node: int, rect: Rect) -> bool:
    """Whether a path runs over a box."""
    mine = [leg for leg in legs if leg.node == node]
    return any(overlap(rect, line) for leg in mine for line in bars(leg.points, 1.0))


def capacity_of(machine: Machine | None, place: Place) -> float | None:
    """Return what the machine's own record says that a place carries one way, None if nothing."""
    if machine is None:
        return None
    part = next((part for part in machine if part.id == place.id), None)
    if place.kind is PlaceKind.MEMORY:
        return part.memory_bytes_per_s if isinstance(part, Cpu) else None
    if place.kind is PlaceKind.PORT:
        return part.speed_bytes_per_s if isinstance(part, Nic) else None
    if place.kind is PlaceKind.LINK:
        if part is None:
            return _sockets_rate(machine, place.id)
        if isinstance(part, Gpu) and part.c2c_bytes_per_s:
            return part.c2c_bytes_per_s
        if isinstance(part, Bridge | Gpu | Nic | Device):
            return part.link.bandwidth_bytes_per_s
    return None


def _sockets_rate(machine: Machine, place_id: str) -> float | None:
    for left in machine.cpus:
        for right in machine.cpus:
            if place_id == f"{left.id}-{right.id}":
                return inter_socket_bytes_per_s(left, right)
    return None


def needed(machine: Machine, *part_ids: str | None) -> frozenset[str]:
    """Return the ids that must not be folded if these parts are to be seen."""
    found: set[str] = set()
    for part_id in part_ids:
        if part_id is None:
            continue
        chain = machine.ancestors(part_id)
        found.update(part.id for part in chain)
    return frozenset(found)
