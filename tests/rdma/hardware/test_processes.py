"""Worker processes, as far as they go without an RDMA device."""

from __future__ import annotations

import errno
import os
import signal
import threading
from pathlib import Path

import pytest

from gdviz.errors import GdvizError, MissingDependencyError, VerbsError
from gdviz.rdma.hardware.line import Line, LineClosed
from gdviz.rdma.hardware.remote import Worker, WorkerGone
from gdviz.rdma.hardware.worker.memory import PAGE_BYTES, HostMemory, frames


def test_a_line_carries_objects_and_files(tmp_path: Path) -> None:
    one, other = Line.pair()
    large = os.urandom(3_000_000)
    file = os.open(tmp_path / "file", os.O_CREAT | os.O_RDWR)
    sender = threading.Thread(target=one.send, args=({"a": large}, [file]))
    sender.start()
    thing, files = other.receive()
    sender.join()
    assert thing == {"a": large}
    assert os.fstat(files[0]).st_ino == os.fstat(file).st_ino
    assert not other.ready()
    one.close()
    assert other.ready()
    with pytest.raises(LineClosed):
        other.receive()
    for fd in (file, *files):
        os.close(fd)
    other.close()


@pytest.mark.parametrize("align", [1, 4096, 2**21])
def test_host_memory(align: int) -> None:
    memory = HostMemory(5000, align)
    assert memory.address % align == 0
    assert bytes(memory.view) == bytes(5000)
    memory.view[4999] = 7
    assert os.pread(memory.fd, 1, memory.offset + 4999) == b"\7"
    found = frames(memory.address, 5000)
    assert found[0][0] == memory.address - memory.address % PAGE_BYTES
    assert sum(length for _virtual, _page, length in found) >= 5000
    memory.close()


def test_more_memory_than_there_is() -> None:
    with pytest.raises(OSError, match="allocate") as caught:
        HostMemory(2**50, 4096)
    assert caught.value.errno == errno.ENOMEM


@pytest.fixture
def worker():
    made = Worker("here")
    yield made
    made.close()


@pytest.mark.slow
def test_errors_come_back_as_they_are(worker: Worker) -> None:
    with pytest.raises(VerbsError) as caught:
        worker.call("alloc", 2**50, 4096, what="No room", remedies={errno.ENOMEM: "Take less."})
    assert caught.value.errno == errno.ENOMEM
    assert str(caught.value) == "No room: ENOMEM (12). Take less."
    with pytest.raises(GdvizError, match="KeyError"):
        worker.call("state", 999)
    with pytest.raises(MissingDependencyError, match="No Python binding"):
        worker.call("hello", ("pyverbs",) if _no_pyverbs() else ())


def _no_pyverbs() -> bool:
    import importlib.util

    if importlib.util.find_spec("pyverbs") is not None:
        pytest.skip("pyverbs is installed")
    return True


@pytest.mark.slow
def test_a_worker_that_is_killed(worker: Worker) -> None:
    number, address, _begin = worker.call("alloc", 4096, 4096)
    assert address % 4096 == 0
    os.kill(worker.pid, signal.SIGKILL)
    for _again in range(2):
        with pytest.raises(WorkerGone, match=f"process {worker.pid}") as caught:
            worker.call("give_back", number)
        assert caught.value.errno == errno.ENODEV
    fresh = Worker("here")
    assert fresh.pid != worker.pid
    fresh.call("alloc", 4096, 4096)
    fresh.close()
    with pytest.raises(WorkerGone, match="has been closed"):
        fresh.call("alloc", 4096, 4096)


@pytest.mark.slow
def test_a_worker_is_left_alone_by_ctrl_c(worker: Worker) -> None:
    worker.call("alloc", 4096, 4096)
    assert os.getsid(worker.pid) != os.getsid(0)
    os.kill(worker.pid, signal.SIGINT)
    worker.call("alloc", 4096, 4096)
