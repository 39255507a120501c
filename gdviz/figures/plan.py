"""How a node's sockets share the width, which switches fold, and how high its rows are."""

from __future__ import annotations

from dataclasses import dataclass

from gdviz.figures.columns import Column, columns_of, folding, least_width, orphan_columns, orphans, place
from gdviz.figures.node_layout import MARGIN, NO_CPU, SOCKET_GAP, TAB_PX, WIDTH, Rows
from gdviz.figures.shapes import BoxKind
from gdviz.machine import Cpu, Machine

#: For two nodes, one node, and by how many switches stand above each other.
_PAIR = Rows(20, 5, 32, 19, 20, 16, 37, 11, 37, 24, 30)
_PAIR_DEEP = Rows(19, 5, 32, 15, 17, 13, 36, 11, 36, 24, 30)
_PAIR_DEEPER = Rows(19, 5, 32, 13, 16, 12, 36, 11, 36, 24, 30)
_ALONE = Rows(28, 10, 36, 30, 26, 28, 50, 20, 54, 28, 26)
_ALONE_DEEP = Rows(26, 8, 36, 22, 20, 17, 48, 18, 52, 26, 26)


@dataclass(slots=True)
class Socket:
    """A CPU and what hangs from it, or the parts whose CPU is not known."""

    cpu: Cpu | None
    columns: list[Column]
    least: float
    gutter: float
    left: float = 0.0
    right: float = 0.0

    @property
    def id(self) -> str:
        """The CPU's id, or `NO_CPU`."""
        return self.cpu.id if self.cpu else NO_CPU


@dataclass(slots=True)
class Plan:
    """All that must be known of a node before its boxes can be drawn."""

    machine: Machine
    folded: frozenset[str]
    sockets: list[Socket]
    rows: Rows
    levels: int
    tiers: int
    gpu_top: float
    depth: float


def _gutter(count: int, first: bool) -> float:
    if first:
        return 104.0
    return 68.0 if count <= 2 else 60.0


def plan_node(machine: Machine, opened: frozenset[str], alone: bool) -> Plan:
    """Return the plan of a node; parts in `opened` are not folded away."""
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
        sockets.append(Socket(cpu, columns, least_width(columns), gutters[i]))
    if orphans(machine):
        columns = orphan_columns(machine, folded)
        sockets.append(Socket(None, columns, least_width(columns), gutters[-1]))
    _share(sockets, room)
    shown = [column for socket in sockets for top in socket.columns for column in top.walk()]
    levels = max((c.level + 1 for c in shown if c.kind in (BoxKind.SWITCH, BoxKind.GROUP)), default=0)
    tiers = max((c.level + 1 for c in shown if c.kind is BoxKind.PORT), default=0)
    choice = (_ALONE, _ALONE_DEEP, _ALONE_DEEP) if alone else (_PAIR, _PAIR_DEEP, _PAIR_DEEPER)
    rows = choice[min(max(levels - 1, 0), 2)]
    gpu_top = rows.memory + rows.memory_gap + rows.cpu + rows.cpu_gap + tiers * TAB_PX * (tiers > 1)
    gpu_top += levels * (rows.switch + rows.switch_gap)
    depth = gpu_top + rows.gpu + rows.gpu_gap + rows.nic + rows.nic_gap
    return Plan(machine, folded, sockets, rows, levels, tiers, gpu_top, depth)


def _share(sockets: list[Socket], room: float) -> None:
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
