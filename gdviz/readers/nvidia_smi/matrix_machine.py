"""A matrix to a machine whose paths have the classes that the matrix gives.

A matrix names no bridges. These are made up, as few as give each GPU-NIC pair its class: a switch for a
group of PIX, a switch above switches for PXB, host bridges for NODE, CPUs for SYS.
"""

from __future__ import annotations

import re
from dataclasses import replace

from gdviz.machine import Bridge, BridgeKind, Cpu, Distance, Gpu, Nic, NvLink, Parts, PeerKind
from gdviz.machine.known import nvlink_bytes_per_s
from gdviz.messages import _
from gdviz.readers.notices import Notices
from gdviz.readers.nvidia_smi.clusters import Pair, distance_in, nested
from gdviz.readers.nvidia_smi.facts import TopoMatrix
from gdviz.readers.unique import UniqueIds

_CLASSES = {
    **{distance.value: distance for distance in Distance if distance is not Distance.P2C},
    "SOC": Distance.SYS,
    "PSB": Distance.PXB,
}
#: Most NVLinks that a GPU has (Hopper, Blackwell); more to all peers together means NVSwitches.
_MOST_NVLINKS = 18
_NUMBER = re.compile(r"^\d{1,4}$")


def distances_of(matrix: TopoMatrix) -> dict[Pair, Distance]:
    """Return the classes of all pairs that have one; NVLink says nothing of the PCIe way below it."""
    found: dict[Pair, Distance] = {}
    for row in matrix.rows:
        for column, cell in zip(matrix.columns, row.cells, strict=False):
            if cell in _CLASSES and column != row.name and (column, row.name) not in found:
                found[row.name, column] = _CLASSES[cell]
    return found


def machine_parts(matrix: TopoMatrix, notices: Notices) -> Parts:
    """Return the parts of a machine that gives the matrix's classes; what it cannot give is a notice.

    A device whose way to the others the matrix does not say, as its row is torn or missing, is left out.
    """
    said = distances_of(matrix)
    names = _placed(matrix, said, notices)
    gpus = set(matrix.gpus)
    distances = {pair: value for pair, value in said.items() if names.issuperset(pair)}
    cross = {pair: value for pair, value in distances.items() if (pair[0] in gpus) != (pair[1] in gpus)}
    ordered = tuple(name for name in dict.fromkeys((*matrix.gpus, *matrix.nics)) if name in names)
    nesting = nested(ordered, distances)
    if _wrong(nesting, cross):
        # Where a hand-edited matrix contradicts itself the pairs that matter have the word.
        nesting = nested(ordered, cross)
    for one, other in _wrong(nesting, cross):
        row = matrix.row(one) or matrix.row(other)
        notices.add(
            _("{one} and {other}: {cell} contradicts other cells; no tree gives all of them.").format(
                one=one, other=other, cell=cross[one, other].value
            ),
            row.line if row else None,
            kind="contradiction",
        )
    return _Builder(matrix, nesting, distances).parts()


def _placed(matrix: TopoMatrix, said: dict[Pair, Distance], notices: Notices) -> set[str]:
    """Return the devices that the matrix places: each GPU of them with its class to each NIC of them."""
    known = said.keys() | {(other, one) for one, other in said}
    nics = [nic for nic in matrix.nics if any((gpu, nic) in known for gpu in matrix.gpus)]
    gpus = [gpu for gpu in matrix.gpus if all((gpu, nic) in known for nic in nics)]
    placed = {*gpus, *nics}
    for name in (*matrix.gpus, *matrix.nics):
        if name not in placed:
            row = matrix.row(name)
            notices.add(
                _("{name} is left out: the matrix does not say how far it is from the others.").format(
                    name=name
                ),
                row.line if row else matrix.header_line,
            )
    return placed


def _wrong(nesting: dict[str, tuple[str, ...]], wanted: dict[Pair, Distance]) -> list[Pair]:
    return [pair for pair, distance in wanted.items() if distance_in(nesting, *pair) is not distance]


class _Builder:
    def __init__(
        self, matrix: TopoMatrix, nesting: dict[str, tuple[str, ...]], distances: dict[Pair, Distance]
    ) -> None:
        self._matrix = matrix
        self._nesting = nesting
        self._distances = distances
        self._ids = UniqueIds()
        self._cpus: dict[str, Cpu] = {}
        self._bridges: dict[tuple[str, str], Bridge] = {}
        self._cpu_of = self._join_by_numa()

    def parts(self) -> Parts:
        """Return all parts."""
        gpus: dict[str, Gpu] = {}
        nics: list[Nic] = []
        for index, name in enumerate(self._matrix.gpus):
            if name in self._nesting:
                part_id, (parent, numa) = self._ids.take(name.lower()), self._place(name)
                gpus[name] = Gpu(part_id, index, parent, "", numa=numa)
        for index, name in enumerate(self._matrix.nics):
            if name in self._nesting:
                device = self._matrix.nic_names.get(name, name)
                part_id, (parent, numa) = self._ids.take(device), self._place(name)
                nics.append(Nic(part_id, index, parent, None, device, numa=numa))
        return Parts(
            tuple(self._cpus.values()),
            tuple(self._bridges.values()),
            tuple(gpus.values()),
            tuple(nics),
            (),
            self._nvlinks(gpus),
        )

    def _numa(self, name: str) -> int | None:
        row = self._matrix.row(name)
        return int(row.numa_affinity) if row and _NUMBER.match(row.numa_affinity) else None

    def _join_by_numa(self) -> dict[str, str]:
        """Put groups that name the same NUMA node below one CPU, unless a cell says SYS."""
        members: dict[str, list[str]] = {}
        for name, groups in self._nesting.items():
            members.setdefault(groups[-1], []).append(name)
        apart = {
            frozenset((self._nesting[one][-1], self._nesting[other][-1]))
            for (one, other), distance in self._distances.items()
            if distance is Distance.SYS
        }
        joined: dict[str, str] = {}
        by_numa: dict[int, list[str]] = {}
        for group, names in members.items():
            numa = next((found for name in names if (found := self._numa(name)) is not None), None)
            cpu = group
            if numa is not None:
                others = by_numa.setdefault(numa, [])
                if others and all(frozenset((group, other)) not in apart for other in others):
                    cpu = joined[others[0]]
                others.append(group)
            joined[group] = cpu
        return joined

    def _place(self, name: str) -> tuple[str, int]:
        """Return the part above a device, made if need be, and its NUMA node."""
        pix, pxb, phb, node = self._nesting[name]
        cpu_group = self._cpu_of[node]
        cpu = self._cpu(cpu_group)
        parent = cpu.id
        below_cpu = {groups[2] for groups in self._nesting.values() if self._cpu_of[groups[3]] == cpu_group}
        if len(below_cpu) > 1:
            parent = self._bridge("host", phb, parent, BridgeKind.HOST_BRIDGE)
        parent = self._bridge("port", pxb, parent, BridgeKind.ROOT_PORT)
        switches = {groups[0] for groups in self._nesting.values() if groups[1] == pxb}
        alone = sum(groups[1] == pxb for groups in self._nesting.values()) == 1
        if len(switches) > 1:
            parent = self._bridge("upper", pxb, parent, BridgeKind.SWITCH)
        if not alone:
            parent = self._bridge("switch", pix, parent, BridgeKind.SWITCH)
        return parent, cpu.numa

    def _cpu(self, group: str) -> Cpu:
        if group not in self._cpus:
            members = [name for name, groups in self._nesting.items() if self._cpu_of[groups[3]] == group]
            numas = [numa for name in members if (numa := self._numa(name)) is not None]
            numa = numas[0] if numas else -1
            wanted = f"cpu{numa}" if numa >= 0 else "cpu"
            self._cpus[group] = Cpu(self._ids.take(wanted), numa, affinity=self._mask(members))
        return self._cpus[group]

    def _mask(self, members: list[str]) -> frozenset[int]:
        for name in members:
            row = self._matrix.row(name)
            if row and (mask := cpu_list(row.cpu_affinity)):
                return mask
        return frozenset()

    def _bridge(self, level: str, group: str, parent: str, kind: BridgeKind) -> str:
        key = level, group
        if key not in self._bridges:
            number = sum(known[0] == level for known in self._bridges)
            part_id = self._ids.take(f"{level}{number}")
            self._bridges[key] = Bridge(part_id, parent, kind, virtual=True)
        return self._bridges[key].id

    def _nvlinks(self, gpus: dict[str, Gpu]) -> tuple[NvLink, ...]:
        found: list[NvLink] = []
        for name, gpu in gpus.items():
            row = self._matrix.row(name)
            cells = zip(self._matrix.columns, row.cells, strict=False) if row else ()
            links = {column: int(cell[2:]) for column, cell in cells if cell[:2] == "NV"}
            if sum(links.values()) > _MOST_NVLINKS:
                count = max(links.values())
                found.append(_rated(NvLink(gpu.id, "nvswitch", count, PeerKind.SWITCH), gpu))
            else:
                found += [
                    _rated(NvLink(gpu.id, gpus[peer].id, count, PeerKind.GPU), gpu)
                    for peer, count in links.items()
                    if count and peer in gpus
                ]
        return tuple(found)


def _rated(link: NvLink, gpu: Gpu) -> NvLink:
    return replace(link, bytes_per_s=nvlink_bytes_per_s(gpu.compute_capability, link.count))


def cpu_list(text: str) -> frozenset[int]:
    """Return the CPUs of a list such as ``0-31,64-95``; nothing where it is none.

    Examples
    --------
    >>> sorted(cpu_list("0-2,8")), cpu_list("N/A")
    ([0, 1, 2, 8], frozenset())
    """
    found: set[int] = set()
    for piece in text.split(",")[:512]:
        first, _dash, last = piece.partition("-")
        if not _NUMBER.match(first) or not _NUMBER.match(last or first):
            return frozenset()
        found.update(range(int(first), int(last or first) + 1))
    return frozenset(found)
