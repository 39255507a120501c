"""A listing to a machine: NUMA nodes, host bridges, root ports and switches, GPUs and NICs."""

from __future__ import annotations

from gdviz.machine import Bridge, BridgeKind, Cpu, Device, Gpu, LinkLayer, Nic, Parts, PcieLink
from gdviz.messages import _
from gdviz.readers.lspci.facts import (
    DISPLAY,
    INFINIBAND_CLASS,
    NETWORK,
    OLD_INFINIBAND_CLASS,
    PciFunction,
    PciListing,
)
from gdviz.readers.lspci.kinds import is_gpu, is_nic, model_of_gpu, model_of_nic
from gdviz.readers.lspci.tree import PciTree
from gdviz.readers.notices import Notices

#: GPUs and NICs, virtual functions too, that a machine is built of.
MAX_DEVICES = 4096


class MachineBuilder:
    """Builds GPUs, NICs and what is above them.

    Bridges above nothing of interest are left out, and of a switch's ports all but the upstream one.
    """

    def __init__(self, listing: PciListing, notices: Notices) -> None:
        self._tree = PciTree(listing)
        self._notices = notices
        self._cpus: dict[int, Cpu] = {}
        self._bridges: dict[str, Bridge] = {}
        self._gpus: list[Gpu] = []
        self._nics: list[Nic] = []
        self._devices: list[Device] = []
        self._numa_of_roots = self._roots(listing)

    def _roots(self, listing: PciListing) -> dict[str, int]:
        """Return the NUMA node of each root bus: the one that any function below it names."""
        found: dict[str, int] = {}
        for function in listing.functions:
            if function.numa is not None and (root := self._tree.root_of(function)):
                found.setdefault(root, function.numa)
        return found

    def parts(self) -> Parts:
        """Return the machine's parts."""
        homeless = 0
        above = self._tree.leading
        for function in self._tree.listing.functions:
            if function.busid in above:
                continue
            gpu, nic = is_gpu(function), is_nic(function)
            if not gpu and not nic:
                if function.class_code is not None and function.class_code >> 8 in (DISPLAY, NETWORK):
                    self._device(function)
                continue
            if len(self._gpus) + len(self._nics) >= MAX_DEVICES:
                self._notices.add(
                    _("Only the first {n} GPUs and NICs were taken.").format(n=MAX_DEVICES), function.line
                )
                break
            parent, numa = self._place(function)
            homeless += self._tree.root_of(function) is None
            if gpu:
                self._gpu(function, parent, numa)
            else:
                self._nic(function, parent, numa)
        if homeless and self._gpus and self._nics:
            self._notices.add(
                _(
                    "The listing shows no buses of bridges: "
                    "how far GPUs and NICs are from each other is unknown."
                ),
                self._tree.by_busid[self._gpus[0].busid].line,
            )
        roots = {bridge.id for bridge in self._bridges.values() if bridge.kind is BridgeKind.HOST_BRIDGE}
        if self._gpus and self._nics and len(roots) > 1 and set(self._cpus) == {-1}:
            self._notices.add(
                _("The listing names no NUMA nodes: what is called NODE may be SYS."),
                self._tree.by_busid[self._gpus[0].busid].line,
            )
        return Parts(
            tuple(sorted(self._cpus.values(), key=lambda cpu: cpu.numa)),
            tuple(self._bridges.values()),
            tuple(self._gpus),
            tuple(self._nics),
            tuple(self._devices),
        )

    def _place(self, function: PciFunction) -> tuple[str, int]:
        """Return the part above a function, built if need be, and its NUMA node."""
        chain = self._tree.bridges_above(function)
        root = self._tree.root_of(function)
        numa = next((part.numa for part in (function, *chain) if part.numa is not None), None)
        if numa is None:
            numa = self._numa_of_roots.get(root or "", -1)
        parent = self._cpu(numa)
        if root is not None:
            parent = self._host_bridge(root, parent)
        for bridge in reversed(chain):
            kind = self._tree.port_type(bridge)
            if kind == "Downstream Port":
                # A switch is one part, named by its upstream port.
                continue
            parent = self._bridge(bridge, parent, root_port=kind == "Root Port")
        return parent, numa

    def _cpu(self, numa: int) -> str:
        part_id = f"cpu{numa}" if numa >= 0 else "cpu"
        self._cpus.setdefault(numa, Cpu(part_id, numa))
        return part_id

    def _host_bridge(self, root: str, cpu: str) -> str:
        part_id = f"pci{root}"
        self._bridges.setdefault(part_id, Bridge(part_id, cpu, BridgeKind.HOST_BRIDGE))
        return part_id

    def _bridge(self, function: PciFunction, parent: str, *, root_port: bool) -> str:
        if function.busid not in self._bridges:
            kind = BridgeKind.ROOT_PORT if root_port else BridgeKind.SWITCH
            link = PcieLink() if root_port else self._link(function)
            self._bridges[function.busid] = Bridge(
                function.busid, parent, kind, link, function.pci, function.name
            )
        return function.busid

    def _link(self, function: PciFunction) -> PcieLink:
        """Return the link above a function; what both ends can is known if both are listed."""
        own = function.link.link
        above = self._tree.above(function)
        if above is None or above.link.cap_line is None:
            return PcieLink(own.gen, own.width)
        other = above.link.link
        most = self._tree.first_function(function).link.link
        return PcieLink(
            own.gen if function.link.line is not None else other.gen,
            own.width if function.link.line is not None else other.width,
            _least(most.max_gen, other.max_gen),
            _least(most.max_width, other.max_width),
        )

    def _gpu(self, function: PciFunction, parent: str, numa: int) -> None:
        model = model_of_gpu(function)
        window = max(
            (bar.size_bytes or 0 for bar in function.bars if bar.prefetchable and bar.region in (1, 2)),
            default=0,
        )
        self._gpus.append(
            Gpu(
                id=function.busid,
                index=len(self._gpus),
                parent=parent,
                busid=function.busid,
                name=model.name if model else (function.name or "GPU"),
                numa=numa,
                link=self._link(function),
                pci=function.pci,
                compute_capability=model.compute_capability if model else None,
                memory_bytes=model.memory_bytes if model else None,
                memory_bytes_per_s=model.memory_bytes_per_s if model else None,
                bar1_bytes=window or None,
            )
        )

    def _nic(self, function: PciFunction, parent: str, numa: int) -> None:
        layer = link_layer(function)
        index = len(self._nics)
        self._nics.append(
            Nic(
                id=function.busid,
                index=index,
                parent=parent,
                busid=function.busid,
                name=f"nic{index}",
                model=model_of_nic(function),
                numa=numa,
                link=self._link(function),
                pci=function.pci,
                link_layer=layer,
            )
        )

    def _device(self, function: PciFunction) -> None:
        parent, _numa = self._place(function)
        self._devices.append(
            Device(
                function.busid, parent, function.busid, self._link(function), function.pci, _class24(function)
            )
        )


def link_layer(function: PciFunction) -> LinkLayer:
    """Return what a NIC's class says of its port; one that speaks both says what it is set to."""
    if function.class_code is None:
        return LinkLayer.UNKNOWN
    infiniband = function.class_code in (INFINIBAND_CLASS, OLD_INFINIBAND_CLASS)
    return LinkLayer.INFINIBAND if infiniband else LinkLayer.ETHERNET


def _class24(function: PciFunction) -> int | None:
    return None if function.class_code is None else function.class_code << 8


def _least(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else min(one, other)
