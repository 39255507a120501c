"""A node's plan made into boxes and links."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from gdviz.figures.columns import Column
from gdviz.figures.node_layout import LANE_UP, TAB_PX, NodeLayout, group_key
from gdviz.figures.plan import Plan, Socket
from gdviz.figures.shapes import Box, BoxKind, Link, LinkKind, Point, Rect
from gdviz.figures.words import box_lines
from gdviz.machine import Cpu, Gpu, Machine, Nic, Part, PeerKind
from gdviz.machine.interconnect import inter_socket_bytes_per_s


class _Builder:
    """Collects one node's boxes and links."""

    def __init__(self, plan: Plan, index: int, base: float, flipped: bool) -> None:
        self.plan, self.index, self.base, self.flipped = plan, index, base, flipped
        self.boxes: dict[str, Box] = {}
        self.links: list[Link] = []
        self.up: dict[str, float] = {}

    def y(self, local: float) -> float:
        return self.base - local if self.flipped else self.base + local

    def rect(self, left: float, far: float, right: float, near: float) -> Rect:
        top, bottom = sorted((self.y(far), self.y(near)))
        return left, top, right, bottom

    def box(self, key: str, part: str, kind: BoxKind, rect: Rect, lines: tuple[str, ...] = ()) -> None:
        self.boxes[key] = Box(self.index, part, kind, rect, lines)

    def link(
        self, of: str, kind: LinkKind, points: Sequence[Point], rate: float | None, degraded: bool = False
    ) -> None:
        turned = tuple((x, self.y(y)) for x, y in points)
        self.links.append(Link(self.index, of, kind, turned, rate, degraded))

    def socket(self, socket: Socket) -> None:
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
            self.link(cpu.id, LinkKind.MEMORY, [(x, rows.memory), (x, cpu_top)], cpu.memory_bytes_per_s)
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
        key = group_key(part) if column.kind is BoxKind.GROUP else part.id
        self.box(key, part.id, column.kind, rect, box_lines(plan.machine, part, column.kind))
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
        lane = rows.memory + rows.memory_gap + rows.cpu - LANE_UP
        real = [socket for socket in self.plan.sockets if socket.cpu is not None]
        for left, right in itertools.pairwise(real):
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


def _has_nics(machine: Machine, part: Part) -> bool:
    return any(part.id in {p.id for p in machine.ancestors(nic.id)} for nic in machine.nics)


def build_node(plan: Plan, index: int, base: float, *, flipped: bool) -> NodeLayout:
    """Return the boxes and links of a planned node whose outer edge is at y `base`."""
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
