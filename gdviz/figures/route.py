"""The line that the bytes take through a path picture, cut into legs by place.

A leg belongs to one `Place` of the model (a link, a host memory, a port, the wire); the short way inside a
switch or CPU belongs to the link before it. Where a staged path climbs a link and comes down the same one,
its two lanes run beside each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gdviz.figures.node_layout import Layout, NodeLayout
from gdviz.figures.shapes import BoxKind, Point
from gdviz.machine import Bridge, BridgeKind, Cpu, Gpu, Nic, Part
from gdviz.model.results import Place, PlaceKind, Side

#: Half the distance between the two lanes of a staged path.
LANE_OFFSET = 8.5


@dataclass(frozen=True, slots=True)
class Leg:
    """A piece of a route.

    Attributes
    ----------
    place
        What it runs on.
    node
        0 upper, 1 lower; -1 for the wire.
    points
        Corners in the direction of the bytes, in the picture's pixels.
    joined
        Whether it goes on from the leg before it, without a box between.
    """

    place: Place
    node: int
    points: tuple[Point, ...]
    joined: bool = False


@dataclass(slots=True)
class _Walk:
    """Collects legs of one node in its own y, from memory or GPU to the NIC's edge."""

    side: Side
    legs: list[tuple[Place, list[Point]]]

    def go(self, kind: PlaceKind, part_id: str, *points: Point) -> None:
        place = Place(self.side, kind, part_id)
        if self.legs and self.legs[-1][0] == place:
            self.legs[-1][1].extend(points)
            return
        start = [self.legs[-1][1][-1]] if self.legs else []
        self.legs.append((place, [*start, *points]))

    def on(self, *points: Point) -> None:
        """Go on with the leg before."""
        self.legs[-1][1].extend(points)


def end_route(
    node: NodeLayout, side: Side, nic: Nic, gpu: Gpu | None, *, staged: bool, memory: Cpu | None = None
) -> list[Leg]:
    """Return the legs from GPU (or host) memory to a NIC of one node.

    Parameters
    ----------
    staged
        Whether the bytes stop in host memory on the way.
    memory
        CPU of that host memory; None for the NIC's own.
    """
    if any(node.hidden_in(part.id) for part in (nic, gpu) if part is not None):
        raise ValueError("a route to a part that is folded away")
    walk = _Walk(side, [])
    down = _bridges(node, nic)
    nic_cpu = node.machine.cpu_of(nic.id)
    store = memory or nic_cpu or next(iter(node.machine.cpus), None)
    if gpu is not None and not staged:
        _direct(node, walk, gpu, nic)
    elif store is not None:
        _through_memory(node, walk, gpu, nic, store)
    else:
        top = down[-1]
        x = node.up.get(top.id, node.up[nic.id])
        walk.go(PlaceKind.LINK, nic.id, (x, 0.0))
        _descend(node, walk, down, None, x)
    return [
        Leg(place, node.index, tuple((x, node.y(y)) for x, y in _tidy(points)), joined=i > 0)
        for i, (place, points) in enumerate(walk.legs)
        if len(_tidy(points)) > 1
    ]


def _bridges(node: NodeLayout, part: Part) -> list[Part]:
    """Return a device and the bridges above it, up to its CPU, which is left out."""
    chain: list[Part] = [p for p in node.machine.ancestors(part.id) if not isinstance(p, Cpu)]
    lowest = chain[0]
    if isinstance(lowest, Gpu) and lowest.c2c_bytes_per_s:
        return [lowest]
    return chain


def _edges(node: NodeLayout, part_id: str) -> tuple[float, float]:
    return node.own(node.boxes[part_id])


def _middle(node: NodeLayout, part_id: str) -> float:
    far, near = _edges(node, part_id)
    return (far + near) / 2


def _is_link(part: Part) -> bool:
    """Whether the model counts a part's uplink as a place of its own."""
    if isinstance(part, Bridge):
        return part.kind is BridgeKind.SWITCH
    return not (isinstance(part, Nic) and part.busid is None)


def _climb(
    node: NodeLayout, walk: _Walk, chain: Sequence[Part], lanes: dict[str, tuple[float, float]], top: float
) -> float:
    """Go from a device up through its bridges to own y `top`; return the x there."""
    x = node.up[chain[0].id]
    for i, part in enumerate(chain):
        if i == 0:
            walk.go(PlaceKind.LINK, part.id, (x, _edges(node, part.id)[0]))
        lane_x, turn = lanes.get(part.id, (node.up[part.id], 0.0))
        if i:
            y = _middle(node, part.id) + turn
            walk.on((x, y), (lane_x, y))
            if _is_link(part):
                walk.go(PlaceKind.LINK, part.id)
        x = lane_x
    walk.on((x, top))
    return x


def _descend(
    node: NodeLayout,
    walk: _Walk,
    chain: Sequence[Part],
    lanes: dict[str, tuple[float, float]] | None,
    x: float,
) -> None:
    """Go from x, above the topmost of `chain`, down to the device that is its first."""
    for part in reversed(chain):
        if part is chain[0]:
            walk.go(PlaceKind.LINK, part.id) if _is_link(part) else None
            walk.on((x, _edges(node, part.id)[0]))
            return
        turn = (lanes or {}).get(part.id, (0.0, 0.0))[1]
        y = _middle(node, part.id) + turn
        if _is_link(part):
            walk.go(PlaceKind.LINK, part.id)
        walk.on((x, y))
        x = _below(node, chain, part, lanes)
        walk.on((x, y))


def _below(
    node: NodeLayout,
    chain: Sequence[Part],
    part: Part,
    lanes: dict[str, tuple[float, float]] | None,
) -> float:
    child = chain[chain.index(part) - 1]
    return (lanes or {}).get(child.id, (node.up[child.id], 0.0))[0]


def _direct(node: NodeLayout, walk: _Walk, gpu: Gpu, nic: Nic) -> None:
    up, down = _bridges(node, gpu), _bridges(node, nic)
    shared = [part for part in up if part in down]
    if shared:
        joint = shared[0]
        up, down = up[: up.index(joint)], down[: down.index(joint)]
        y = _middle(node, joint.id)
        x = _climb(node, walk, up, {}, y)
        target = node.up[down[-1].id]
        walk.on((target, y))
        _descend(node, walk, down, None, target)
        return
    left, right = node.machine.cpu_of(gpu.id), node.machine.cpu_of(nic.id)
    target = node.up[down[-1].id]
    x = _climb(node, walk, up, {}, node.lane_y)
    if left is not None and left == right:
        walk.on((target, node.lane_y))
    elif left is None or right is None:
        # The source names no CPU: what joins the two trees is a place all the same.
        order = [part.id for part in node.machine]
        tops = sorted((node.machine.ancestors(p.id)[-1].id for p in (gpu, nic)), key=order.index)
        walk.go(PlaceKind.LINK, "-".join(tops), (target, node.lane_y))
    else:
        _between(node, walk, left, right, x, target)
    _descend(node, walk, down, None, target)


def _between(node: NodeLayout, walk: _Walk, start: Cpu, end: Cpu, x: float, target: float) -> None:
    """Go from one CPU's lane at `x` to another's at `target`."""
    cpus = list(node.machine.cpus)
    here, there = cpus.index(start), cpus.index(end)
    first, second = (start, end) if here < there else (end, start)
    name = f"{first.id}-{second.id}"
    if abs(here - there) == 1:
        # Leave one band at its side, enter the next: the crossing is a place of its own.
        edge = node.boxes[start.id].rect[2 if there > here else 0]
        entry = node.boxes[end.id].rect[0 if there > here else 2]
        walk.on((edge, node.lane_y))
        walk.go(PlaceKind.LINK, name, (entry, node.lane_y))
        walk.on((target, node.lane_y))
        return
    # Past other sockets: in the gap between CPUs and memory, clear of their names.
    walk.on((x, node.lane_y))
    walk.go(PlaceKind.LINK, name, (x, node.gap_y), (target, node.gap_y), (target, node.lane_y))


def _through_memory(node: NodeLayout, walk: _Walk, gpu: Gpu | None, nic: Nic, store: Cpu) -> None:
    down = _bridges(node, nic)
    nic_cpu = node.machine.cpu_of(nic.id) or store
    nic_x = node.up[down[-1].id]
    y = node.memory_y
    if gpu is None:
        x = nic_x if nic_cpu == store else _clamped(node, store, nic_x)
        walk.go(PlaceKind.MEMORY, store.id, (x, y), (x, node.cpu_bottom - 1.0))
        _out(node, walk, store, nic_cpu, x, nic_x)
        _descend(node, walk, down, None, nic_x)
        return
    up = _bridges(node, gpu)
    gpu_cpu = node.machine.cpu_of(gpu.id) or store
    climbing, coming = _lanes(node, up, down)
    gpu_x = climbing.get(up[-1].id, (node.up[up[-1].id], 0.0))[0]
    nic_x = coming.get(down[-1].id, (node.up[down[-1].id], 0.0))[0]
    if gpu_cpu == store and nic_cpu == store:
        x_in, x_out = gpu_x, nic_x
    elif nic_cpu == store:
        x_out = nic_x
        x_in = x_out + (2 * LANE_OFFSET if gpu_x > nic_x else -2 * LANE_OFFSET)
    elif gpu_cpu == store:
        x_in = gpu_x
        x_out = x_in + (2 * LANE_OFFSET if nic_x > gpu_x else -2 * LANE_OFFSET)
    else:
        x_in = _clamped(node, store, gpu_x)
        away = 2 * LANE_OFFSET if nic_x > x_in else -2 * LANE_OFFSET
        x_out = _clamped(node, store, x_in + away)
        x_in = x_out - away if x_out == x_in else x_in
    if gpu_cpu == store:
        _climb(node, walk, up, climbing, node.cpu_bottom)
    else:
        x = _climb(node, walk, up, climbing, node.lane_y)
        _between(node, walk, gpu_cpu, store, x, x_in)
    walk.go(PlaceKind.MEMORY, store.id, (x_in, y), (x_out, y))
    walk.on((x_out, node.cpu_bottom if nic_cpu == store else node.lane_y))
    if nic_cpu != store:
        _between(node, walk, store, nic_cpu, x_out, nic_x)
    _descend(node, walk, down, coming, nic_x)


def _out(node: NodeLayout, walk: _Walk, store: Cpu, nic_cpu: Cpu, x: float, nic_x: float) -> None:
    if store != nic_cpu:
        walk.on((x, node.lane_y))
        _between(node, walk, store, nic_cpu, x, nic_x)


def _clamped(node: NodeLayout, cpu: Cpu, x: float) -> float:
    left, right = node.bands[cpu.id]
    return min(max(x, left + 3 * LANE_OFFSET), right - 3 * LANE_OFFSET)


def _lanes(
    node: NodeLayout, up: list[Part], down: list[Part]
) -> tuple[dict[str, tuple[float, float]], dict[str, tuple[float, float]]]:
    """Return, for the bridges that both ways share, (x of the lane, shift of the turn) up and down."""
    shared = [part for part in up if part in down]
    if not shared:
        return {}, {}
    gpu_side = node.up[up[up.index(shared[0]) - 1].id]
    nic_side = node.up[down[down.index(shared[0]) - 1].id]
    sign = 1.0 if nic_side >= gpu_side else -1.0
    climbing: dict[str, tuple[float, float]] = {}
    coming: dict[str, tuple[float, float]] = {}
    for part in shared:
        x = node.up[part.id]
        up_x, down_x = x - sign * LANE_OFFSET, x + sign * LANE_OFFSET
        turn = 0.0
        apart = max(min(nic_side, down_x) - max(gpu_side, up_x), min(gpu_side, up_x) - max(nic_side, down_x))
        if apart < 2 * LANE_OFFSET - 2:
            # Their turns would touch: who comes from farther takes the upper way.
            turn = 5.5 if abs(gpu_side - x) > abs(nic_side - x) else -5.5
        climbing[part.id] = (up_x, -turn)
        coming[part.id] = (down_x, turn)
        gpu_side, nic_side = up_x, down_x
    return climbing, coming


def _tidy(points: Sequence[Point]) -> list[Point]:
    """Leave out repeated points and points in the middle of a straight line."""
    kept: list[Point] = []
    for point in points:
        if kept and abs(kept[-1][0] - point[0]) < 0.01 and abs(kept[-1][1] - point[1]) < 0.01:
            continue
        if len(kept) > 1 and _straight(kept[-2], kept[-1], point):
            kept.pop()
        kept.append(point)
    return kept


def _straight(a: Point, b: Point, c: Point) -> bool:
    return (abs(a[0] - b[0]) < 0.01 and abs(b[0] - c[0]) < 0.01) or (
        abs(a[1] - b[1]) < 0.01 and abs(b[1] - c[1]) < 0.01
    )


def reversed_legs(legs: Sequence[Leg]) -> list[Leg]:
    """Return the same legs walked the other way."""
    turned = [replace(leg, points=leg.points[::-1]) for leg in reversed(legs)]
    joined = [False, *(leg.joined for leg in reversed(legs[1:]))]
    return [replace(leg, joined=join) for leg, join in zip(turned, joined, strict=True)]


def wire_route(layout: Layout, local: tuple[NodeLayout, Nic], remote: tuple[NodeLayout, Nic]) -> list[Leg]:
    """Return the legs from one NIC's port over the wire to another's."""
    _, top, _, bottom = layout.fabric.rect
    middle = (top + bottom) / 2
    here, there = _port(layout, *local, Side.LOCAL), _port(layout, *remote, Side.REMOTE)
    start, end = here.points[-1], there.points[-1]
    if start == end:
        corners: list[Point] = [start, (start[0], middle)]
    elif start[0] == end[0]:
        corners = [start, end]
    else:
        corners = [start, (start[0], middle), (end[0], middle), end]
    wire = Leg(Place(Side.WIRE, PlaceKind.WIRE, "fabric"), -1, tuple(_tidy(corners)), joined=True)
    last = replace(there, points=there.points[::-1], joined=True)
    return [here, wire, last]


def _port(layout: Layout, node: NodeLayout, nic: Nic, side: Side) -> Leg:
    x = node.up[nic.id]
    near = node.own(node.boxes[nic.id])[1]
    edge = layout.fabric.rect[1] if not node.flipped else layout.fabric.rect[3]
    return Leg(Place(side, PlaceKind.PORT, nic.id), node.index, ((x, node.y(near)), (x, edge)))


def is_band(kind: BoxKind) -> bool:
    """Whether a path may run over boxes of that kind."""
    return kind in (BoxKind.CPU, BoxKind.MEMORY, BoxKind.FABRIC, BoxKind.PORT, BoxKind.SWITCH)
