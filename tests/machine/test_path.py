from __future__ import annotations

import pytest

from gdviz.machine import (
    Bridge,
    BridgeKind,
    Cpu,
    Distance,
    Gpu,
    HopKind,
    Machine,
    Nic,
    Parts,
    Path,
    PcieLink,
    PciIds,
    reference_machine,
)

GEN4, GEN3 = PcieLink(4, 16), PcieLink(3, 8)
ROOT, HOST = BridgeKind.ROOT_PORT, BridgeKind.HOST_BRIDGE


def machine(bridges: list[Bridge], gpu: str, nic: str, **gpu_facts: float) -> Machine:
    cpus = (
        Cpu("cpu0", 0, "x86_64", "GenuineIntel", 6, 143),
        Cpu("cpu1", 1, "x86_64", "GenuineIntel", 6, 143),
    )
    the_gpu = Gpu("g", 0, gpu, "0000:01:00.0", link=GEN4, **gpu_facts)  # type: ignore[arg-type]
    the_nic = Nic("n", 0, nic, "0000:02:00.0", "mlx5_0", link=GEN3)
    return Machine("m", Parts(cpus, tuple(bridges), (the_gpu,), (the_nic,)))


def path(bridges: list[Bridge], gpu: str, nic: str, **gpu_facts: float) -> Path:
    return machine(bridges, gpu, nic, **gpu_facts).path(0, 0)


NO_IDS = PciIds()


def switch(name: str, parent: str, pci: PciIds = NO_IDS) -> Bridge:
    return Bridge(name, parent, link=GEN4, pci=pci)


@pytest.mark.parametrize(
    ("bridges", "gpu", "nic", "distance", "nccl"),
    [
        ([switch("s", "cpu0")], "s", "s", "PIX", "PIX"),
        ([Bridge("r", "cpu0", ROOT), switch("s", "r")], "s", "s", "PIX", "PIX"),
        ([switch("s", "cpu0"), switch("t", "s")], "t", "s", "PXB", "PXB"),
        ([switch("s", "cpu0"), switch("t", "s"), switch("u", "s")], "t", "u", "PXB", "PXB"),
        ([switch("s", "cpu0"), switch("t", "cpu0")], "s", "t", "PHB", "PHB"),
        ([], "cpu0", "cpu0", "PHB", "PHB"),
        ([Bridge("r", "cpu0", ROOT), Bridge("q", "cpu0", ROOT)], "r", "q", "PHB", "PHB"),
        ([Bridge("h", "cpu0", HOST), Bridge("r", "h", ROOT), Bridge("q", "h", ROOT)], "r", "q", "PHB", "PHB"),
        ([Bridge("h", "cpu0", HOST), Bridge("i", "cpu0", HOST)], "h", "i", "NODE", "PHB"),
        ([switch("s", "cpu0"), switch("t", "cpu1")], "s", "t", "SYS", "SYS"),
        ([], "cpu0", "cpu1", "SYS", "SYS"),
    ],
)
def test_classes(bridges: list[Bridge], gpu: str, nic: str, distance: str, nccl: str) -> None:
    found = path(bridges, gpu, nic)
    assert (found.distance, found.nccl) == (distance, nccl)


BROADCOM_4 = PciIds(0x1000, 0xC010, 0x1000, 0xA096)
UPPER_5, LOWER_5 = PciIds(0x1000, 0xC030, 0x1000, 0x0072), PciIds(0x1000, 0xC030, 0x1000, 0x1003)
NVIDIA_BOARD = PciIds(0x1000, 0xC010, 0x10DE, 0x13B8)


@pytest.mark.parametrize(
    ("ids", "gpu", "nic", "nccl"),
    [
        # One switch of two levels.
        ([BROADCOM_4, BROADCOM_4], 1, 0, "PIX"),
        ([UPPER_5, LOWER_5], 1, 0, "PIX"),
        # Levels that do not belong together.
        ([LOWER_5, UPPER_5], 1, 0, "PXB"),
        ([UPPER_5, UPPER_5], 1, 0, "PXB"),
        ([BROADCOM_4, LOWER_5], 1, 0, "PXB"),
        ([BROADCOM_4, NVIDIA_BOARD], 1, 0, "PXB"),
        ([PciIds(), PciIds()], 1, 0, "PXB"),
        # The third level stays a switch of its own, the fourth joins the third.
        ([BROADCOM_4] * 3, 2, 0, "PXB"),
        ([BROADCOM_4] * 3, 2, 1, "PXB"),
        ([BROADCOM_4] * 4, 3, 2, "PIX"),
        ([BROADCOM_4] * 4, 3, 1, "PXB"),
        ([BROADCOM_4, BROADCOM_4, NVIDIA_BOARD], 2, 0, "PXB"),
    ],
)
def test_nccl_counts_a_two_level_broadcom_switch_as_one(
    ids: list[PciIds], gpu: int, nic: int, nccl: str
) -> None:
    bridges = [
        switch(f"s{level}", f"s{level - 1}" if level else "cpu0", pci) for level, pci in enumerate(ids)
    ]
    found = path(bridges, f"s{gpu}", f"s{nic}")
    assert found.distance == "PXB"
    assert found.nccl == nccl


def test_two_lower_levels_of_one_broadcom_switch() -> None:
    bridges = [switch("s", "cpu0", UPPER_5), switch("t", "s", LOWER_5), switch("u", "s", LOWER_5)]
    assert path(bridges, "t", "u").nccl == "PIX"


def test_hops_within_a_switch() -> None:
    found = path([switch("s", "cpu0")], "s", "s")
    assert [(hop.source, hop.target, hop.kind, hop.link, hop.link_of) for hop in found.hops] == [
        ("g", "s", HopKind.PCIE, GEN4, "g"),
        ("s", "n", HopKind.PCIE, GEN3, "n"),
    ]
    assert found.parts == ("g", "s", "n")
    assert found.bottleneck is found.hops[1]


def test_hops_between_sockets() -> None:
    found = path([switch("s", "cpu0")], "s", "cpu1")
    assert [(hop.source, hop.target, hop.kind) for hop in found.hops] == [
        ("g", "s", HopKind.PCIE),
        ("s", "cpu0", HopKind.PCIE),
        ("cpu0", "cpu1", HopKind.SOCKETS),
        ("cpu1", "n", HopKind.PCIE),
    ]
    assert found.hops[2].bytes_per_s == 22e9


def test_c2c_goes_round_pcie() -> None:
    found = path([switch("s", "cpu0")], "s", "cpu0", c2c_bytes_per_s=447e9)
    assert found.distance is Distance.P2C
    assert [(hop.source, hop.target, hop.kind) for hop in found.hops] == [
        ("g", "cpu0", HopKind.C2C),
        ("cpu0", "n", HopKind.PCIE),
    ]
    other_socket = path([switch("s", "cpu0")], "s", "cpu1", c2c_bytes_per_s=447e9)
    assert other_socket.distance is Distance.SYS
    assert [hop.kind for hop in other_socket.hops] == [HopKind.C2C, HopKind.SOCKETS, HopKind.PCIE]
    below_a_switch = path([switch("s", "cpu0")], "s", "s", c2c_bytes_per_s=447e9)
    assert below_a_switch.distance is Distance.PIX


def test_no_bottleneck_without_figures() -> None:
    nic = Nic("n", 0, "cpu0", None, "virbr0")
    gpu = Gpu("g", 0, "cpu0", "0000:01:00.0")
    found = Machine("m", Parts((Cpu("cpu0", 0),), (), (gpu,), (nic,))).path(0, 0)
    assert [hop.kind for hop in found.hops] == [HopKind.PCIE, HopKind.INTERNAL]
    assert found.bottleneck is None


def test_reference_machines() -> None:
    hgx, a30 = reference_machine("hgx-h100"), reference_machine("pcie-a30")
    assert hgx.path(0, 0).distance == "PIX"
    assert hgx.path(0, 1).distance == "PHB"
    assert hgx.path(0, 7).distance == "SYS"
    assert reference_machine("dgx-a100").path(0, 1).distance == "PIX"
    assert [a30.path(gpu, 0).distance for gpu in (0, 1)] == ["PHB", "SYS"]


def test_ranks_and_meanings() -> None:
    assert [distance.rank for distance in Distance] == list(range(len(Distance)))
    assert len({distance.meaning for distance in Distance}) == len(Distance)
