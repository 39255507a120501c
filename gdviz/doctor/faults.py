"""Faults for teaching: each makes a simulated host behave so, and its tools show it.

``apply("acs-on-path", machines)`` returns machines and settings for the simulation and the files that the
hosts' tools would print; `Faulty.diagnose` reads these files like any others, and finds the fault in them.
Nothing of it is a real host's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from gdviz.doctor.diagnose import diagnose
from gdviz.doctor.effects import through_root
from gdviz.doctor.report import Report
from gdviz.doctor.simulated import HostState, host_files
from gdviz.errors import GdvizError
from gdviz.machine import Distance, Machine, PcieLink
from gdviz.messages import _
from gdviz.model import Fabric
from gdviz.rdma.simulated import SimulatedHost
from gdviz.readers import open_text
from gdviz.readers.case import Case, CaseNode
from gdviz.readers.reading import Reading

#: What the hosts are like before a fault: everything as it should be.
_SOUND = SimulatedHost(iommu="pt")


@dataclass(frozen=True)
class Hosts:
    """Two or more simulated hosts and the wire between them, before or after a fault.

    Attributes
    ----------
    states
        What each host's tools show.
    machines
        The hardware as it behaves: ACS, for example, bends paths that the tools show straight.
    fabric
        The wire; None for the usual one.
    unreachable
        Whether messages between the hosts are lost.
    """

    states: tuple[HostState, ...]
    machines: tuple[Machine, ...]
    fabric: Fabric | None = None
    unreachable: bool = False


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault.

    Attributes
    ----------
    code
        The finding that names it.
    title
        One line for a menu.
    text
        What it does to transfers, in one sentence.
    """

    code: str
    title: str
    text: str
    apply: Callable[[Hosts], Hosts]


@dataclass(frozen=True)
class Faulty:
    """Simulated hosts with a fault.

    Attributes
    ----------
    fault
        The fault, None for sound hosts.
    machines, host, fabric, unreachable
        For the simulation: hardware, settings of every host, the wire, and whether it is cut.
    states
        What the tools show.
    """

    fault: Fault | None
    machines: tuple[Machine, ...]
    host: SimulatedHost
    fabric: Fabric | None
    unreachable: bool
    states: tuple[HostState, ...]

    @cached_property
    def files(self) -> Mapping[str, Mapping[str, str]]:
        """Texts by host and file name."""
        return {state.machine.name: host_files(state) for state in self.states}

    def case(self) -> Case:
        """Return the files as an opened case."""
        nodes = []
        for host, texts in self.files.items():
            readings: list[Reading] = []
            for name, text in texts.items():
                if text.strip():
                    opened = open_text(text, name=host).readings
                    readings += [replace(reading, source=f"{host}/{name}") for reading in opened]
            nodes.append(CaseNode(host, tuple(readings)))
        return Case(tuple(nodes))

    def diagnose(self) -> Report:
        """Return what the doctor says of the files."""
        return diagnose(self.case())


def apply(
    name: str | None,
    machines: Sequence[Machine],
    *,
    host: SimulatedHost | None = None,
    fabric: Fabric | None = None,
) -> Faulty:
    """Return simulated hosts with a fault.

    Parameters
    ----------
    name
        One of `FAULTS`; None: no fault.
    machines
        The hosts' hardware, as they are without it.
    host
        Settings to start from; by default everything is there, and the IOMMU passes through.
    fabric
        The wire between them.

    Raises
    ------
    GdvizError
        No such fault, or one that these machines cannot have.
    """
    settings = host or _SOUND
    states = tuple(HostState(machine, settings, address=11 + place) for place, machine in enumerate(machines))
    hosts = Hosts(states, tuple(machines), fabric)
    fault = None
    if name is not None:
        fault = FAULTS.get(name)
        if fault is None:
            raise GdvizError(
                _("There is no fault {name!r}.").format(name=str(name)[:60]),
                _("There are: {names}.").format(names=", ".join(FAULTS)),
            )
        hosts = fault.apply(hosts)
    first = hosts.states[0].settings if hosts.states else settings
    return Faulty(fault, hosts.machines, first, hosts.fabric, hosts.unreachable, hosts.states)


def _settings(hosts: Hosts, **changes: object) -> Hosts:
    states = tuple(
        replace(state, settings=replace(state.settings, **changes))  # type: ignore[arg-type]
        for state in hosts.states
    )
    return replace(hosts, states=states)


def _states(hosts: Hosts, **changes: object) -> Hosts:
    return replace(hosts, states=tuple(replace(state, **changes) for state in hosts.states))  # type: ignore[arg-type]


def _peermem_missing(hosts: Hosts) -> Hosts:
    return _states(_settings(hosts, peermem=False, dma_buf=False), open_driver=False)


def _acs(hosts: Hosts) -> Hosts:
    machines = tuple(_bent(machine) for machine in hosts.machines)
    return replace(_states(hosts, acs_redirects=True), machines=machines)


def _bent(machine: Machine) -> Machine:
    """Return a machine all of whose switched pairs go through the root complex."""
    bent = machine
    pairs = [
        path
        for gpu in machine.gpus
        for nic in machine.nics
        if (path := machine.path(gpu, nic)).distance in (Distance.PIX, Distance.PXB)
    ]
    if not pairs:
        raise GdvizError(
            _("{machine} has no GPU and NIC on one switch: ACS changes nothing there.").format(
                machine=machine.name
            )
        )
    for path in pairs:
        changed = through_root(machine, path)
        if changed is not None:
            gpus = tuple(changed.gpu(g.id) if g.id == path.gpu else g for g in bent.gpus)
            nics = tuple(changed.nic(n.id) if n.id == path.nic else n for n in bent.nics)
            bent = replace(bent, parts=replace(bent.parts, gpus=gpus, nics=nics))
    return bent


def _translating(hosts: Hosts) -> Hosts:
    return _settings(hosts, iommu="translate")


def _memlock(hosts: Hosts) -> Hosts:
    return _settings(hosts, memlock_bytes=64 * 1024)


def _bar1(hosts: Hosts) -> Hosts:
    return _settings(hosts, bar1_bytes=256 * 2**20)


def _beyond(hosts: Hosts) -> Hosts:
    """Move every NIC to the CPU, out of the switches."""
    machines = tuple(_away(machine) for machine in hosts.machines)
    states = tuple(replace(s, machine=m) for s, m in zip(hosts.states, machines, strict=True))
    return replace(hosts, states=states, machines=machines)


def _away(machine: Machine) -> Machine:
    nics = []
    for nic in machine.nics:
        cpu = machine.cpu_of(nic.id)
        nics.append(nic if cpu is None else replace(nic, parent=cpu.id))
    return replace(machine, parts=replace(machine.parts, nics=tuple(nics)))


def _degraded(hosts: Hosts) -> Hosts:
    """Train the first NIC at Gen3 x8."""
    states, machines = [], []
    for state, machine in zip(hosts.states, hosts.machines, strict=True):
        nic = machine.nics[0]
        able = PcieLink(nic.link.gen, nic.link.width, nic.link.gen, nic.link.width)
        slow = PcieLink(min(3, able.gen or 3), min(8, able.width or 8), able.gen, able.width)
        nics = (replace(nic, link=slow), *machine.nics[1:])
        machines.append(replace(machine, parts=replace(machine.parts, nics=nics)))
        states.append(replace(state, links={nic.id: slow}))
    return replace(hosts, states=tuple(states), machines=tuple(machines))


def _gid(hosts: Hosts) -> Hosts:
    return replace(_states(hosts, gid_index=1), unreachable=True)


def _mtu(hosts: Hosts) -> Hosts:
    states = (replace(hosts.states[0], mtu_bytes=1024), *hosts.states[1:])
    return replace(hosts, states=states, fabric=replace(_fabric(hosts), mtu_bytes=1024))


def _fabric(hosts: Hosts) -> Fabric:
    if hosts.fabric is not None:
        return hosts.fabric
    nics = [machine.nics[0] for machine in hosts.machines if machine.nics]
    return Fabric.between(nics[0], nics[-1]) if nics else Fabric()


def _port_down(hosts: Hosts) -> Hosts:
    states = tuple(
        replace(state, ports_down=frozenset({state.machine.nics[0].name})) for state in hosts.states
    )
    return replace(hosts, states=states, unreachable=len(hosts.states[0].machine.nics) == 1)


def _level(hosts: Hosts) -> Hosts:
    return _states(hosts, env={"NCCL_NET_GDR_LEVEL": "LOC"})


#: Faults that can be taught, by name (the code of the finding that names them).
FAULTS: Mapping[str, Fault] = {
    fault.code: fault
    for fault in (
        Fault(
            "peermem-missing",
            _("nvidia_peermem is not loaded, and the driver has no DMA-BUF"),
            _("Registering GPU memory fails with EFAULT (14); only staging is left."),
            _peermem_missing,
        ),
        Fault(
            "acs-on-path",
            _("ACS redirects at the switch ports"),
            _("Traffic between GPU and NIC goes up to the root complex and back."),
            _acs,
        ),
        Fault(
            "iommu-translating",
            _("The IOMMU translates"),
            _("Regions of GPU memory above 1 GiB fail with ENOMEM (12)."),
            _translating,
        ),
        Fault(
            "memlock-limit",
            _("Only 64 KiB may be locked"),
            _("Registering host memory beyond the limit fails with ENOMEM (12), and so does staging."),
            _memlock,
        ),
        Fault(
            "bar1-too-small",
            _("A BAR1 window of 256 MiB"),
            _("Registering more GPU memory than the window holds fails with ENOMEM (12)."),
            _bar1,
        ),
        Fault(
            "distance-beyond-level",
            _("The NICs sit at the CPU, not at the GPUs' switches"),
            _("Every pair crosses the root complex; NCCL leaves GPUDirect RDMA off."),
            _beyond,
        ),
        Fault(
            "link-degraded",
            _("The first NIC trained at Gen3 x8"),
            _("Everything through that NIC is held to the link."),
            _degraded,
        ),
        Fault(
            "gid-index-wrong",
            _("NCCL_IB_GID_INDEX names a link-local GID"),
            _("Messages are lost; senders give up after their retries (status 12)."),
            _gid,
        ),
        Fault(
            "mtu-mismatch",
            _("One host has an active MTU of 1024"),
            _("The path carries 1024 bytes a packet; real hosts often do not connect at all."),
            _mtu,
        ),
        Fault(
            "port-down",
            _("The first NIC's port is down"),
            _("That NIC carries nothing."),
            _port_down,
        ),
        Fault(
            "gdr-level-forbids",
            _("The environment sets NCCL_NET_GDR_LEVEL=LOC"),
            _("NCCL stages everything; plain verbs are not touched."),
            _level,
        ),
    )
}
