"""Reference machines, built from parts: what the lab opens when no file is given.

Bus ids are invented in the style of each board. Figures come from the makers' data sheets.
"""

from __future__ import annotations

from collections.abc import Callable

from gdviz.errors import UnknownDeviceError
from gdviz.machine.known import GPUS, NICS, nvlink_bytes_per_s
from gdviz.machine.links import PcieLink
from gdviz.machine.machine import Machine
from gdviz.machine.parts import (
    Bridge,
    BridgeKind,
    Cpu,
    Gpu,
    LinkLayer,
    Nic,
    NvLink,
    Parts,
    PciIds,
    PeerKind,
)
from gdviz.messages import _

_H100 = PciIds(0x10DE, 0x2330, 0x10DE, 0x16C1)
_A100 = PciIds(0x10DE, 0x20B2, 0x10DE, 0x1463)
_A30 = PciIds(0x10DE, 0x20B7, 0x10DE, 0x1532)
_CONNECTX_7 = PciIds(0x15B3, 0x1021, 0x15B3, 0x0041)
_CONNECTX_6 = PciIds(0x15B3, 0x101B, 0x15B3, 0x0007)
_GEN5_SWITCH = PciIds(0x1000, 0xC030, 0x1000, 0x0072)
_GEN4_SWITCH = PciIds(0x10B5, 0x9797, 0x10B5, 0x9797)

#: Eight channels of DDR5-4800, and of DDR4-3200, a socket: 8 bytes times the transfer rate each.
_DDR5_8_CHANNELS = 8 * 8 * 4800e6
_DDR4_8_CHANNELS = 8 * 8 * 3200e6


def _gpu(index: int, busid: str, parent: str, numa: int, pci: PciIds, link: PcieLink) -> Gpu:
    assert pci.vendor is not None and pci.device is not None
    model = GPUS[pci.vendor, pci.device]
    return Gpu(
        id=busid,
        index=index,
        parent=parent,
        busid=busid,
        name=model.name,
        numa=numa,
        link=link,
        pci=pci,
        compute_capability=model.compute_capability,
        memory_bytes=model.memory_bytes,
        memory_bytes_per_s=model.memory_bytes_per_s,
        bar1_bytes=model.bar1_bytes,
        gdr=True,
    )


def _nic(
    index: int,
    busid: str,
    parent: str,
    numa: int,
    pci: PciIds,
    link: PcieLink,
    gigabits: int,
    layer: LinkLayer = LinkLayer.ETHERNET,
) -> Nic:
    assert pci.vendor is not None and pci.device is not None
    return Nic(
        id=f"mlx5_{index}",
        index=index,
        parent=parent,
        busid=busid,
        name=f"mlx5_{index}",
        model=NICS[pci.vendor, pci.device],
        numa=numa,
        link=link,
        pci=pci,
        speed_bytes_per_s=gigabits * 1e9 / 8,
        link_layer=layer,
        gdr=True,
    )


def _nvswitches(gpus: list[Gpu], switches: int, links: int) -> tuple[NvLink, ...]:
    return tuple(
        NvLink(
            gpu.id,
            f"nvswitch{switch}",
            links // switches + (switch < links % switches),
            PeerKind.SWITCH,
            bytes_per_s=nvlink_bytes_per_s(
                gpu.compute_capability, links // switches + (switch < links % switches)
            ),
        )
        for gpu in gpus
        for switch in range(switches)
    )


def hgx_h100(name: str = "hgx-h100") -> Machine:
    """Return an 8-GPU HGX H100 node: 2 sockets, 8 switches, one GPU and one 400 Gb/s NIC on each."""
    link = PcieLink(5, 16, 5, 16)
    cpus = tuple(
        Cpu(
            f"cpu{socket}",
            socket,
            "x86_64",
            "GenuineIntel",
            6,
            143,
            frozenset(range(socket * 48, socket * 48 + 48)),
            _DDR5_8_CHANNELS,
        )
        for socket in range(2)
    )
    bridges: list[Bridge] = []
    gpus: list[Gpu] = []
    nics: list[Nic] = []
    for index in range(8):
        bus = 0x15 + 0x10 * index
        numa = index // 4
        root, switch = f"0000:{bus:02x}:01.0", f"0000:{bus + 1:02x}:00.0"
        bridges += [
            Bridge(root, f"cpu{numa}", BridgeKind.ROOT_PORT, PcieLink()),
            Bridge(switch, root, BridgeKind.SWITCH, link, _GEN5_SWITCH),
        ]
        gpus.append(_gpu(index, f"0000:{bus + 3:02x}:00.0", switch, numa, _H100, link))
        nics.append(_nic(index, f"0000:{bus + 5:02x}:00.0", switch, numa, _CONNECTX_7, link, 400))
    parts = Parts(cpus, tuple(bridges), tuple(gpus), tuple(nics), (), _nvswitches(gpus, 4, 18))
    return Machine(name, parts, "catalogue:hgx-h100")


def dgx_a100(name: str = "dgx-a100") -> Machine:
    """Return an 8-GPU A100 node: 4 switches, two GPUs and two 200 Gb/s NICs on each."""
    link = PcieLink(4, 16, 4, 16)
    cpus = tuple(
        Cpu(
            f"cpu{socket}",
            socket,
            "x86_64",
            "AuthenticAMD",
            23,
            49,
            frozenset(range(socket * 64, socket * 64 + 64)),
            _DDR4_8_CHANNELS,
        )
        for socket in range(2)
    )
    bridges: list[Bridge] = []
    gpus: list[Gpu] = []
    nics: list[Nic] = []
    for group in range(4):
        bus = 0x05 + 0x40 * group
        numa = group // 2
        root, switch = f"0000:{bus - 4:02x}:01.1", f"0000:{bus - 3:02x}:00.0"
        bridges += [
            Bridge(root, f"cpu{numa}", BridgeKind.ROOT_PORT, PcieLink()),
            Bridge(switch, root, BridgeKind.SWITCH, link, _GEN4_SWITCH),
        ]
        for slot in range(2):
            index = 2 * group + slot
            gpus.append(_gpu(index, f"0000:{bus + 4 * slot:02x}:00.0", switch, numa, _A100, link))
            nics.append(
                _nic(
                    index,
                    f"0000:{bus + 16 + 4 * slot:02x}:00.0",
                    switch,
                    numa,
                    _CONNECTX_6,
                    link,
                    200,
                    LinkLayer.INFINIBAND,
                )
            )
    parts = Parts(cpus, tuple(bridges), tuple(gpus), tuple(nics), (), _nvswitches(gpus, 6, 12))
    return Machine(name, parts, "catalogue:dgx-a100")


def pcie_a30(name: str = "pcie-a30") -> Machine:
    """Return a server without switches: an A30 and a NIC on one socket, an A30 on the other."""
    link = PcieLink(4, 16, 4, 16)
    cpus = tuple(
        Cpu(
            f"cpu{socket}",
            socket,
            "x86_64",
            "GenuineIntel",
            6,
            106,
            frozenset(range(socket * 32, socket * 32 + 32)),
            _DDR4_8_CHANNELS,
        )
        for socket in range(2)
    )
    bridges = tuple(
        Bridge(root, cpu, BridgeKind.ROOT_PORT, PcieLink())
        for root, cpu in (
            ("0000:16:02.0", "cpu0"),
            ("0000:4a:02.0", "cpu0"),
            ("0000:97:02.0", "cpu1"),
        )
    )
    gpus = (
        _gpu(0, "0000:17:00.0", "0000:16:02.0", 0, _A30, link),
        _gpu(1, "0000:98:00.0", "0000:97:02.0", 1, _A30, link),
    )
    nics = (_nic(0, "0000:4b:00.0", "0000:4a:02.0", 0, _CONNECTX_6, link, 200),)
    return Machine(name, Parts(cpus, bridges, gpus, nics), "catalogue:pcie-a30")


CATALOGUE: dict[str, Callable[[str], Machine]] = {
    "hgx-h100": hgx_h100,
    "dgx-a100": dgx_a100,
    "pcie-a30": pcie_a30,
}


def reference_machine(key: str, name: str | None = None) -> Machine:
    """Return a machine of the catalogue.

    Raises
    ------
    UnknownDeviceError
        No such key.
    """
    if not isinstance(key, str) or key not in CATALOGUE:
        raise UnknownDeviceError(
            _("The catalogue has no machine {key!r}.").format(key=str(key)[:60]),
            _("There are: {names}.").format(names=", ".join(CATALOGUE)),
        )
    return CATALOGUE[key](name or key)
