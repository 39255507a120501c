"""GPU memory, with a driver that notes what it is asked; on a real GPU see `test_on_a_gpu`."""

from __future__ import annotations

import errno
import os
from types import SimpleNamespace

import pytest

from gdviz.errors import RegistrationError
from gdviz.rdma.hardware.gpu import cuda, memory
from gdviz.rdma.hardware.worker.copies import Copies
from gdviz.rdma.hardware.worker.memory import HostMemory
from tests.rdma.hardware.fake_cuda import FakeCupy, FakeDriver

PAGE = 4096
STEP = memory.GPU_ALLOCATION_BYTES


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> FakeDriver:
    fake = FakeDriver()
    monkeypatch.setattr(cuda, "library", lambda: fake)
    return fake


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> FakeCupy:
    fake = FakeCupy()
    monkeypatch.setattr(memory, "cupy", lambda: fake)
    return fake


class Domain:
    """A protection domain that notes what it is asked."""

    def __init__(self, *, dmabuf: BaseException | None = None, peermem: BaseException | None = None) -> None:
        self._refusals = {"dmabuf": dmabuf, "peermem": peermem}
        self.calls: list[tuple[object, ...]] = []

    def _take(self, kind: str, *arguments: object) -> SimpleNamespace:
        self.calls.append((kind, *arguments))
        if (refusal := self._refusals[kind]) is not None:
            raise refusal
        return SimpleNamespace(lkey=1, rkey=2)

    def register(self, *arguments: object) -> SimpleNamespace:
        return self._take("peermem", *arguments)

    def register_dmabuf(self, *arguments: object) -> SimpleNamespace:
        return self._take("dmabuf", *arguments)


def test_allocations_stand_alone(driver: FakeDriver, cupy: FakeCupy) -> None:
    held = memory.GpuMemory("0000:18:00.0", 5000, 4096)
    assert held.gpu == 3  # CUDA's number for the bus id
    assert held.address % STEP == 0
    assert held.read(0, 5000) == bytes(5000)
    assert ("set", cuda.SYNC_MEMOPS, held._memory.ptr) in driver.calls
    # Whole pages of its own, wherever the driver let it begin.
    assert held._memory.ptr <= held.address
    assert held.address + STEP <= held._memory.ptr + held._memory.size


def test_what_is_written_is_there_when_the_call_returns(driver: FakeDriver, cupy: FakeCupy) -> None:
    held = memory.GpuMemory("0000:18:00.0", 64, 4096)
    cupy.calls.clear()
    held.write(8, b"across")
    assert cupy.calls[-1] == ("synchronise",)
    assert held.read(0, 16) == bytes(8) + b"across" + bytes(2)


@pytest.mark.parametrize(("ordering", "options", "flushed"), [(0, 1, True), (100, 1, False), (0, 0, False)])
def test_reading_waits_for_what_a_nic_has_written(
    driver: FakeDriver, cupy: FakeCupy, ordering: int, options: int, flushed: bool
) -> None:
    driver.attributes = {cuda.WRITES_ORDERING: ordering, cuda.FLUSH_WRITES_OPTIONS: options}
    held = memory.GpuMemory("0000:18:00.0", 64, 4096)
    held.read(0, 8)
    assert (("flush", cuda.CURRENT_CONTEXT, cuda.TO_OWNER) in driver.calls) is flushed
    assert cupy.calls[-1] == ("synchronise",)


@pytest.mark.parametrize(("offset", "length"), [(0, 8192), (100, 50), (4095, 2), (PAGE, PAGE)])
def test_dma_buf_of_whole_pages_at_the_memorys_own_address(
    driver: FakeDriver, cupy: FakeCupy, offset: int, length: int
) -> None:
    held = memory.GpuMemory("0000:18:00.0", 65536, 4096)
    domain = Domain()
    region, how, close = memory.register(domain, held, offset, length, 7)
    ((_word, start, whole, kind, flags),) = [call for call in driver.calls if call[0] == "export"]
    assert (kind, flags) == (cuda.DMA_BUF_FD, cuda.MAPPING_PCIE)
    assert start % PAGE == whole % PAGE == 0
    assert start <= held.address + offset
    assert held.address + offset + length <= start + whole
    ((_kind, fd, inside, size, address, access),) = domain.calls
    assert (inside, size, address, access) == (
        held.address + offset - start,
        length,
        held.address + offset,
        7,
    )
    assert (region.rkey, how) == (2, "dma-buf")
    os.fstat(fd)  # open as long as the region
    close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(fd)


def test_old_drivers_know_no_flags(driver: FakeDriver, cupy: FakeCupy) -> None:
    driver.refusals["pcie"] = 1
    held = memory.GpuMemory("0000:18:00.0", 65536, 4096)
    _region, how, close = memory.register(Domain(), held, 0, 65536, 7)
    close()
    assert how == "dma-buf"
    assert [call[4] for call in driver.calls if call[0] == "export"] == [cuda.MAPPING_PCIE, 0]


def test_peermem_where_dma_buf_fails(driver: FakeDriver, cupy: FakeCupy) -> None:
    driver.refusals["export"] = 801
    held = memory.GpuMemory("0000:18:00.0", 65536, 4096)
    domain = Domain()
    _region, how, close = memory.register(domain, held, 10, 20, 7)
    assert (how, close) == ("nvidia-peermem", None)
    assert domain.calls == [("peermem", held.address + 10, 20, 7)]


@pytest.mark.parametrize(
    "refusal", [OSError(errno.EOPNOTSUPP, "x"), NotImplementedError("pyverbs' DmaBufMR takes no address")]
)
def test_both_errors_are_said(
    driver: FakeDriver, cupy: FakeCupy, refusal: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = memory.GpuMemory("0000:18:00.0", 65536, 4096)
    domain = Domain(dmabuf=refusal, peermem=OSError(errno.EFAULT, "x"))
    closed = []
    monkeypatch.setattr(memory.os, "close", closed.append)
    with pytest.raises(RegistrationError) as caught:
        memory.register(domain, held, 0, 65536, 7)
    assert caught.value.errno == errno.EFAULT
    said = "EOPNOTSUPP (95)" if isinstance(refusal, OSError) else "takes no address"
    assert said in str(caught.value)
    assert "EFAULT (14)" in str(caught.value)
    assert "nvidia-peermem" in caught.value.remedy
    assert len(closed) == 1


def test_copies_run_beside_everything_else(driver: FakeDriver, cupy: FakeCupy) -> None:
    held, bounce = memory.GpuMemory("0000:18:00.0", 64, 4096), HostMemory(64, 4096)
    held.write(0, b"x" * 64)
    copies = Copies(memory.copier(held, bounce))
    memory.copier(held, bounce)
    assert sum(call[0] == "pin" for call in cupy.calls) == 1
    after: list[str] = []
    copies.copy(bounce, 8, held, 0, 4, lambda: after.append("first"))
    copies.copy(bounce, 12, held, 0, 4, lambda: after.append("second"))
    copies.look()
    assert after == []
    assert not copies.idle
    cupy.finish_copies()
    copies.look()
    assert after == ["first", "second"]
    assert bytes(bounce.view[:20]) == bytes(8) + b"x" * 8 + bytes(4)
    bounce.close()
    assert cupy.calls[-1] == ("unpin", bounce.address)
