"""Port speeds that a source does not tell."""

from __future__ import annotations

import pytest

from gdviz.machine import Cpu, Machine, Nic, Parts, PcieLink, PciIds
from gdviz.model import Endpoint, Workload, predict
from gdviz.model.peer import peer_ceilings, socket_memory_bytes_per_s
from gdviz.model.ports import assumed_port_bytes_per_s

MELLANOX, AMAZON = 0x15B3, 0x1D0F


def nic(vendor: int | None, device: int | None, gen: int | None, width: int | None = 16) -> Nic:
    link = PcieLink(gen, width)
    return Nic("n", 0, "cpu0", "0000:01:00.0", "n", "NIC", link=link, pci=PciIds(vendor, device))


@pytest.mark.parametrize(
    ("vendor", "device", "gen", "width", "gigabits"),
    [
        (MELLANOX, 0x1021, 5, 16, 400),  # ConnectX-7
        (MELLANOX, 0x1021, 4, 16, 200),  # ... in an older slot
        (MELLANOX, 0x1021, 5, 8, 200),
        (MELLANOX, 0x1021, None, None, 400),
        (MELLANOX, 0x101B, 4, 16, 200),  # ConnectX-6
        (MELLANOX, 0x101B, 5, 16, 200),
        (MELLANOX, 0x101C, 4, 16, 200),  # ... its virtual function
        (MELLANOX, 0x1017, 3, 16, 100),  # ConnectX-5
        (MELLANOX, 0x1023, 6, 16, 800),  # ConnectX-8
        (MELLANOX, 0xA2DC, 5, 16, 400),  # BlueField-3
        (AMAZON, 0xEFA0, 4, 16, 100),
        (AMAZON, 0xEFA2, 5, 16, 200),
        (AMAZON, 0xEFA3, 5, 16, 400),
        (None, None, 5, 16, 400),
        (None, None, 3, 16, 100),
        (None, None, 3, 4, 77),
        (None, None, None, 16, 77),
    ],
)
def test_by_model_and_link(
    vendor: int | None, device: int | None, gen: int | None, width: int | None, gigabits: int
) -> None:
    found = assumed_port_bytes_per_s(nic(vendor, device, gen, width), 77e9 / 8)
    assert found * 8 / 1e9 == pytest.approx(gigabits)


def test_the_prediction_says_that_it_is_assumed() -> None:
    cpu = Cpu("cpu0", 0, "x86_64", memory_bytes_per_s=300e9)
    machine = Machine("m", Parts((cpu,), (), (), (nic(MELLANOX, 0x1021, 5),)))
    end = Endpoint(machine, "n")
    found = predict(end, end, Workload(size_bytes=1 << 20), messages=10)
    assert found.bottleneck.name == "NIC port 400 Gb/s (assumed)"


def amd(family: int, model: int) -> Cpu:
    return Cpu("cpu0", 0, "x86_64", "AuthenticAMD", family, model)


def test_amd_families_as_cpuid_and_as_nccl_write_them() -> None:
    for plain, nccl, model in ((23, 0x8F, 49), (25, 0xAF, 1), (26, 0xBF, 2)):
        assert peer_ceilings(amd(plain, model)) == peer_ceilings(amd(nccl, model))
        assert socket_memory_bytes_per_s(amd(plain, model)) == socket_memory_bytes_per_s(amd(nccl, model))


def test_newer_amd_cpus_pass_more_on() -> None:
    reads = [peer_ceilings(amd(family, model)).read or 0 for family, model in ((23, 49), (25, 1), (25, 17))]
    assert reads[0] < reads[1] < reads[2]
    assert peer_ceilings(amd(25, 160)) == peer_ceilings(amd(25, 17)) == peer_ceilings(amd(26, 2))


def test_old_intel_cpus_are_poor_across_sockets() -> None:
    across = [
        peer_ceilings(Cpu("c", 0, "x86_64", "GenuineIntel", 6, model)).across_read or 0
        for model in (62, 79, 106, 143, 207)
    ]
    assert across == sorted(across)
    assert across[0] < 0.1 * across[1]
