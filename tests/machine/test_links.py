from __future__ import annotations

import pytest

from gdviz.machine import Cpu, PcieLink
from gdviz.machine.interconnect import inter_socket_bytes_per_s
from gdviz.machine.known import GPUS, gpu_model, nic_model, nvlink_bytes_per_s, xgmi_bytes_per_s
from gdviz.machine.links import lane_bytes_per_s


@pytest.mark.parametrize(
    ("gen", "rate"),
    [(1, 0.25e9), (2, 0.5e9), (3, 0.9846e9), (4, 1.969e9), (5, 3.938e9), (6, 7.5625e9)],
)
def test_what_a_lane_carries(gen: int, rate: float) -> None:
    assert lane_bytes_per_s(gen) == pytest.approx(rate, rel=1e-3)


def test_links() -> None:
    assert PcieLink(5, 16).bandwidth_bytes_per_s == pytest.approx(63.02e9, rel=1e-3)
    assert PcieLink(5, None).bandwidth_bytes_per_s is None
    assert str(PcieLink(4, 8)) == "Gen4 x8"
    assert str(PcieLink()) == "Gen? x?"


@pytest.mark.parametrize(
    ("link", "degraded"),
    [
        (PcieLink(3, 16, 5, 16), True),
        (PcieLink(5, 8, 5, 16), True),
        (PcieLink(5, 16, 5, 16), False),
        (PcieLink(3, 8), False),
        (PcieLink(None, None, 5, 16), False),
    ],
)
def test_degraded(link: PcieLink, degraded: bool) -> None:
    assert link.degraded is degraded


@pytest.mark.parametrize(
    ("arch", "vendor", "model", "rate"),
    [
        ("x86_64", "GenuineIntel", 79, 6e9),
        ("x86_64", "GenuineIntel", 85, 10e9),
        ("x86_64", "GenuineIntel", 106, 10e9),
        ("x86_64", "GenuineIntel", 143, 22e9),
        ("x86_64", "GenuineIntel", 207, 40e9),
        ("x86_64", "GenuineIntel", None, 6e9),
        ("x86_64", "AuthenticAMD", 49, 16e9),
        ("arm64", "", None, 6e9),
        ("ppc64", "", None, 32e9),
        ("", "", None, None),
    ],
)
def test_between_sockets(arch: str, vendor: str, model: int | None, rate: float | None) -> None:
    cpu = Cpu("cpu0", 0, arch, vendor, 6, model)
    assert inter_socket_bytes_per_s(cpu, cpu) == rate


def test_models_by_pci_id() -> None:
    model = gpu_model(0x10DE, 0x2330)
    assert model is not None
    assert model.name == "H100-SXM5-80GB"
    assert gpu_model(None, 0x2330) is None
    assert gpu_model(0x10DE, 0) is None
    assert nic_model(0x15B3, 0x1021) == "ConnectX-7"
    assert nic_model(0x15B3, None) is None
    for gpu in GPUS.values():
        assert gpu.memory_bytes
        assert gpu.memory_bytes % 2**30 == 0


def test_nvlink_and_xgmi() -> None:
    assert nvlink_bytes_per_s(90, 18) == 450e9
    assert nvlink_bytes_per_s(None, 18) is None
    assert [xgmi_bytes_per_s(name, 1) / 1e9 for name in ("gfx906", "gfx90a", "gfx942", "gfx950")] == [
        *(24, 36, 48, 48)
    ]
