"""PCIe links that a source does not tell, or tells in part."""

from __future__ import annotations

import pytest

from gdviz.machine import Bridge, BridgeKind, Cpu, Gpu, Machine, Nic, Parts, PcieLink, PciIds
from gdviz.model.links import link_of

UNKNOWN = PcieLink()


def machine(*, gpu: Gpu | None = None, nic: Nic | None = None, upper: PcieLink = UNKNOWN) -> Machine:
    switch = Bridge("switch", "cpu0", BridgeKind.SWITCH, upper)
    parts = Parts((Cpu("cpu0", 0),), (switch,), (gpu,) if gpu else (), (nic,) if nic else ())
    return Machine("m", parts)


def gpu(name: str, capability: int | None, link: PcieLink = UNKNOWN) -> Gpu:
    return Gpu("g", 0, "switch", "0000:01:00.0", name, link=link, compute_capability=capability)


def nic(device: int | None, link: PcieLink = UNKNOWN) -> Nic:
    pci = PciIds(0x15B3, device)
    return Nic("n", 0, "switch", "0000:02:00.0", "n", "NIC", link=link, pci=pci)


@pytest.mark.parametrize(
    ("part", "link", "assumed"),
    [
        (gpu("H100-SXM5-80GB", 90), PcieLink(5, 16), True),
        (gpu("A100-SXM4-80GB", 80), PcieLink(4, 16), True),
        (gpu("L40S", 89), PcieLink(4, 16), True),
        (gpu("V100-PCIE-32GB", 70), PcieLink(3, 16), True),
        (gpu("B200", 100), PcieLink(5, 16), True),
        (gpu("Instinct MI300X", None), PcieLink(5, 16), True),
        (gpu("Instinct MI210", None), PcieLink(4, 16), True),
        (gpu("GPU", None), PcieLink(3, 16), True),
        (gpu("H100-SXM5-80GB", 90, PcieLink(1, 16)), PcieLink(1, 16), False),
        (gpu("H100-SXM5-80GB", 90, PcieLink(4, None)), PcieLink(4, 16), True),
        (gpu("H100-SXM5-80GB", 90, PcieLink(5, 0)), PcieLink(5, 16), True),
        (nic(0x1021), PcieLink(5, 16), True),
        (nic(0x101B), PcieLink(4, 16), True),
        (nic(0x1015), PcieLink(3, 8), True),
        (nic(None), PcieLink(3, 16), True),
        (nic(0x1021, PcieLink(5, 8)), PcieLink(5, 8), False),
    ],
)
def test_a_device_has_its_own_link_or_its_models(part: Gpu | Nic, link: PcieLink, assumed: bool) -> None:
    node = machine(gpu=part) if isinstance(part, Gpu) else machine(nic=part)
    assert link_of(node, part) == (link, assumed)


def test_a_bridge_has_the_fastest_link_below_it() -> None:
    node = machine(gpu=gpu("A100-SXM4-80GB", 80), nic=nic(0x1021, PcieLink(5, 16)))
    assert link_of(node, node.bridges[0]) == (PcieLink(5, 16), True)
    told = machine(gpu=gpu("H100-SXM5-80GB", 90), upper=PcieLink(4, 8))
    assert link_of(told, told.bridges[0]) == (PcieLink(4, 8), False)
    empty = machine()
    assert link_of(empty, empty.bridges[0]) == (PcieLink(3, 16), True)
