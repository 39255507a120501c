"""The way from a GPU to a NIC over the machine's tree, and its distance class.

The class is the one that ``nvidia-smi topo -m`` prints, taken from the lowest part above both devices:
a switch is PIX if it is the only one on the way and PXB otherwise, a host bridge or CPU is PHB (NODE
where the devices hang from two host bridges of one CPU), two CPUs are SYS. NCCL's rule is the same one,
but it has no NODE (both are PHB) and counts a two-level Broadcom switch as one (`Path.nccl`).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from gdviz.machine.distance import Distance
from gdviz.machine.interconnect import inter_socket_bytes_per_s
from gdviz.machine.links import PcieLink
from gdviz.machine.parts import Bridge, BridgeKind, Cpu, Device, Gpu, Nic, Part, PciIds

if TYPE_CHECKING:
    from gdviz.machine.machine import Machine


class HopKind(StrEnum):
    """What a hop crosses."""

    PCIE = "PCIe"
    SOCKETS = "inter-socket"
    C2C = "NVLink-C2C"
    INTERNAL = "internal"


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of a path.

    Attributes
    ----------
    source, target
        Ids of the parts at its ends, in the order of the walk from GPU to NIC.
    link
        The PCIe link crossed; None for other kinds.
    link_of
        Id of the part whose uplink it is (the lower end); empty for other kinds.
    bytes_per_s
        What it carries one way; None if unknown.
    """

    source: str
    target: str
    kind: HopKind
    link: PcieLink | None = None
    link_of: str = ""
    bytes_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class Path:
    """A path from a GPU to a NIC.

    Attributes
    ----------
    distance
        Class as ``nvidia-smi topo -m`` prints it.
    nccl
        Class as NCCL counts it.
    hops
        Steps from the GPU to the NIC.
    """

    gpu: str
    nic: str
    distance: Distance
    nccl: Distance
    hops: tuple[Hop, ...]

    @property
    def bottleneck(self) -> Hop | None:
        """The narrowest hop whose bandwidth is known (the first of equals), or None."""
        known = [hop for hop in self.hops if hop.bytes_per_s is not None]
        return min(known, key=lambda hop: hop.bytes_per_s or 0.0) if known else None

    @property
    def parts(self) -> tuple[str, ...]:
        """Ids of all parts on the way, GPU first."""
        return (self.gpu, *(hop.target for hop in self.hops))


def _up(machine: Machine, part: Part) -> list[Part]:
    return list(machine.ancestors(part.id))


def find_path(machine: Machine, gpu: Gpu, nic: Nic) -> Path:
    """Return the path between two devices of a machine."""
    from_gpu, from_nic = _up(machine, gpu), _up(machine, nic)
    shared = {part.id for part in from_gpu} & {part.id for part in from_nic}
    up = _until(from_gpu, shared)
    down = _until(from_nic, shared)
    hops = [_pcie(lower, upper) for lower, upper in itertools.pairwise(up)]
    if gpu.c2c_bytes_per_s and isinstance(up[-1], Cpu):
        hops = [Hop(gpu.id, up[-1].id, HopKind.C2C, bytes_per_s=gpu.c2c_bytes_per_s)]
    if not shared:
        hops.append(_between_sockets(up[-1], down[-1]))
    below = [_pcie(lower, upper) for lower, upper in itertools.pairwise(down)]
    hops += [_reversed(hop) for hop in reversed(below)]
    distance = _classify(gpu, up, down, shared)
    return Path(
        gpu.id, nic.id, distance, _nccl(distance, _switches(up, down), from_gpu, from_nic), tuple(hops)
    )


def _until(chain: list[Part], shared: set[str]) -> list[Part]:
    """Cut a chain of ancestors after its first shared part."""
    for position, part in enumerate(chain):
        if part.id in shared:
            return chain[: position + 1]
    return chain


def _pcie(lower: Part, upper: Part) -> Hop:
    if isinstance(lower, Bridge) and lower.kind in (BridgeKind.ROOT_PORT, BridgeKind.HOST_BRIDGE):
        return Hop(lower.id, upper.id, HopKind.INTERNAL)
    if isinstance(lower, Nic) and lower.busid is None:
        return Hop(lower.id, upper.id, HopKind.INTERNAL)
    assert isinstance(lower, Bridge | Gpu | Nic | Device)
    link = lower.link
    return Hop(lower.id, upper.id, HopKind.PCIE, link, lower.id, link.bandwidth_bytes_per_s)


def _reversed(hop: Hop) -> Hop:
    return Hop(hop.target, hop.source, hop.kind, hop.link, hop.link_of, hop.bytes_per_s)


def _between_sockets(left: Part, right: Part) -> Hop:
    rate = None
    if isinstance(left, Cpu) and isinstance(right, Cpu):
        rate = inter_socket_bytes_per_s(left, right)
    return Hop(left.id, right.id, HopKind.SOCKETS, bytes_per_s=rate)


def _switches(up: list[Part], down: list[Part]) -> list[Bridge]:
    found = {
        part.id: part for part in (*up, *down) if isinstance(part, Bridge) and part.kind is BridgeKind.SWITCH
    }
    return list(found.values())


def _classify(gpu: Gpu, up: list[Part], down: list[Part], shared: set[str]) -> Distance:
    if not shared:
        return Distance.SYS
    top = up[-1]
    if isinstance(top, Bridge) and top.kind is not BridgeKind.HOST_BRIDGE:
        return Distance.PIX if len(_switches(up, down)) <= 1 else Distance.PXB
    if gpu.c2c_bytes_per_s:
        return Distance.P2C
    host_bridges = [
        part.id
        for part in (*up[:-1], *down[:-1])
        if isinstance(part, Bridge) and part.kind is BridgeKind.HOST_BRIDGE
    ]
    return Distance.NODE if len(set(host_bridges)) > 1 else Distance.PHB


def _nccl(distance: Distance, switches: list[Bridge], from_gpu: list[Part], from_nic: list[Part]) -> Distance:
    """NCCL's own class: no NODE, and a two-level Broadcom switch is one switch."""
    if distance is Distance.NODE:
        return Distance.PHB
    if distance is not Distance.PXB:
        return distance
    leaders = _leaders(from_gpu) | _leaders(from_nic)
    return Distance.PIX if len({leaders[switch.id] for switch in switches}) <= 1 else Distance.PXB


def _leaders(chain: list[Part]) -> dict[str, str]:
    """Map each switch above a device to the one that NCCL merges it into, or to itself.

    NCCL merges from the CPU downwards, and a switch that took in its own level below, or was taken in,
    merges no further: of three like levels the lowest stays a switch of its own.
    """
    leaders: dict[str, str] = {}
    for part, above in zip(reversed(chain), [None, *reversed(chain)], strict=False):
        if not isinstance(part, Bridge) or part.kind is not BridgeKind.SWITCH:
            continue
        merges = (
            isinstance(above, Bridge)
            and leaders.get(above.id) == above.id
            and _one_broadcom_switch(above.pci, part.pci)
        )
        leaders[part.id] = above.id if merges and above is not None else part.id
    return leaders


def _one_broadcom_switch(upper: PciIds, lower: PciIds) -> bool:
    """Whether two bridges are the levels of one PEX switch in base mode.

    NCCL (src/graph/topo.cc, flattening of Broadcom switches) takes Broadcom gen 4 (1000:c010) with a
    subsystem of Broadcom's a000 range on both levels, and gen 5 (1000:c030) with subsystem range 0000
    above and 1000 below.
    """
    if (upper.vendor, lower.vendor) != (0x1000, 0x1000):
        return False
    if (upper.subsystem_vendor, lower.subsystem_vendor) != (0x1000, 0x1000):
        return False
    ranges = ((upper.subsystem_device or 0) & 0xF000, (lower.subsystem_device or 0) & 0xF000)
    if (upper.device, lower.device) == (0xC010, 0xC010):
        return ranges == (0xA000, 0xA000)
    return (upper.device, lower.device) == (0xC030, 0xC030) and ranges == (0x0000, 0x1000)
