"""What only a real GPU can show: skipped where there is none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gdviz.rdma.hardware.gpu import cuda, memory
from gdviz.rdma.hardware.gpu.nvml import Nvml
from gdviz.rdma.hardware.worker.memory import HostMemory

pytestmark = pytest.mark.gpu

BYTES = 8 * 2**20


@pytest.fixture
def busid() -> str:
    pytest.importorskip("cupy", reason="no CuPy: pip install 'gdviz[gpu]'")
    import cupy

    return str(cupy.cuda.runtime.deviceGetPCIBusId(0))


def test_contents(busid: str) -> None:
    held = memory.GpuMemory(busid, BYTES, 4096)
    assert held.read(0, BYTES) == bytes(BYTES)
    held.write(BYTES - 5, b"there")
    assert held.read(BYTES - 10, 10) == bytes(5) + b"there"
    held.close()


def test_export_as_dma_buf(busid: str) -> None:
    held = memory.GpuMemory(busid, BYTES, 4096)
    if not cuda.device_attribute(held.gpu, cuda.DMA_BUF_SUPPORTED):
        pytest.skip("this GPU, driver or kernel does not export dma-buf")
    fd = cuda.export_dma_buf(held.address, BYTES)
    assert str(Path(f"/proc/self/fd/{fd}").readlink()).startswith("/dmabuf")
    os.close(fd)
    held.close()


def test_copies_through_pinned_memory(busid: str) -> None:
    held, bounce = memory.GpuMemory(busid, BYTES, 4096), HostMemory(BYTES, 4096)
    held.write(0, bytes(range(256)) * (BYTES // 256))
    event = memory.copier(held, bounce)(bounce, 0, held, 0, BYTES)
    while not event.done:
        pass
    assert bytes(bounce.view) == bytes(range(256)) * (BYTES // 256)
    bounce.close()
    held.close()


def test_nvml_knows_it(busid: str) -> None:
    nvml = Nvml()
    assert nvml.trouble == ""
    assert nvml.gpu_name(busid)
    assert 0 <= nvml.bar1_used_bytes(busid) <= nvml.bar1_total_bytes(busid)
    assert nvml.counters(busid) is not None
    nvml.close()
