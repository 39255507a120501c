"""The parts of one host of an NCCL topology, collected element by element."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gdviz.machine import Bridge, Cpu, Device, Gpu, Parts, PcieLink, PciIds
from gdviz.machine.known import gpu_model
from gdviz.messages import _
from gdviz.readers.nccl_fields import (
    BRIDGE_CLASSES,
    GPU_CLASSES,
    NIC_CLASSES,
    affinity,
    bus_id,
    flag,
    integer,
    name_of,
    pci_class,
    pci_ids,
    pcie_link,
)
from gdviz.readers.nccl_nics import RawNic, make_nics, order_by_dev
from gdviz.readers.nccl_nvlinks import RawNvLink, join_nvlinks
from gdviz.readers.notices import Notices, shown
from gdviz.readers.unique import UniqueIds
from gdviz.readers.xml_positions import Element

#: Bus of bridges that people make up to group devices, as clouds' topology files do.
_MADE_UP = "ffff:ff:"

#: RCCL writes 910 for gfx90a; the other numbers are the architecture's own.
_GFX = {"910": "gfx90a"}


@dataclass(frozen=True, slots=True)
class PciFunction:
    """A ``<pci>`` that holds (or is) a GPU or a NIC."""

    busid: str
    link: PcieLink
    ids: PciIds
    pci_class: str | None


@dataclass(frozen=True, slots=True)
class Place:
    """Where the walk stands.

    Attributes
    ----------
    tag
        Tag of the element whose children come next.
    part
        Id of the part to which they belong.
    numa
        NUMA node of the CPU above.
    pci
        The function they are in, None directly under a CPU or a bridge.
    gpu, architecture
        Id of the GPU they are in, and AMD's name of its architecture.
    """

    tag: str
    part: str
    numa: int
    pci: PciFunction | None = None
    gpu: str = ""
    architecture: str = ""


class HostReader:
    """Takes the elements of one host in the file's order and gives its `Parts`."""

    def __init__(self, notices: Notices) -> None:
        self.notices = notices
        self.cpus: list[Cpu] = []
        self._line: int | None = None
        self._ids = UniqueIds()
        self._bridges: list[Bridge] = []
        self._devices: list[Device] = []
        self._gpus: list[tuple[Gpu, int | None]] = []
        self._nics: list[RawNic] = []
        self._links: list[RawNvLink] = []

    def parts(self) -> Parts:
        """Return what was collected: indexed, named, joined."""
        gpus = {gpu.id: replace(gpu, index=index) for index, gpu in enumerate(order_by_dev(self._gpus))}
        nics = make_nics(self._nics, self._ids, self.notices)
        links = join_nvlinks(self._links, gpus, self.notices)
        self._compare_masks()
        return Parts(
            tuple(self.cpus), tuple(self._bridges), tuple(gpus.values()), nics, tuple(self._devices), links
        )

    def add_cpu(self, element: Element) -> Place:
        """Take a ``<cpu>``."""
        numa = integer(element, "numaid", self.notices)
        if "numaid" not in element.attributes:
            self.notices.add(_("A <cpu> has no numaid."), element.line, kind="no numaid")
        part_id = self._unique(f"cpu{numa}" if numa is not None else "cpu", element)
        cpu = Cpu(
            part_id,
            -1 if numa is None else numa,
            name_of(element, "arch"),
            name_of(element, "vendor"),
            integer(element, "familyid", self.notices),
            integer(element, "modelid", self.notices),
            affinity(element, self.notices),
        )
        self.cpus.append(cpu)
        self._line = self._line or element.line
        return Place("cpu", part_id, cpu.numa)

    def add(self, element: Element, place: Place) -> Place | None:
        """Take an element that NCCL knows at this place; return where its children are, None to skip them."""
        match element.tag:
            case "pci":
                return self._pci(element, place)
            case "gpu":
                return self._gpu(element, place)
            case "nic":
                nets = [child for child in element.children if child.tag == "net"]
                if not nets:
                    self._nic(None, element, place)
                return replace(place, tag="nic")
            case "net":
                self._nic(element, element, place)
            case "nvlink" | "xgmi":
                self._links.append(RawNvLink(place.gpu, element, place.architecture))
        return None

    def _pci(self, element: Element, place: Place) -> Place:
        tags = {child.tag for child in element.children}
        busid = bus_id(element, self.notices)
        function = PciFunction(
            busid,
            pcie_link(element, self.notices),
            pci_ids(element, self.notices),
            pci_class(element, self.notices),
        )
        digits = function.pci_class or ""
        is_device = digits.startswith((*GPU_CLASSES, *NIC_CLASSES))
        if digits.startswith(BRIDGE_CLASSES) or ("pci" in tags and not is_device):
            part_id = self._unique(busid or "pci", element)
            made_up = busid.startswith(_MADE_UP)
            self._bridges.append(
                Bridge(part_id, place.part, link=function.link, pci=function.ids, virtual=made_up)
            )
            return Place("pci", part_id, place.numa)
        if "pci" in tags:
            self.notices.add(
                _("<pci> {busid} is no bridge but holds <pci>; these were put beside it.").format(
                    busid=shown(busid)
                ),
                element.line,
                kind="pci in a device",
            )
        below = Place("pci", place.part, place.numa, function)
        if digits.startswith(GPU_CLASSES) and "gpu" not in tags:
            self._gpu(element, below)
        elif digits.startswith(NIC_CLASSES) and not tags & {"nic", "gpu"}:
            self._nic(None, element, below)
        elif not tags & {"nic", "gpu"}:
            self._device(element, below, function)
        return below

    def _device(self, element: Element, place: Place, function: PciFunction) -> None:
        if function.pci_class is None:
            self.notices.add(
                _("<pci> {busid} has no class: it may be a GPU, a NIC or anything else.").format(
                    busid=shown(function.busid)
                ),
                element.line,
                kind="no class",
            )
        part_id = self._unique(function.busid or "pci", element)
        number = int(function.pci_class, 16) if function.pci_class else None
        self._devices.append(Device(part_id, place.part, function.busid, function.link, function.ids, number))

    def _gpu(self, element: Element, place: Place) -> Place:
        function = place.pci
        if function is None:
            self.notices.add(
                _("A <gpu> stands in the bridge {part}, not in a <pci> of its own.").format(
                    part=shown(place.part)
                ),
                element.line,
                kind="gpu in a bridge",
            )
            function = PciFunction("", PcieLink(), PciIds(), None)
        architecture = _architecture(element)
        model = gpu_model(function.ids.vendor, function.ids.device)
        sm = integer(element, "sm", self.notices)
        # RCCL writes the number of compute units into sm.
        capability = None if architecture else sm
        if capability is None and model is not None:
            capability = model.compute_capability
        gpu = Gpu(
            id=self._unique(function.busid or "gpu", element),
            index=0,
            parent=place.part,
            busid=function.busid,
            name=model.name if model else (f"AMD {architecture}" if architecture else "GPU"),
            numa=place.numa,
            link=function.link,
            pci=function.ids,
            compute_capability=capability,
            memory_bytes=model.memory_bytes if model else None,
            memory_bytes_per_s=model.memory_bytes_per_s if model else None,
            bar1_bytes=model.bar1_bytes if model else None,
            gdr=flag(element, "gdr", self.notices),
            c2c_bytes_per_s=self._c2c(element),
        )
        self._gpus.append((gpu, integer(element, "dev", self.notices)))
        return replace(place, tag="gpu", gpu=gpu.id, architecture=architecture)

    def _c2c(self, element: Element) -> float | None:
        """NCCL multiplies ``bw``, in MB/s, by the number of links (src/graph/topo.cc, ncclTopoAddC2c)."""
        total = 0.0
        for child in element.children:
            if child.tag == "c2c":
                bandwidth = integer(child, "bw", self.notices) or 0
                count = integer(child, "count", self.notices) or 0
                total += max(0, bandwidth) * max(0, count) * 1e6
        return total or None

    def _nic(self, net: Element | None, element: Element, place: Place) -> None:
        pci = place.pci
        self._nics.append(
            RawNic(
                parent=place.part,
                numa=place.numa,
                busid=(pci.busid or None) if pci else None,
                link=pci.link if pci else PcieLink(),
                ids=pci.ids if pci else PciIds(),
                pci_class=pci.pci_class if pci else None,
                net=net,
                line=element.line,
            )
        )

    def _unique(self, wanted: str, element: Element) -> str:
        part_id = self._ids.take(wanted)
        if part_id != wanted and element.tag != "gpu":
            self.notices.add(
                _("{part} occurs more than once; the one in this line is called {name}.").format(
                    part=shown(wanted), name=shown(part_id)
                ),
                element.line,
                kind="twice",
            )
        return part_id

    def _compare_masks(self) -> None:
        masks = {cpu.affinity for cpu in self.cpus}
        if len(self.cpus) > 1 and len(masks) == 1 and frozenset() not in masks:
            self.notices.add(
                _(
                    "All {n} <cpu> have the same affinity: processes cannot be bound near their devices, "
                    "and the NUMA nodes may be wrong too."
                ).format(n=len(self.cpus)),
                self._line,
            )


def _architecture(element: Element) -> str:
    """Return AMD's name of a GPU's architecture, empty for NVIDIA's."""
    text = name_of(element, "gcn")
    if not text:
        return ""
    return text if text.startswith("gfx") else _GFX.get(text, f"gfx{text}")
