"""Which device stands where, from left to right: a tree of columns, folded where it would not fit.

A node's tree hangs from its sockets. GPUs stand in one row and NICs in the row below, nearest the wire, so
the link of a NIC passes between GPUs. Devices below one part are spread so that GPUs and NICs alternate,
which leaves each the most room. Where the boxes would become too narrow to read, switches are folded: a
switch and everything below it become one box.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from gdviz.figures.shapes import BoxKind
from gdviz.machine import Bridge, BridgeKind, Cpu, Gpu, Machine, Nic, Part

GPU_MIN, GPU_MAX = 52.0, 128.0
DEVICE_MIN = 48.0
NIC_MIN, NIC_MAX = 58.0, 128.0
GROUP_MIN, GROUP_MAX = 66.0, 170.0
BRIDGE_MIN = 30.0
#: Room for a NIC's link where it passes between GPUs, lit.
LANE = 22.0
#: How much narrower than readable boxes may get beside a group that is opened.
SQUEEZE = 0.8
GAP = 6.0


@dataclass(eq=False)
class Column:
    """A part and all that hangs below it.

    Attributes
    ----------
    level
        Row among the switches, from 0; ports have their tier.
    up
        x at which its uplink leaves.
    left, right
        Extent of the box itself.
    """

    part: Part
    kind: BoxKind
    level: int = 0
    children: list[Column] = field(default_factory=list)
    up: float = 0.0
    left: float = 0.0
    right: float = 0.0

    def walk(self) -> Iterator[Column]:
        """Go through the column and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()

    @cached_property
    def lines(self) -> int:
        """NICs whose links run down through it."""
        if self.kind is BoxKind.NIC:
            return 1
        return sum(child.lines for child in self.children)

    @cached_property
    def upper(self) -> bool:
        """Whether nothing of it stands in the NICs' row."""
        return self.kind not in (BoxKind.NIC, BoxKind.GROUP) and all(c.upper for c in self.children)

    @cached_property
    def only_nic(self) -> bool:
        """Whether it is a NIC, with or without bridges above it that carry nothing else."""
        if self.kind is BoxKind.NIC:
            return True
        return len(self.children) == 1 and self.children[0].only_nic

    @cached_property
    def least(self) -> float:
        """Pixels below which some box in it would be too narrow to read."""
        # Kept, because every level above asks for it many times.
        simple = {BoxKind.GROUP: GROUP_MIN, BoxKind.GPU: GPU_MIN, BoxKind.DEVICE: DEVICE_MIN}
        return simple.get(self.kind) or max(BRIDGE_MIN, least_width(self.children))


def below(machine: Machine, part_id: str) -> list[Part]:
    """Return the GPUs, NICs and other devices anywhere below a part."""
    found: list[Part] = []
    waiting = list(reversed(machine.children(part_id)))
    while waiting:
        part = waiting.pop()
        if isinstance(part, Bridge):
            waiting += reversed(machine.children(part.id))
        else:
            found.append(part)
    return found


def columns_of(machine: Machine, part_id: str, folded: frozenset[str], level: int = 0) -> list[Column]:
    """Return the columns below a part; `level` is the row of the first switch."""
    return _columns(machine, machine.children(part_id), folded, level, tier=0)


def orphans(machine: Machine) -> list[Part]:
    """Return the parts that hang from nothing, CPUs apart."""
    known = {part.id for part in machine}
    return [p for p in machine if not isinstance(p, Cpu) and p.parent not in known]


def orphan_columns(machine: Machine, folded: frozenset[str]) -> list[Column]:
    """Return the columns of parts whose CPU the source does not give."""
    return _columns(machine, tuple(orphans(machine)), folded, 0, tier=0)


def _columns(
    machine: Machine, parts: tuple[Part, ...], folded: frozenset[str], level: int, tier: int
) -> list[Column]:
    found = []
    for part in parts:
        if not isinstance(part, Bridge):
            kind = {Gpu: BoxKind.GPU, Nic: BoxKind.NIC}.get(type(part), BoxKind.DEVICE)
            found.append(Column(part, kind, level))
            continue
        children = machine.children(part.id)
        port = part.kind is not BridgeKind.SWITCH and level == 0
        if part.id in folded:
            found.append(Column(part, BoxKind.GROUP, level))
        elif port:
            found.append(Column(part, BoxKind.PORT, tier, _columns(machine, children, folded, 0, tier + 1)))
        else:
            below_it = _columns(machine, children, folded, level + 1, tier)
            found.append(Column(part, BoxKind.SWITCH, level, below_it))
    return found


def arranged(columns: list[Column]) -> tuple[list[Column], list[Column]]:
    """Return (simple columns with GPUs and NICs alternating, columns that need a block of their own)."""
    uppers = [c for c in columns if c.upper]
    nics = [c for c in columns if c.only_nic]
    blocks = [c for c in columns if not c.upper and not c.only_nic]
    keyed = [((i + 0.5) / len(uppers), 0, c) for i, c in enumerate(uppers)]
    keyed += [((i + 0.5) / len(nics), 1, c) for i, c in enumerate(nics)]
    keyed.sort(key=lambda entry: entry[:2])
    return [entry[2] for entry in keyed], blocks


def least_width(columns: list[Column]) -> float:
    """Return the pixels below which some box would be too narrow to read."""
    simple, blocks = arranged(columns)
    widths = [block.least for block in blocks]
    if simple:
        widths.append(_cluster_least(simple))
    return sum(widths) + GAP * max(0, len(widths) - 1)


def _upper_least(column: Column) -> float:
    return LANE if column.only_nic else column.least


def _cluster_least(simple: list[Column]) -> float:
    width = sum(map(_upper_least, simple)) + GAP * (len(simple) - 1)
    while not _nics_fit(simple, width):
        width += 4.0
    return width


def _nics_fit(simple: list[Column], width: float) -> bool:
    rooms = _nic_rooms(_allot(simple, 0.0, width), 0.0, width)
    return all(right - left >= NIC_MIN for _, left, right in rooms)


def _allot(simple: list[Column], left: float, right: float) -> list[tuple[Column, float, float]]:
    """Share a width among simple columns in the row of GPUs and switches."""
    least = [_upper_least(column) for column in simple]
    room = right - left - GAP * (len(simple) - 1)
    spare = room - sum(least)
    if spare < 0:
        widths = [width * room / sum(least) for width in least]
    else:
        widths = [width + spare / len(simple) for width in least]
    at, shared = left, []
    for column, width in zip(simple, widths, strict=True):
        shared.append((column, at, at + width))
        at += width + GAP
    return shared


def _nic_rooms(
    allotted: list[tuple[Column, float, float]], left: float, right: float
) -> list[tuple[Column, float, float]]:
    """Return each NIC's room in its row: an equal share, as far as its link comes down inside it."""
    nics = [(column, (a + b) / 2) for column, a, b in allotted if column.only_nic]
    edges = [left]
    for i, ((_, line), (_, following)) in enumerate(itertools.pairwise(nics), 1):
        share = left + (right - left) * i / len(nics)
        edges.append(min(max(share, line + LANE / 2), following - LANE / 2))
    edges.append(right)
    rooms = []
    for i, (column, _) in enumerate(nics):
        low = edges[i] + (GAP / 2 if i else 0.0)
        high = edges[i + 1] - (GAP / 2 if i < len(nics) - 1 else 0.0)
        rooms.append((column, low, high))
    return rooms


def place(columns: list[Column], left: float, right: float) -> None:
    """Give every column its extent and its uplink's x between `left` and `right`."""
    simple, blocks = arranged(columns)
    groups: list[tuple[list[Column], float]] = []
    if simple:
        groups.append((simple, _cluster_least(simple)))
    groups += [([block], block.least) for block in blocks]
    if not groups:
        return
    room = right - left - GAP * (len(groups) - 1)
    scale = room / sum(width for _, width in groups)
    at = left
    for members, least in groups:
        width = least * scale
        if members is simple:
            _place_cluster(members, at, at + width)
        else:
            _place_block(members[0], at, at + width)
        at += width + GAP


def _place_cluster(simple: list[Column], left: float, right: float) -> None:
    allotted = _allot(simple, left, right)
    for column, a, b in allotted:
        if not column.only_nic:
            _place_block(column, a, b)
    for (column, low, high), line in zip(
        _nic_rooms(allotted, left, right),
        [(a + b) / 2 for column, a, b in allotted if column.only_nic],
        strict=True,
    ):
        half = min(line - low, high - line)
        width = min(NIC_MAX, max(2 * half, min(high - low, NIC_MIN + 24)))
        start = min(max(line - width / 2, low), high - width)
        for level in column.walk():
            level.up = line
            if level.kind is BoxKind.NIC:
                level.left, level.right = start, start + width
            else:
                level.left, level.right = line - BRIDGE_MIN / 2, line + BRIDGE_MIN / 2


def _place_block(column: Column, left: float, right: float) -> None:
    middle = (left + right) / 2
    limit = {BoxKind.GPU: GPU_MAX, BoxKind.DEVICE: GPU_MAX, BoxKind.GROUP: GROUP_MAX, BoxKind.NIC: NIC_MAX}
    if column.kind in limit:
        width = min(right - left, limit[column.kind])
        column.left, column.right, column.up = middle - width / 2, middle + width / 2, middle
        return
    place(column.children, left, right)
    ups = [child.up for child in column.children] or [middle]
    # Inside: room for the two lanes of a staged path beside each other, and for a link at either end.
    start, end = min(ups) - 12.0, max(ups) + 12.0
    least = 46.0 if column.kind is BoxKind.SWITCH else BRIDGE_MIN
    if end - start < least:
        start, end = (start + end - least) / 2, (start + end + least) / 2
    column.left, column.right = max(left, start), min(right, end)
    column.up = (column.left + column.right) / 2


def folding(machine: Machine, width: float, opened: frozenset[str], gutters: float) -> frozenset[str]:
    """Return the bridges (and CPUs) to fold so that a machine fits a width.

    Parameters
    ----------
    width
        Pixels for all sockets together.
    opened
        Ids that must not be folded; nor is anything above them.
    gutters
        Pixels that the sockets' labels and gaps take.
    """
    kept = set(opened)
    for part_id in opened:
        kept.update(part.id for part in machine.ancestors(part_id))
    sizes = {bridge.id: len(below(machine, bridge.id)) for bridge in machine.bridges}
    candidates = [b.id for b in machine.bridges if sizes[b.id] >= 2 and b.id not in kept]
    folded: set[str] = set()
    # What a person opened may squeeze the rest a little, rather than fold half of the machine.
    squeezed = (width - gutters) / (SQUEEZE if opened else 1.0)
    while not _fits(machine, frozenset(folded), squeezed if folded else width - gutters):
        rest = [c for c in candidates if c not in folded and not _above(machine, c) & folded]
        smallest = [c for c in rest if not any(c in _above(machine, other) for other in rest if other != c)]
        if not smallest:
            break
        for bridge in smallest:
            folded = {f for f in folded if bridge not in _above(machine, f)} | {bridge}
    if not _fits(machine, frozenset(folded), squeezed):
        folded |= {cpu.id for cpu in machine.cpus if cpu.id not in kept}
    return frozenset(folded)


def _above(machine: Machine, part_id: str) -> set[str]:
    return {part.id for part in machine.ancestors(part_id)[1:]}


def _fits(machine: Machine, folded: frozenset[str], width: float) -> bool:
    widths = [least_width(columns_of(machine, cpu.id, folded)) for cpu in machine.cpus]
    widths.append(least_width(orphan_columns(machine, folded)))
    return sum(widths) <= width
