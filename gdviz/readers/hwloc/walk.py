"""The objects of an hwloc topology, walked without recursion, to the parts of a machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from gdviz.machine import Bridge, BridgeKind, Cpu, Device, Gpu, Nic, PcieLink, normal_bus_id
from gdviz.machine.known import gpu_model
from gdviz.readers.gpu_names import gpu_model_by_name
from gdviz.readers.hwloc.fields import cpus_of, infos, integer, link_of, pci_type, rdma_devices
from gdviz.readers.lspci.facts import DISPLAY, NETWORK, LinkFacts, PciFunction
from gdviz.readers.lspci.kinds import is_gpu, is_nic, model_of_nic
from gdviz.readers.lspci.machine import link_layer
from gdviz.readers.unique import UniqueIds
from gdviz.readers.xml_positions import Element

#: Depth to which NUMA nodes are looked for, and bridges followed.
MAX_DEPTH = 64

#: NUMA nodes and packages that are kept.
MAX_NODES = 1024

_ARCHITECTURES = {"x86_64": "x86_64", "aarch64": "arm64", "ppc64le": "ppc64", "ppc64": "ppc64"}


@dataclass(frozen=True, slots=True)
class Place:
    """Where the walk stands.

    Attributes
    ----------
    numa
        Number of the NUMA node around; None if there is none, or several.
    chain
        Bridges above, as parts that are made when a device needs them; the host bridge first.
    depth
        PCI-to-PCI bridges above: 1 below a root port, 2 below a switch's upstream port ...
    above
        Bus id of the bridge directly above.
    """

    numa: int | None = None
    chain: tuple[Bridge, ...] = ()
    depth: int = 0
    above: str = ""


@dataclass
class Walk:
    """Takes the objects one by one.

    Attributes
    ----------
    owners
        GPU's or switch's id of each object that a matrix of distances may name (by ``gp_index``).
    """

    version: int
    architecture: str = ""
    cpus: dict[int, Cpu] = field(default_factory=dict)
    bridges: dict[str, Bridge] = field(default_factory=dict)
    gpus: list[Gpu] = field(default_factory=list)
    nics: list[Nic] = field(default_factory=list)
    devices: list[Device] = field(default_factory=list)
    functions: list[PciFunction] = field(default_factory=list)
    owners: dict[str, str] = field(default_factory=dict)
    _ids: UniqueIds = field(default_factory=UniqueIds)

    def take(self, root: Element) -> None:
        """Take a topology."""
        nodes = {
            integer(element.attributes.get("os_index"))
            for element in _inside(root, MAX_DEPTH)
            if element.attributes.get("type") == "NUMANode" and cpus_of(element.attributes.get("cpuset", ""))
        }
        start = Place(nodes.pop() if len(nodes) == 1 else None)
        todo = [(child, start) for child in reversed(root.children) if child.tag == "object"]
        packages: list[tuple[int, Element]] = []
        while todo:
            element, place = todo.pop()
            kind = element.attributes.get("type", "")
            below: Place | None = place
            if kind == "NUMANode":
                self._numa(element, packages)
                below = replace(place, numa=integer(element.attributes.get("os_index")))
            elif kind == "Bridge":
                below = self._bridge(element, place) if place.depth < MAX_DEPTH else None
            elif kind == "PCIDev":
                self._function(element, place)
                below = None
            else:
                if kind in ("Package", "Socket") and len(packages) < MAX_NODES:
                    packages.append((cpus_of(element.attributes.get("cpuset", "")), element))
                below = self._around(element, place)
            if below is not None:
                todo += [(child, below) for child in reversed(element.children) if child.tag == "object"]

    def _around(self, element: Element, place: Place) -> Place:
        """Since hwloc 2 a NUMA node is no object around others but hangs beside them."""
        nodes = [
            number
            for child in element.children
            if child.attributes.get("type") == "NUMANode"
            and cpus_of(child.attributes.get("cpuset", ""))
            and not any(inner.tag == "object" and _holds(inner) for inner in child.children)
            and (number := integer(child.attributes.get("os_index"))) is not None
        ]
        if not nodes:
            return place
        whole = element.attributes.get("type") == "Machine" and len(nodes) > 1
        return replace(place, numa=None if whole else min(nodes))

    def _numa(self, element: Element, packages: list[tuple[int, Element]]) -> None:
        number = integer(element.attributes.get("os_index"))
        mask = cpus_of(element.attributes.get("cpuset", ""))
        if number is None or number < 0 or number in self.cpus or not mask or len(self.cpus) >= MAX_NODES:
            return
        inside = [element, *(child for child in element.children if child.tag == "object")]
        around = [package for cpus, package in packages if cpus & mask == mask]
        about = next((found for part in (*around, *inside) if "CPUVendor" in (found := infos(part))), {})
        self.cpus[number] = Cpu(
            self._ids.take(f"cpu{number}"),
            number,
            _ARCHITECTURES.get(self.architecture, self.architecture),
            about.get("CPUVendor", ("", 0))[0],
            integer(about.get("CPUFamilyNumber", ("", 0))[0]),
            integer(about.get("CPUModelNumber", ("", 0))[0]),
            frozenset(bit for bit in range(mask.bit_length()) if mask >> bit & 1),
        )

    def _bridge(self, element: Element, place: Place) -> Place:
        if element.attributes.get("bridge_type", "").startswith("0"):
            buses = element.attributes.get("bridge_pci", "").partition("-")[0].replace("[", "")[:16]
            part = Bridge(self._ids.take(f"pci{buses}"), "", BridgeKind.HOST_BRIDGE)
            return Place(place.numa, (part,), 0)
        busid = normal_bus_id(element.attributes.get("pci_busid", "")) or ""
        function = self._listed(element, busid, place)
        depth = place.depth + 1
        if depth > 1 and depth % 2:
            # A switch is one part, named by its upstream port; this is one of its downstream ports.
            return Place(place.numa, place.chain, depth, busid)
        kind = BridgeKind.ROOT_PORT if depth == 1 else BridgeKind.SWITCH
        link = PcieLink() if depth == 1 else link_of(element)
        part = Bridge(
            self._ids.take(busid or "bridge"),
            "",
            kind,
            link,
            function.pci,
            element.attributes.get("name", "")[:200],
        )
        return Place(place.numa, (*place.chain, part), depth, busid)

    def _listed(self, element: Element, busid: str, place: Place) -> PciFunction:
        known = pci_type(element)
        code, vendor, device, subsystem_vendor, subsystem_device = known or (None,) * 5
        about = infos(element)
        name = f"{about.get('PCIVendor', ('', 0))[0]} {about.get('PCIDevice', ('', 0))[0]}".strip()
        function = PciFunction(
            busid,
            element.line,
            code,
            "bridge" if element.attributes.get("type") == "Bridge" else "device",
            vendor,
            device,
            subsystem_vendor,
            subsystem_device,
            name or element.attributes.get("name", "")[:200],
            LinkFacts(link_of(element)),
            numa=place.numa,
            above=place.above,
            physical_slot=about.get("PCISlot", ("", 0))[0],
        )
        if busid:
            self.functions.append(function)
        return function

    def _function(self, element: Element, place: Place) -> None:
        busid = normal_bus_id(element.attributes.get("pci_busid", "")) or ""
        function = self._listed(element, busid, place)
        systems = [child for child in _inside(element) if child.attributes.get("type") == "OSDev"]
        rdma = rdma_devices(systems, self.version)
        gpu, nic = is_gpu(function), bool(rdma) or is_nic(function)
        owner = self._ids.take(busid or "pci")
        for named in (element, *systems):
            if index := named.attributes.get("gp_index"):
                self.owners[index] = owner
        if gpu:
            self._gpu(function, owner, place, systems)
        elif nic:
            self._nics(function, owner, place, rdma)
        elif function.class_code is not None and function.class_code >> 8 in (DISPLAY, NETWORK):
            parent, _numa = self._parent(place)
            code = function.class_code << 8
            self.devices.append(Device(owner, parent, busid, function.link.link, function.pci, code))

    def _gpu(self, function: PciFunction, part_id: str, place: Place, systems: list[Element]) -> None:
        parent, numa = self._parent(place)
        printed = next(
            (found["GPUModel"][0] for system in systems if "GPUModel" in (found := infos(system))), ""
        )
        model = (
            gpu_model(function.vendor, function.device)
            or gpu_model_by_name(printed)
            or gpu_model_by_name(function.name)
        )
        self.gpus.append(
            Gpu(
                id=part_id,
                index=len(self.gpus),
                parent=parent,
                busid=function.busid,
                name=model.name if model else (printed or function.name or "GPU"),
                numa=numa,
                link=function.link.link,
                pci=function.pci,
                compute_capability=model.compute_capability if model else None,
                memory_bytes=model.memory_bytes if model else None,
                memory_bytes_per_s=model.memory_bytes_per_s if model else None,
                bar1_bytes=model.bar1_bytes if model else None,
            )
        )

    def _nics(self, function: PciFunction, owner: str, place: Place, rdma: list[Element]) -> None:
        parent, numa = self._parent(place)
        for number, system in enumerate(rdma or [None]):
            name = system.attributes.get("name", "")[:60] if system is not None else ""
            index = len(self.nics)
            part_id = owner if not name else self._ids.take(name)
            if not name and number:
                part_id = self._ids.take(owner)
            self.nics.append(
                Nic(
                    id=part_id,
                    index=index,
                    parent=parent,
                    busid=function.busid or None,
                    name=name or f"nic{index}",
                    model=model_of_nic(function),
                    numa=numa,
                    link=function.link.link,
                    pci=function.pci,
                    link_layer=link_layer(function),
                    guid=infos(system).get("NodeGUID", ("", 0))[0] if system is not None else "",
                )
            )

    def _parent(self, place: Place) -> tuple[str, int]:
        """Return the part above a device, made if need be, and its NUMA node."""
        numa = -1 if place.numa is None else place.numa
        if numa not in self.cpus:
            self.cpus[numa] = Cpu(self._ids.take(f"cpu{numa}" if numa >= 0 else "cpu"), numa)
        parent = self.cpus[numa].id
        for bridge in place.chain:
            if bridge.id not in self.bridges:
                self.bridges[bridge.id] = replace(bridge, parent=parent)
            parent = bridge.id
        return parent, numa


def _holds(element: Element) -> bool:
    """Whether an object is one that only a NUMA node of hwloc 1 has inside."""
    return element.attributes.get("type") not in ("MemCache", "OSDev", "Misc")


def _inside(element: Element, most: int = 3) -> Iterator[Element]:
    """Go through the objects in an object, to a depth."""
    todo = [(child, 1) for child in reversed(element.children) if child.tag == "object"]
    while todo:
        child, depth = todo.pop()
        yield child
        if depth < most:
            todo += [(inner, depth + 1) for inner in reversed(child.children) if inner.tag == "object"]
