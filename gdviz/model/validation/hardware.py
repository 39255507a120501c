"""Servers as the published setups describe them: a GPU, a NIC, and what lies between."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from gdviz.machine import Bridge, BridgeKind, Cpu, Gpu, LinkLayer, Machine, Nic, Parts, PcieLink, PciIds
from gdviz.machine.known import gpu_model, nic_model
from gdviz.model.workload import Endpoint

NVIDIA, MELLANOX, AMAZON = 0x10DE, 0x15B3, 0x1D0F


class Way(StrEnum):
    """What lies between GPU and NIC."""

    SWITCH = "one PCIe switch"
    ROOT = "the CPU"
    SOCKETS = "both CPUs"


@dataclass(frozen=True, slots=True)
class Server:
    """A server with two GPUs and a NIC.

    Attributes
    ----------
    cpu
        Vendor, family and model of its CPUs, as CPUID gives them; `POWER_9` for that.
    gpu, nic
        PCI vendor and device.
    gpu_gen, nic_gen
        Generation of their x16 links.
    gigabits
        Of the NIC's port.
    memory_channels, memory_mega
        Channels of a socket and their mega-transfers a second (8 bytes each).
    """

    cpu: tuple[str, int, int]
    gpu: tuple[int, int]
    nic: tuple[int, int]
    gigabits: float
    gpu_gen: int = 4
    nic_gen: int = 4
    layer: LinkLayer = LinkLayer.ETHERNET
    way: Way = Way.SWITCH
    memory_channels: int = 8
    memory_mega: int = 3200

    def machine(self, name: str = "node") -> Machine:
        """Return it as a machine: both GPUs on the same side of the NIC."""
        vendor, family, model = self.cpu
        memory = self.memory_channels * 8 * self.memory_mega * 1e6
        arch = "ppc64" if self.cpu == POWER_9 else "x86_64"
        cpus = tuple(
            Cpu(f"cpu{n}", n, arch, vendor, family, model, memory_bytes_per_s=memory) for n in range(2)
        )
        far = "cpu1" if self.way is Way.SOCKETS else "cpu0"
        ports = tuple(
            Bridge(f"port{n}", far if n else "cpu0", BridgeKind.ROOT_PORT, PcieLink()) for n in range(3)
        )
        bridges: tuple[Bridge, ...] = ports
        parents = ("port1", "port2", "port0")
        if self.way is Way.SWITCH:
            link = PcieLink(max(self.gpu_gen, self.nic_gen), 16)
            bridges = (ports[0], Bridge("switch", "port0", BridgeKind.SWITCH, link))
            parents = ("switch", "switch", "switch")
        gpus = tuple(self._gpu(n, parents[n]) for n in range(2))
        return Machine(name, Parts(cpus, bridges, gpus, (self._nic(parents[2]),)))

    def _gpu(self, index: int, parent: str) -> Gpu:
        known = gpu_model(*self.gpu)
        assert known is not None
        return Gpu(
            f"gpu{index}",
            index,
            parent,
            f"0000:0{index + 1}:00.0",
            known.name,
            link=PcieLink(self.gpu_gen, 16),
            pci=PciIds(*self.gpu),
            compute_capability=known.compute_capability,
            memory_bytes=known.memory_bytes,
            memory_bytes_per_s=known.memory_bytes_per_s,
        )

    def _nic(self, parent: str) -> Nic:
        return Nic(
            "nic0",
            0,
            parent,
            "0000:0a:00.0",
            "nic0",
            nic_model(*self.nic) or "NIC",
            link=PcieLink(self.nic_gen, 16),
            pci=PciIds(*self.nic),
            speed_bytes_per_s=self.gigabits * 1e9 / 8,
            link_layer=self.layer,
        )

    def end(self, *, gpu: int | None = 0, name: str = "node") -> Endpoint:
        """Return the NIC with a GPU's memory, or with host memory of its own socket."""
        return Endpoint(self.machine(name), "nic0", None if gpu is None else f"gpu{gpu}")

    def but(self, **changes: object) -> Server:
        """Return the server with something exchanged."""
        return replace(self, **changes)  # type: ignore[arg-type]


POWER_9 = ("IBM", 0, 0)
INTEL_BROADWELL = ("GenuineIntel", 6, 79)
INTEL_ICE_LAKE = ("GenuineIntel", 6, 106)
INTEL_SAPPHIRE_RAPIDS = ("GenuineIntel", 6, 143)
INTEL_EMERALD_RAPIDS = ("GenuineIntel", 6, 207)
AMD_ROME = ("AuthenticAMD", 23, 49)
AMD_MILAN = ("AuthenticAMD", 25, 1)

#: HGX H100 with ConnectX-7, a GPU and a NIC on each switch.
H100_CX7 = Server(INTEL_SAPPHIRE_RAPIDS, (NVIDIA, 0x2330), (MELLANOX, 0x1021), 400, 5, 5, memory_mega=4800)
#: A100 with ConnectX-6 at HDR200 on an AMD Rome board with Gen4 switches.
A100_CX6 = Server(AMD_ROME, (NVIDIA, 0x20B2), (MELLANOX, 0x101B), 200, layer=LinkLayer.INFINIBAND)
#: A30 on the other socket than its ConnectX-6 200G.
A30_CX6 = Server(INTEL_ICE_LAKE, (NVIDIA, 0x20B7), (MELLANOX, 0x101B), 200, way=Way.SOCKETS)
#: EPYC 7452 with V100 (Gen3) and ConnectX-6 HDR200, each on a root port.
V100_EPYC = Server(AMD_ROME, (NVIDIA, 0x1DB6), (MELLANOX, 0x101B), 200, 3, 4, LinkLayer.INFINIBAND, Way.ROOT)
#: A40 pairs on EPYC 7302, each on a root port.
A40_EPYC = Server(AMD_ROME, (NVIDIA, 0x2235), (MELLANOX, 0x1019), 100, way=Way.ROOT)
