"""The parts of a machine: frozen records, joined into a tree by ids.

Every part has an `id` that is unique in its machine: the bus id where there is one, else a name such
as ``cpu0``. `parent` is the id of the part above it; CPUs have none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from gdviz.machine.links import PcieLink


class BridgeKind(StrEnum):
    """What a bridge between a CPU and its devices is."""

    HOST_BRIDGE = "host bridge"
    ROOT_PORT = "root port"
    SWITCH = "switch"


class LinkLayer(StrEnum):
    """What a NIC's port speaks."""

    INFINIBAND = "InfiniBand"
    ETHERNET = "Ethernet"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class PciIds:
    """Numbers that name a PCI function's make; None where a source does not say."""

    vendor: int | None = None
    device: int | None = None
    subsystem_vendor: int | None = None
    subsystem_device: int | None = None


@dataclass(frozen=True, slots=True)
class Cpu:
    """A CPU socket or NUMA node, the root of a PCIe tree.

    Attributes
    ----------
    numa
        NUMA node number; -1 if unknown.
    affinity
        Logical CPUs that belong to it.
    memory_bytes_per_s
        Bandwidth of the host memory behind it; None if unknown.
    """

    id: str
    numa: int
    arch: str = ""
    vendor: str = ""
    family: int | None = None
    model: int | None = None
    affinity: frozenset[int] = frozenset()
    memory_bytes_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class Bridge:
    """A host bridge, a root port or a PCIe switch (named by its upstream port)."""

    id: str
    parent: str
    kind: BridgeKind = BridgeKind.SWITCH
    link: PcieLink = PcieLink()
    pci: PciIds = PciIds()
    name: str = ""
    virtual: bool = False


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU.

    Attributes
    ----------
    index
        Position among the machine's GPUs, from 0.
    compute_capability
        As CUDA counts it times ten (90 for Hopper); None if unknown.
    bar1_bytes
        Size of the BAR1 window through which peers reach its memory; None if unknown.
    gdr
        What the source says of GPUDirect RDMA support; None if it says nothing.
    c2c_bytes_per_s
        Bandwidth of an NVLink-C2C link to its CPU; None if there is none.
    """

    id: str
    index: int
    parent: str
    busid: str
    name: str = "GPU"
    numa: int = -1
    link: PcieLink = PcieLink()
    pci: PciIds = PciIds()
    compute_capability: int | None = None
    memory_bytes: int | None = None
    memory_bytes_per_s: float | None = None
    bar1_bytes: int | None = None
    gdr: bool | None = None
    c2c_bytes_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class Nic:
    """An RDMA device (one port), as ``ibv_devices`` lists it.

    Attributes
    ----------
    index
        Position among the machine's NICs, from 0.
    busid
        None for a network interface that is no PCI function (a virtual one).
    speed_bytes_per_s
        Port speed; None if unknown.
    """

    id: str
    index: int
    parent: str
    busid: str | None
    name: str
    model: str = "NIC"
    numa: int = -1
    link: PcieLink = PcieLink()
    pci: PciIds = PciIds()
    port: int = 1
    speed_bytes_per_s: float | None = None
    link_layer: LinkLayer = LinkLayer.UNKNOWN
    guid: str = ""
    gdr: bool | None = None


@dataclass(frozen=True, slots=True)
class Device:
    """A PCI function whose kind the source does not tell, or that is neither GPU nor NIC."""

    id: str
    parent: str
    busid: str
    link: PcieLink = PcieLink()
    pci: PciIds = PciIds()
    pci_class: int | None = None


class PeerKind(StrEnum):
    """What is at the far end of an NVLink (or xGMI link)."""

    GPU = "GPU"
    SWITCH = "NVSwitch"
    CPU = "CPU"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class NvLink:
    """Links of one GPU to one peer: NVLink, or xGMI between AMD GPUs.

    Attributes
    ----------
    gpu
        Id of the GPU.
    target
        Id of the peer GPU, or bus id of the switch.
    count
        Number of links between the two.
    bytes_per_s
        All of them together, one way; None if unknown.
    """

    gpu: str
    target: str
    count: int
    kind: PeerKind = PeerKind.UNKNOWN
    technology: str = "NVLink"
    bytes_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that a reader could not read or thinks odd.

    Attributes
    ----------
    line
        Line of the source, from 1; None where no line can be named.
    text
        One sentence, naming the element.
    """

    text: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Parts:
    """All parts of a machine, by kind and in the source's order."""

    cpus: tuple[Cpu, ...] = ()
    bridges: tuple[Bridge, ...] = ()
    gpus: tuple[Gpu, ...] = ()
    nics: tuple[Nic, ...] = ()
    devices: tuple[Device, ...] = ()
    nvlinks: tuple[NvLink, ...] = field(default=())


Part: TypeAlias = Cpu | Bridge | Gpu | Nic | Device
