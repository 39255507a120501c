"""The way from memory to the device that reads and writes it, part by part and link by link.

A `Route` goes from memory (of a GPU, or of a CPU) to a requester: the NIC, or the GPU whose copy engine
works. What the requester reads flows along the route, what it writes flows against it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gdviz.machine import Bridge, BridgeKind, Cpu, Device, Gpu, Machine, Nic, Part, PcieLink
from gdviz.messages import _
from gdviz.model.constants import Constants
from gdviz.model.links import link_of
from gdviz.model.peer import (
    PeerCeilings,
    peer_ceilings,
    socket_memory_bytes_per_s,
    strict_write_bytes_per_s,
)
from gdviz.model.results import Place, PlaceKind, Side


@dataclass(frozen=True, slots=True)
class Step:
    """One place on a route.

    Attributes
    ----------
    latency_s
        One way through it.
    name
        Name of its ceiling, empty if it has none.
    link
        Generation and width of a PCIe link; None for other places.
    bytes_per_s
        What other places carry; None: no limit of their own.
    along_up
        For links: whether data that flow along the route go up the tree.
    beyond_root
        Whether a root complex lies between the memory and this place.
    """

    place: Place
    latency_s: float = 0.0
    name: str = ""
    link: PcieLink | None = None
    bytes_per_s: float | None = None
    along_up: bool = True
    beyond_root: bool = False


@dataclass(frozen=True, slots=True)
class Route:
    """Steps from memory to requester.

    Attributes
    ----------
    memory_s
        Access time of the memory at the start.
    peer
        Ceilings of the root complex if the route is between two devices and passes one, else None.
    root
        The CPU whose root complex it passes (the requester's), None if it passes none.
    strict_write
        What that root complex takes of writes without relaxed ordering; None: no ceiling known.
    across
        Whether it passes from socket to socket.
    """

    steps: tuple[Step, ...]
    memory_s: float
    peer: PeerCeilings | None = None
    root: Place | None = None
    strict_write: float | None = None
    across: bool = False

    @property
    def places(self) -> tuple[Place, ...]:
        """Places in the order from memory to requester."""
        return tuple(step.place for step in self.steps)

    @property
    def latency_s(self) -> float:
        """One way, without the memory's access time."""
        return sum(step.latency_s for step in self.steps)

    @property
    def round_trip_s(self) -> float:
        """Seconds from a read request to its first byte."""
        return 2 * self.latency_s + self.memory_s


def memory_cpu(machine: Machine, nic: Nic, numa: int | None) -> Cpu | None:
    """Return the CPU whose memory is meant: of that NUMA node, else the NIC's own, else the first."""
    if numa is not None:
        for cpu in machine.cpus:
            if cpu.numa == numa:
                return cpu
    return machine.cpu_of(nic.id) or (machine.cpus[0] if machine.cpus else None)


def route(
    machine: Machine, side: Side, memory: Gpu | Cpu | None, requester: Gpu | Nic, constants: Constants
) -> Route:
    """Return the route from a memory to the device that reads and writes it.

    `memory` is None for host memory of a machine whose source names no CPU: it then lies above the
    requester's topmost part.
    """
    down = _chain(machine, requester)
    up = _chain(machine, memory) if memory is not None else [down[-1]]
    shared = {part.id for part in down} & {part.id for part in up}
    up, down = _until(up, shared), _until(down, shared)
    joint = up[-1] if shared else None
    if isinstance(joint, Cpu):
        up, down = _over_c2c(up), _over_c2c(down)
    of_gpu = isinstance(memory, Gpu)
    peer = of_gpu and _is_root(joint)
    steps = [] if of_gpu else [_host_memory(memory, up[0], side, constants)]
    steps += _climb(machine, up, side, constants, along_up=True)
    beyond = False
    if joint is None:
        beyond = True
        steps.append(_sockets(machine, side, up[-1], down[-1], constants, memory_traffic=not peer))
    else:
        beyond = _is_root(joint)
    below = _climb(machine, down if joint is None else down[:-1], side, constants, along_up=False)
    if joint is not None and len(down) > 1:
        below += _uplink(machine, down[-2], down[-1], side, constants, along_up=False)
    steps += [_beyond(step) if beyond else step for step in reversed(below)]
    root = (_cpu_in(down) or _cpu_in(up)) if beyond else None
    root_id = root.id if root else down[-1].id
    return Route(
        tuple(steps),
        constants.gpu_memory_s if of_gpu else constants.host_memory_s,
        peer_ceilings(root) if peer else None,
        Place(side, PlaceKind.PART, root_id) if beyond else None,
        strict_write_bytes_per_s(root),
        joint is None,
    )


def _chain(machine: Machine, part: Part) -> list[Part]:
    return list(machine.ancestors(part.id))


def _until(chain: list[Part], shared: set[str]) -> list[Part]:
    for position, part in enumerate(chain):
        if part.id in shared:
            return chain[: position + 1]
    return chain


def _over_c2c(chain: list[Part]) -> list[Part]:
    """Leave out the bridges between a CPU and a GPU that NVLink-C2C joins directly."""
    lowest = chain[0]
    joined = isinstance(lowest, Gpu) and lowest.c2c_bytes_per_s and len(chain) > 1
    return [lowest, chain[-1]] if joined else chain


def _is_root(part: Part | None) -> bool:
    """Whether traffic that turns round at a part passes a root complex."""
    return not (isinstance(part, Bridge) and part.kind is not BridgeKind.HOST_BRIDGE)


def _cpu_in(chain: list[Part]) -> Cpu | None:
    return next((part for part in chain if isinstance(part, Cpu)), None)


def _beyond(step: Step) -> Step:
    return replace(step, beyond_root=True)


def _host_memory(memory: Gpu | Cpu | None, top: Part, side: Side, constants: Constants) -> Step:
    rate = memory.memory_bytes_per_s if isinstance(memory, Cpu) else None
    rate = (rate or constants.host_memory_bytes_per_s) * constants.host_memory_share
    place = Place(side, PlaceKind.MEMORY, top.id)
    return Step(place, 0.0, _("Host memory"), bytes_per_s=rate)


def _climb(
    machine: Machine, chain: list[Part], side: Side, constants: Constants, *, along_up: bool
) -> list[Step]:
    """Return the steps of a chain of parts from the lowest to the highest, both included."""
    steps: list[Step] = []
    for position, lower in enumerate(chain):
        if position:
            steps += _uplink(machine, chain[position - 1], lower, side, constants, along_up=along_up)
        steps.append(_inside(lower, side, constants))
    return steps


def _inside(part: Part, side: Side, constants: Constants) -> Step:
    place = Place(side, PlaceKind.PART, part.id)
    if isinstance(part, Gpu):
        return Step(place, 0.0, _("GPU memory"), bytes_per_s=part.memory_bytes_per_s)
    if isinstance(part, Cpu) or (isinstance(part, Bridge) and part.kind is BridgeKind.HOST_BRIDGE):
        return Step(place, constants.root_complex_s if isinstance(part, Cpu) else 0.0)
    if isinstance(part, Bridge) and part.kind is BridgeKind.SWITCH:
        return Step(place, constants.pcie_switch_s)
    return Step(place)


def _uplink(
    machine: Machine, lower: Part, upper: Part, side: Side, constants: Constants, *, along_up: bool
) -> list[Step]:
    place = Place(side, PlaceKind.LINK, lower.id)
    if isinstance(lower, Gpu) and lower.c2c_bytes_per_s and isinstance(upper, Cpu):
        rate = lower.c2c_bytes_per_s
        name = _("NVLink-C2C")
        return [Step(place, constants.pcie_link_s, name, bytes_per_s=rate, along_up=along_up)]
    if isinstance(lower, Bridge) and lower.kind in (BridgeKind.ROOT_PORT, BridgeKind.HOST_BRIDGE):
        return []
    if isinstance(lower, Nic) and lower.busid is None:
        return []
    if not isinstance(lower, Bridge | Gpu | Nic | Device):
        return []
    link, assumed = link_of(machine, lower)
    name = _("PCIe {link} (assumed)") if assumed else _("PCIe {link}")
    return [Step(place, constants.pcie_link_s, name.format(link=link), link, along_up=along_up)]


def _sockets(
    machine: Machine, side: Side, left: Part, right: Part, constants: Constants, *, memory_traffic: bool
) -> Step:
    order = {part.id: position for position, part in enumerate(machine)}
    first, second = sorted((left.id, right.id), key=lambda part_id: order[part_id])
    rate = socket_memory_bytes_per_s(left if isinstance(left, Cpu) else None)
    return Step(
        Place(side, PlaceKind.LINK, f"{first}-{second}"),
        constants.socket_s,
        _("CPU interconnect"),
        bytes_per_s=rate if memory_traffic else None,
    )
