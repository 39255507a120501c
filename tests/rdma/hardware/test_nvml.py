from __future__ import annotations

from types import SimpleNamespace

import pytest

from gdviz.rdma.hardware.gpu.nvml import NVLINK_SENT, PCIE_SENT, Nvml


class FakeNvml:
    """``pynvml``, of a GPU that counts PCIe bytes and has no NVLink."""

    class NVMLError(Exception):
        pass

    def __init__(self, *, broken: bool = False) -> None:
        self.broken = broken
        self.asked: list[str] = []

    def nvmlInit(self) -> None:
        if self.broken:
            raise self.NVMLError("Driver Not Loaded")

    def nvmlShutdown(self) -> None:
        self.asked.append("shutdown")

    def nvmlDeviceGetHandleByPciBusId(self, busid: bytes) -> bytes:
        if busid != b"0000:18:00.0":
            raise self.NVMLError("Not Found")
        return busid

    def nvmlDeviceGetName(self, handle: bytes) -> str:
        return "NVIDIA H100 80GB HBM3"

    def nvmlDeviceGetBAR1MemoryInfo(self, handle: bytes) -> SimpleNamespace:
        return SimpleNamespace(bar1Total=2**37, bar1Used=2**20)

    def nvmlDeviceGetFieldValues(self, handle: bytes, fields: list[int]) -> list[SimpleNamespace]:
        return [
            SimpleNamespace(
                nvmlReturn=3 if field >= NVLINK_SENT and field != PCIE_SENT and field < 197 else 0,
                valueType=3,
                value=SimpleNamespace(ullVal=field * 1000),
            )
            for field in fields
        ]


def test_readings() -> None:
    nvml = Nvml(FakeNvml())
    assert nvml.gpu_name("0000:18:00.0") == "NVIDIA H100 80GB HBM3"
    assert nvml.bar1_used_bytes("0000:18:00.0") == 2**20
    assert nvml.bar1_total_bytes("0000:18:00.0") == 2**37
    counters = nvml.counters("0000:18:00.0")
    assert counters is not None
    assert (counters.pcie_sent_bytes, counters.pcie_received_bytes) == (197_000, 198_000)
    assert counters.nvlink_sent_bytes is counters.nvlink_received_bytes is None


def test_an_unknown_gpu_has_no_readings() -> None:
    nvml = Nvml(FakeNvml())
    assert nvml.gpu_name("0000:99:00.0") is None
    assert nvml.counters("0000:99:00.0") is None


def test_without_a_driver() -> None:
    nvml = Nvml(FakeNvml(broken=True))
    assert nvml.trouble == "Driver Not Loaded"
    assert nvml.gpu_name("0000:18:00.0") is nvml.bar1_used_bytes("0000:18:00.0") is None
    nvml.close()


def test_closing_twice() -> None:
    library = FakeNvml()
    nvml = Nvml(library)
    nvml.close()
    nvml.close()
    assert library.asked == ["shutdown"]


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pynvml", None)
    assert "pip install nvidia-ml-py" in Nvml().trouble
