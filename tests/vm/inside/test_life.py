"""Long lives and sudden deaths, on soft-RoCE."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gdviz.errors import TransferError, VerbsError
from gdviz.model import DataPath, Op
from gdviz.rdma import (
    DEFAULT_ACCESS,
    Bounce,
    Location,
    Opcode,
    QpState,
    RecvRequest,
    RemoteRegion,
    SendRequest,
    Sge,
    TransferSpec,
    TransferState,
    WcStatus,
)
from gdviz.rdma.hardware import HardwareProvider
from tests.conformance import soft_roce

pytestmark = pytest.mark.vm

HOST = Location("host", "cpu0")
ROUNDS = 1000


class Side:
    """A node with the usual things on it."""

    def __init__(self, provider: HardwareProvider) -> None:
        self.provider = provider
        self.device = provider.device("rxe0")
        self.domain = self.device.alloc_pd()
        self.queue = self.device.create_cq(256)

    def region(self, size_bytes: int = 65536, pattern: str = "zeros"):
        buffer = self.provider.alloc(HOST, size_bytes)
        buffer.fill(pattern)
        return self.domain.register(buffer, DEFAULT_ACCESS)

    def queue_pair(self):
        return self.domain.create_qp(self.queue, self.queue)


@pytest.fixture(params=["pyverbs", "ibverbs"])
def sides(request: pytest.FixtureRequest) -> Iterator[tuple[Side, Side]]:
    for a, b in soft_roce.pair(bindings=(request.param,)):
        yield Side(a), Side(b)


@pytest.fixture
def mixed() -> Iterator[tuple[Side, Side]]:
    with (
        soft_roce.provider("a", bindings=("pyverbs",)) as a,
        soft_roce.provider("b", bindings=("ibverbs",)) as b,
    ):
        yield Side(a), Side(b)


def connect(one: Side, other: Side):
    pairs = one.queue_pair(), other.queue_pair()
    for mine, theirs in (pairs, pairs[::-1]):
        mine.connect(theirs.address, timeout=14, retry_count=2)
    return pairs


def memory_kib(provider: HardwareProvider) -> int:
    status = Path(f"/proc/{provider.worker.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1])


def kernel_counts() -> dict[str, int]:
    """What the kernel holds, in all processes."""
    text = subprocess.run(["rdma", "resource", "show"], capture_output=True, text=True, check=True).stdout
    return {word: int(count) for word, count in re.findall(r"\b(pd|cq|qp|mr) (\d+)", text)}


def follow(run, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not run.state.final and time.monotonic() < end:
        run.advance()
        time.sleep(0.01)


def test_a_thousand_registrations_leave_nothing(sides) -> None:
    side, _other = sides
    buffer = side.provider.alloc(HOST, 65536)
    for number in range(ROUNDS + 100):
        if number == 100:
            before, kernel = memory_kib(side.provider), kernel_counts()
        side.domain.register(buffer, DEFAULT_ACCESS).deregister()
    assert kernel_counts() == kernel
    assert memory_kib(side.provider) - before < 256


@pytest.mark.timeout(400)
def test_a_thousand_connections_leave_nothing(sides) -> None:
    one, other = sides
    for number in range(ROUNDS + 50):
        if number == 50:
            before, kernel = [memory_kib(side.provider) for side in sides], kernel_counts()
        for pair in connect(one, other):
            pair.destroy()
    assert kernel_counts() == kernel
    after = [memory_kib(side.provider) for side in sides]
    assert max(late - early for early, late in zip(before, after, strict=True)) < 512


def test_single_requests_leave_nothing(sides) -> None:
    one, other = sides
    left, _right = connect(one, other)
    local, remote = one.region(64), other.region(64)
    request = SendRequest(
        1, Opcode.RDMA_WRITE, (Sge(local.address, 64, local.lkey),), remote.address, remote.rkey
    )
    # What grows once is a table or an arena; what is lost with each request grows in every block.
    grown = []
    before = 0
    for _block in range(4):
        for _number in range(ROUNDS // 4):
            left.post_send(request)
            while not (done := one.queue.poll()):
                pass
            assert done[0].ok
        now = memory_kib(one.provider)
        grown.append(now - before)
        before = now
    assert min(grown[1:]) < 32, grown


def test_both_bindings_understand_each_other(mixed) -> None:
    one, other = mixed
    left, right = connect(one, other)
    here, there = one.region(64, "text"), other.region(64)
    for sender, receiver, near, far, back in (
        (left, right, here, there, other),
        (right, left, there, here, one),
    ):
        receiver.post_recv(RecvRequest(5, (Sge(far.address, 64, far.lkey),)))
        sges = (Sge(near.address, 64, near.lkey),)
        sender.post_send(SendRequest(4, Opcode.SEND_WITH_IMM, sges, imm=0x01020304))
        end = time.monotonic() + 5
        while not (found := [c for c in back.queue.poll() if c.wr_id == 5]):
            assert time.monotonic() < end
        assert (found[0].imm, found[0].byte_len) == (0x01020304, 64)
    assert here.buffer.checksum() == there.buffer.checksum()


@pytest.mark.parametrize("path", list(DataPath))
@pytest.mark.parametrize("gone", ["peer", "self"])
def test_kill_in_the_middle(sides, gone, path) -> None:
    one, other = sides
    left, _right = connect(one, other)
    local, remote = one.region(pattern="random"), other.region()
    bounce = Bounce(one.region(), RemoteRegion.of(other.region()))
    spec = TransferSpec(Op.WRITE, path, 4096, depth=16)
    run = one.provider.start_transfer([left], local, RemoteRegion.of(remote), spec, bounce=bounce)
    time.sleep(0.3)
    assert run.advance().messages > 0
    victim = other if gone == "peer" else one
    os.kill(victim.provider.worker.pid, signal.SIGKILL)
    if gone == "peer":
        follow(run)
        # The kernel may take the dead's memory regions away before its queue pairs, and so answer once more.
        assert run.result.status in (WcStatus.RETRY_EXC_ERR, WcStatus.REM_ACCESS_ERR)
        assert left.state is QpState.ERR
    else:
        with pytest.raises(TransferError, match="has ended"):
            follow(run)
    assert run.state is TransferState.FAILED
    with pytest.raises(VerbsError, match="has ended"):
        victim.provider.device("rxe0").alloc_pd()
    victim.provider.close()
    survivor = one if gone == "peer" else other
    # The kernel has freed what the dead held; the survivor goes on, with a new node in its place.
    name = "b" if gone == "peer" else "a"
    with soft_roce.provider(name) as fresh:
        new = Side(fresh)
        again, _there = connect(survivor, new)
        near, far = survivor.region(pattern="text"), new.region()
        spec = TransferSpec(Op.WRITE, size_bytes=4096, depth=16, count=16)
        run = survivor.provider.start_transfer([again], near, RemoteRegion.of(far), spec)
        follow(run)
        assert run.state is TransferState.COMPLETED
        assert far.buffer.checksum() == near.buffer.checksum()


def test_interrupt_in_the_middle(sides) -> None:
    one, other = sides
    left, _right = connect(one, other)
    local, remote = one.region(pattern="random"), other.region()
    spec = TransferSpec(Op.WRITE, size_bytes=4096, depth=16)
    run = one.provider.start_transfer([left], local, RemoteRegion.of(remote), spec)
    time.sleep(0.2)
    run.advance()
    # Ctrl-C reaches a whole process group: the program gets KeyboardInterrupt, the transfer goes on.
    for side in sides:
        os.kill(side.provider.worker.pid, signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    time.sleep(0.2)
    assert run.advance().messages > 0
    run.stop()
    run.advance()
    assert run.state is TransferState.STOPPED
    assert local.buffer.checksum() == remote.buffer.checksum()


def test_workers_end_with_their_program() -> None:
    script = (
        "from tests.conformance import soft_roce; import os\n"
        "provider = soft_roce.provider('a'); provider.device('rxe0').alloc_pd()\n"
        "print(provider.worker.pid, flush=True); os._exit(9)"
    )
    told = subprocess.run(
        [os.environ.get("PYTHON") or os.sys.executable, "-c", script], capture_output=True, text=True
    )
    pid = int(told.stdout)
    end = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists() and time.monotonic() < end:
        time.sleep(0.1)
    assert not Path(f"/proc/{pid}").exists()
