"""Where everything of a path picture stands: Machines in, frozen boxes and links out. No Bokeh here.

Two nodes are mirrored, node 0 above and node 1 below, NICs nearest the wire between them. A node is laid
out once, as the upper one, in its own y from 0 (the edge of the picture) to `depth` (the edge of the
fabric); `NodeLayout.y` turns that into the picture's y.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gdviz.figures.columns import (
    Column,
    columns_of,
    folding,
    least_width,
    orphan_columns,
    orphans,
    place,
)
from gdviz.figures.shapes import Box, BoxKind, Link, LinkKind, Point, Rect
from gdviz.figures.words import box_lines, node_lines
from gdviz.machine import Bridge, Cpu, Gpu, Machine, Nic, PeerKind
from gdviz.machine.interconnect import inter_socket_bytes_per_s

WIDTH = 960.0
MARGIN = 8.0
TOP, BOTTOM = 30.0, 20.0
SOCKET_GAP = 16.0
#: Id of the pseudo-socket that holds parts whose CPU the source does not give.
NO_CPU = ""


@dataclass(frozen=True, slots=True)
class Rows:
    """Heights of a node's rows and of the gaps below them, from the edge of the picture to the wire."""

    memory: float
    memory_gap: float
    cpu: float
    cpu_gap: float
    switch: float
    switch_gap: float
    gpu: float
    gpu_gap: float
    nic: float
    nic_gap: float
    fabric: float


#: For two nodes, one node, and by how many switches stand above each other.
_PAIR = Rows(22, 8, 34, 25, 22, 23, 40, 17, 40, 30, 32)
_PAIR_DEEP = Rows(20, 8, 32, 18, 18, 15, 38, 15, 38, 28, 30)
_PAIR_DEEPER = Rows(20, 7, 32, 15, 16, 12, 36, 13, 36, 26, 30)
_ALONE = Rows(28, 10, 36, 30, 26, 28, 50, 20, 54, 28, 26)
_ALONE_DEEP = Rows(26, 8, 34, 22, 20, 17, 48, 18, 52, 26, 26)
TAB_PX = 7.0


@dataclass(frozen=True)
class NodeLayout:
    """One node's boxes and links.

    Attributes
    ----------
    boxes
        By part id; host memory under ``memory:`` and the CPU's id.
    up
        x at which a part's uplink leaves it (for a NIC, also its port).
    gutters
        Rectangles at the left of each socket, where the labels stand; no path runs there.
    folded
        Ids of the bridges (or CPUs) shown as one box.
    """

    index: int
    machine: Machine
    base: float
    flipped: bool
    depth: float
    rows: Rows
    boxes: Mapping[str, Box]
    links: tuple[Link, ...]
    up: Mapping[str, float]
    gutters: tuple[tuple[str, Rect], ...]
    folded: frozenset[str]
    bands: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def y(self, local: float) -> float:
        """Return the picture's y of this node's own y."""
        return self.base - local if self.flipped else self.base + local

    @property
    def memory_y(self) -> float:
        """Own y of the middle of the host memory."""
        return self.rows.memory / 2

    @property
    def gap_y(self) -> float:
        """Own y between memory and CPUs, where links between distant sockets run."""
        return self.rows.memory + self.rows.memory_gap / 2

    @property
    def lane_y(self) -> float:
        """Own y in the CPUs' bands at which a path crosses them, clear of their names."""
        return self.cpu_bottom - 9.0

    @property
    def cpu_bottom(self) -> float:
        """Own y of the CPUs' edge towards the devices."""
        return self.rows.memory + self.rows.memory_gap + self.rows.cpu

    def own(self, box: Box) -> tuple[float, float]:
        """Return a box's own y: (far from the wire, near the wire)."""
        _, top, _, bottom = box.rect
        return (self.base - bottom, self.base - top) if self.flipped else (top - self.base, bottom - self.base)

    def hidden_in(self, part_id: str) -> str | None:
        """Return the id of the group that a part is folded into, None if it is shown."""
        for part in self.machine.ancestors(part_id):
            if part.id in self.folded:
                return part.id
        return None


@dataclass(frozen=True)
class Layout:
    """A whole picture.

    Attributes
    ----------
    fabric
        The box of the wire between the nodes, or at the foot of one node alone.
    """

    width: float
    height: float
    nodes: tuple[NodeLayout, ...]
    fabric: Box

    @property
    def boxes(self) -> tuple[Box, ...]:
        """All boxes, the fabric last."""
        return (*(box for node in self.nodes for box in node.boxes.values()), self.fabric)

    @property
    def links(self) -> tuple[Link, ...]:
        """All links."""
        return tuple(link for node in self.nodes for link in node.links)


def lay_out(
    machines: Sequence[Machine], opened: Sequence[frozenset[str]] = (), fabric_lines: tuple[str, ...] = ()
) -> Layout:
    """Lay out one or two machines.

    Parameters
    ----------
    machines
        One or two.
    opened
        For each, the ids of parts that must not be folded away.
    fabric_lines
        What is written on the wire.

    Returns
    -------
    Layout
        960 wide; the height follows from how many switches stand above each other.
    """
    alone = len(machines) == 1
    plans = [
        _plan(machine, opened[i] if i < len(opened) else frozenset(), alone)
        for i, machine in enumerate(machines)
    ]
    fabric_height = plans[0].rows.fabric
    upper = plans[0].depth
    fabric_top = TOP + upper
    height = fabric_top + fabric_height + BOTTOM + (0.0 if alone else plans[1].depth)
    nodes = [_build(plans[0], 0, TOP, flipped=False)]
    if not alone:
        nodes.append(_build(plans[1], 1, height - BOTTOM, flipped=True))
    left = MARGIN + 4
    fabric = Box(
        0, "fabric", BoxKind.FABRIC, (left, fabric_top, WIDTH - MARGIN, fabric_top + fabric_height), fabric_lines
    )
    return Layout(WIDTH, height, tuple(nodes), fabric)


@dataclass(slots=True)
class _Socket:
    cpu: Cpu | None
    columns: list[Column]
    least: float
    gutter: float
    left: float = 0.0
    right: float = 0.0

    @property
    def id(self) -> str:
        return self.cpu.id if self.cpu else NO_CPU


@dataclass(slots=True)
class _Plan:
    machine: Machine
    folded: frozenset[str]
    sockets: list[_Socket]
    rows: Rows
    levels: int
    tiers: int
    gpu_top: float
    depth: float


def _gutter(count: int, first: bool) -> float:
    if first:
        return 104.0 if count <= 2 else 96.0
    return 68.0 if count <= 2 else 54.0


def _plan(machine: Machine, opened: frozenset[str], alone: bool) -> _Plan:
    count = len(machine.cpus) + bool(orphans(machine))
    gutters = [_gutter(count, i == 0) for i in range(max(1, count))]
    fixed = sum(gutters) + SOCKET_GAP * max(0, count - 1) + 10 * count
    room = WIDTH - 2 * MARGIN
    folded = folding(machine, room, opened, fixed)
    sockets = []
    for i, cpu in enumerate(machine.cpus):
        if cpu.id in folded:
            columns = [Column(cpu, BoxKind.GROUP)]
        else:
            columns = columns_of(machine, cpu.id, folded)
        sockets.append(_Socket(cpu, columns, least_width(columns), gutters[i]))
    if orphans(machine):
        columns = orphan_columns(machine, folded)
        sockets.append(_Socket(None, columns, least_width(columns), gutters[-1]))
    _share(sockets, room)
    shown = [column for socket in sockets for top in socket.columns for column in top.walk()]
    levels = max((c.level + 1 for c in shown if c.kind in (BoxKind.SWITCH, BoxKind.GROUP)), default=0)
    tiers = max((c.level + 1 for c in shown if c.kind is BoxKind.PORT), default=0)
    choice = (_ALONE, _ALONE_DEEP, _ALONE_DEEP) if alone else (_PAIR, _PAIR_DEEP, _PAIR_DEEPER)
    rows = choice[min(max(levels - 1, 0), 2)]
    gpu_top = rows.memory + rows.memory_gap + rows.cpu + rows.cpu_gap + tiers * TAB_PX * (tiers > 1)
    gpu_top += levels * (rows.switch + rows.switch_gap)
    depth = gpu_top + rows.gpu + rows.gpu_gap + rows.nic + rows.nic_gap
    return _Plan(machine, folded, sockets, rows, levels, tiers, gpu_top, depth)


def _share(sockets: list[_Socket], room: float) -> None:
    """Give each socket its extent, its label's gutter at the left, in proportion to what it needs."""
    free = room - sum(s.gutter for s in sockets) - SOCKET_GAP * max(0, len(sockets) - 1)
    # A socket without devices still shows a band.
    needs = [max(s.least, 40.0) for s in sockets]
    at = MARGIN
    for socket, need in zip(sockets, needs, strict=True):
        width = socket.gutter + free * need / sum(needs)
        socket.left, socket.right = at, at + width
        inner = (at + socket.gutter + 5.0, at + width - 5.0)
        place(socket.columns, *inner)
        at += width + SOCKET_GAP


class _Builder:
    """Collects one node's boxes and links."""

    def __init__(self, plan: _Plan, index: int, base: float, flipped: bool) -> None:
        self.plan, self.index, self.base, self.flipped = plan, index, base, flipped
        self.boxes: dict[str, Box] = {}
        self.links: list[Link] = []
        self.up: dict[str, float] = {}

    def y(self, local: float) -> float:
        return self.base - local if self.flipped else self.base + local

    def rect(self, left: float, far: float, right: float, near: float) -> Rect:
        top, bottom = sorted((self.y(far), self.y(near)))
        return left, top, right, bottom

    def box(
        self, key: str, part: str, kind: BoxKind, rect: Rect, lines: tuple[str, ...] = ()
    ) -> None:
        self.boxes[key] = Box(self.index, part, kind, rect, lines)

    def link(
        self, of: str, kind: LinkKind, points: Sequence[Point], rate: float | None, degraded: bool = False
    ) -> None:
        turned = tuple((x, self.y(y)) for x, y in points)
        self.links.append(Link(self.index, of, kind, turned, rate, degraded))

    def socket(self, socket: _Socket) -> None:
        rows = self.plan.rows
        cpu_top = rows.memory + rows.memory_gap
        cpu_bottom = cpu_top + rows.cpu
        if socket.cpu is not None:
            cpu = socket.cpu
            self.box(
                f"memory:{cpu.id}",
                cpu.id,
                BoxKind.MEMORY,
                self.rect(socket.left, 0, socket.right, rows.memory),
                box_lines(self.plan.machine, cpu, BoxKind.MEMORY),
            )
            self.box(
                cpu.id,
                cpu.id,
                BoxKind.CPU,
                self.rect(socket.left, cpu_top, socket.right, cpu_bottom),
                box_lines(self.plan.machine, cpu, BoxKind.CPU),
            )
            x = socket.left + socket.gutter / 2
            self.link(
                cpu.id, LinkKind.MEMORY, [(x, rows.memory), (x, cpu_top)], cpu.memory_bytes_per_s
            )
        for column in socket.columns:
            self.column(column, cpu_bottom if socket.cpu is not None else None)

    def column(self, column: Column, above: float | None) -> None:
        """Add a column's box, its uplink to the edge `above`, and all below it."""
        plan, rows, part = self.plan, self.plan.rows, column.part
        cpu_bottom = rows.memory + rows.memory_gap + rows.cpu
        first = plan.gpu_top - plan.levels * (rows.switch + rows.switch_gap)
        far = plan.gpu_top
        near = far + rows.gpu
        if column.kind is BoxKind.PORT:
            far = cpu_bottom + column.level * TAB_PX
            near = far + TAB_PX
        elif column.kind in (BoxKind.SWITCH, BoxKind.GROUP):
            far = first + column.level * (rows.switch + rows.switch_gap)
            near = far + rows.switch if column.kind is BoxKind.SWITCH else plan.depth - rows.nic_gap
        elif column.kind is BoxKind.NIC:
            far = plan.depth - rows.nic_gap - rows.nic
            near = far + rows.nic
        rect = self.rect(column.left, far, column.right, near)
        self.box(part.id, part.id, column.kind, rect, box_lines(plan.machine, part, column.kind))
        self.up[part.id] = column.up
        if above is not None and column.kind is not BoxKind.PORT and not isinstance(part, Cpu):
            link = part.link
            internal = isinstance(part, Nic) and part.busid is None
            rate = link.bandwidth_bytes_per_s
            if isinstance(part, Gpu) and part.c2c_bytes_per_s:
                rate = part.c2c_bytes_per_s
            kind = LinkKind.INTERNAL if internal else LinkKind.PCIE
            self.link(part.id, kind, [(column.up, above), (column.up, far)], rate, link.degraded)
        if column.kind is BoxKind.NIC and isinstance(part, Nic):
            self.link(
                part.id, LinkKind.PORT, [(column.up, near), (column.up, plan.depth)], part.speed_bytes_per_s
            )
        elif column.kind is BoxKind.GROUP and _has_nics(plan.machine, part):
            self.link(part.id, LinkKind.PORT, [(column.up, near), (column.up, plan.depth)], None)
        for child in column.children:
            self.column(child, near)

    def sockets_links(self) -> None:
        """Add what joins neighbouring sockets."""
        rows = self.plan.rows
        lane = rows.memory + rows.memory_gap + rows.cpu - 9.0
        real = [socket for socket in self.plan.sockets if socket.cpu is not None]
        for left, right in zip(real, real[1:], strict=False):
            assert left.cpu is not None and right.cpu is not None
            self.link(
                f"{left.id}-{right.id}",
                LinkKind.SOCKETS,
                [(left.right, lane), (right.left, lane)],
                inter_socket_bytes_per_s(left.cpu, right.cpu),
            )

    def nvlinks(self) -> None:
        """Add one thin bar below each set of GPUs that NVLink joins."""
        plan = self.plan
        layout_of = {gpu.id: self._shown(gpu.id) for gpu in plan.machine.gpus}
        lanes: list[tuple[float, float, int]] = []
        for members in _joined(plan.machine):
            xs = sorted({self.up[shown] for gpu in members if (shown := layout_of.get(gpu))})
            if len(xs) < 2:
                continue
            lane = 0
            while any(n == lane and xs[0] < b and a < xs[-1] for a, b, n in lanes):
                lane += 1
            lanes.append((xs[0], xs[-1], lane))
            y = plan.gpu_top + plan.rows.gpu + 5.0 + 3.5 * min(lane, 2)
            self.link(members[0], LinkKind.NVLINK, [(xs[0], y), (xs[-1], y)], None)
            for gpu in members:
                if layout_of.get(gpu) == gpu:
                    edge = plan.gpu_top + plan.rows.gpu
                    self.link(gpu, LinkKind.NVLINK, [(self.up[gpu], edge), (self.up[gpu], y)], None)

    def _shown(self, part_id: str) -> str | None:
        for part in self.plan.machine.ancestors(part_id):
            if part.id in self.plan.folded:
                return part.id if part.id in self.up else None
        return part_id if part_id in self.up else None


def _joined(machine: Machine) -> list[list[str]]:
    """Return the sets of GPUs that NVLinks join, straight or through a switch, in the machine's order."""
    home = {gpu.id: gpu.id for gpu in machine.gpus}

    def root(key: str) -> str:
        while home.setdefault(key, key) != key:
            key = home[key]
        return key

    for link in machine.nvlinks:
        if link.kind in (PeerKind.GPU, PeerKind.SWITCH) and link.gpu in home:
            home[root(link.gpu)] = root(link.target)
    sets: dict[str, list[str]] = {}
    for gpu in machine.gpus:
        sets.setdefault(root(gpu.id), []).append(gpu.id)
    return [members for members in sets.values() if len(members) > 1]


def _has_nics(machine: Machine, part: Bridge | Cpu | Gpu | Nic | object) -> bool:
    part_id = getattr(part, "id", "")
    return any(part_id in {p.id for p in machine.ancestors(nic.id)} for nic in machine.nics)


def _build(plan: _Plan, index: int, base: float, *, flipped: bool) -> NodeLayout:
    builder = _Builder(plan, index, base, flipped)
    for socket in plan.sockets:
        builder.socket(socket)
    builder.sockets_links()
    builder.nvlinks()
    cpu_bottom = plan.rows.memory + plan.rows.memory_gap + plan.rows.cpu
    gutters = tuple(
        (socket.id, builder.rect(socket.left, 0, socket.left + socket.gutter, cpu_bottom))
        for socket in plan.sockets
    )
    return NodeLayout(
        index,
        plan.machine,
        base,
        flipped,
        plan.depth,
        plan.rows,
        builder.boxes,
        tuple(builder.links),
        builder.up,
        gutters,
        plan.folded,
        {socket.id: (socket.left + socket.gutter, socket.right) for socket in plan.sockets},
    )


def title_lines(machine: Machine) -> tuple[str, ...]:
    """Return what stands beside a node: its name, then how many of what."""
    return node_lines(machine)
