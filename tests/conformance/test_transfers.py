from __future__ import annotations

import itertools

import pytest

from gdviz.errors import TransferError
from gdviz.model import DataPath, Op
from gdviz.rdma import QpState, TransferSpec, TransferState, WcStatus

PATHS = list(DataPath)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("op", list(Op))
def test_bytes_arrive(bench, op, path) -> None:
    left, _right = bench.connect(max_send_wr=16, max_recv_wr=16)
    local, remote = bench.a.region(100_000, "random"), bench.b.region(100_000, "text")
    source = remote if op is Op.READ else local
    wanted = source.buffer.checksum()
    spec = TransferSpec(op, path, 4096, depth=16, count=200)
    run = bench.start([left], local, remote, spec)
    bench.finish(run)
    assert run.state is TransferState.COMPLETED
    assert run.error is None
    assert run.progress == 1
    assert local.buffer.checksum() == remote.buffer.checksum() == wanted
    result = run.result
    assert (result.messages, result.bytes, result.status) == (200, 200 * 4096, WcStatus.SUCCESS)
    assert result.latency.count == 200
    assert 0 < result.latency.p50 <= result.latency.p99 <= result.latency.max
    assert result.bandwidth_bytes_per_s == pytest.approx(result.bytes / result.duration_s)
    assert result.simulated == bench.a.provider.simulated


def test_only_what_was_sent_arrives(bench) -> None:
    left, _right = bench.connect()
    local, remote = bench.a.region(65536, 0xAA), bench.b.region(65536, 0x11)
    spec = TransferSpec(size_bytes=1000, depth=8, count=3, local_offset=100, remote_offset=200)
    bench.finish(bench.start([left], local, remote, spec))
    assert remote.buffer.read() == b"\x11" * 200 + b"\xaa" * 3000 + b"\x11" * (65536 - 3200)


def test_intervals_add_up(bench) -> None:
    pairs = [bench.connect()[0] for _ in range(2)]
    local, remote = bench.a.region(), bench.b.region()
    run = bench.start(pairs, local, remote, TransferSpec(size_bytes=4096, depth=16, qps=2, duration_s=0.02))
    intervals = []
    while not run.state.final:
        bench.step(1e-3)
        interval = run.advance()
        if interval is not None:
            intervals.append(interval)
    result = run.result
    assert result.state is TransferState.COMPLETED
    assert sum(i.messages for i in intervals) == result.messages == result.latency.count
    assert sum(i.bytes for i in intervals) == result.bytes
    assert all(a.end_s == b.start_s for a, b in itertools.pairwise(intervals))
    assert result.duration_s == pytest.approx(intervals[-1].end_s - intervals[0].start_s)
    assert result.duration_s >= 0.02
    assert run.advance() is None


def test_stop(bench) -> None:
    left, right = bench.connect()
    local, remote = bench.a.region(65536, "random"), bench.b.region()
    run = bench.start([left], local, remote, TransferSpec(size_bytes=65536, depth=4))
    bench.step(0.01)
    run.advance()
    run.stop()
    run.stop()
    run.advance()
    assert run.state is TransferState.STOPPED
    assert run.result.messages > 4
    assert run.result.status is WcStatus.SUCCESS
    assert local.buffer.checksum() == remote.buffer.checksum()
    assert left.state is right.state is QpState.RTS
    again = bench.start([left], local, remote, TransferSpec(size_bytes=65536, depth=4, count=10))
    bench.finish(again)
    assert again.state is TransferState.COMPLETED


BROKEN = {
    "wrong rkey": (Op.WRITE, {"rkey": 0xDEAD}, WcStatus.REM_ACCESS_ERR),
    "out of bounds": (Op.WRITE, {"remote_offset": 65536 - 4095}, WcStatus.REM_ACCESS_ERR),
    "no remote_write": (Op.WRITE, {"access": "local_write|remote_read"}, WcStatus.REM_ACCESS_ERR),
    "no remote_read": (Op.READ, {"access": "local_write|remote_write"}, WcStatus.REM_ACCESS_ERR),
    "local out of bounds": (Op.WRITE, {"local_offset": 65536 - 4095}, WcStatus.LOC_PROT_ERR),
    "receiver not ready": (Op.SEND, {"post_receives": False}, WcStatus.RNR_RETRY_EXC_ERR),
}


@pytest.mark.parametrize("rule", BROKEN)
def test_broken_rule(bench, rule) -> None:
    op, change, status = BROKEN[rule]
    access = change.get("access", "local_write|remote_write|remote_read")
    changes = {key: value for key, value in change.items() if key != "access"}
    left, _right = bench.connect()
    local, remote = bench.a.region(65536, "random"), bench.b.region(65536, 0x11, access)
    run = bench.start([left], local, remote, TransferSpec(op, size_bytes=4096, depth=8, count=100, **changes))
    bench.finish(run)
    assert run.state is TransferState.FAILED
    assert run.error.status is run.result.status is bench.status(rule, status)
    assert run.error.qp_num == left.qp_num
    assert run.result.messages == 0
    assert left.state is QpState.ERR
    assert remote.buffer.read() == b"\x11" * 65536


@pytest.mark.parametrize("path", PATHS)
def test_region_gone_in_the_middle(bench, path) -> None:
    left, _right = bench.connect()
    local, remote = bench.a.region(65536, "random"), bench.b.region()
    run = bench.start([left], local, remote, TransferSpec(path=path, size_bytes=4096, depth=8))
    bench.step(0.005)
    run.advance()
    local.deregister()
    bench.finish(run)
    rule = "local region gone" if path is DataPath.DIRECT else "staged region gone"
    assert run.error.status is bench.status(rule, WcStatus.LOC_PROT_ERR)
    assert run.result.messages > 0


def test_peer_gone_in_the_middle(bench) -> None:
    left, right = bench.connect()
    local, remote = bench.a.region(), bench.b.region()
    run = bench.start([left], local, remote, TransferSpec(size_bytes=4096, depth=8))
    bench.step(0.005)
    run.advance()
    right.destroy()
    bench.finish(run)
    assert run.error.status is WcStatus.RETRY_EXC_ERR
    assert left.state is QpState.ERR


def test_numbers_must_fit(bench) -> None:
    left, _right = bench.connect(max_send_wr=8)
    local, remote = bench.a.region(), bench.b.region()
    for spec in (TransferSpec(depth=9, count=1), TransferSpec(depth=8, qps=2, count=1)):
        with pytest.raises(TransferError):
            bench.start([left], local, remote, spec)


def test_close_in_the_middle(bench) -> None:
    left, _right = bench.connect()
    local, remote = bench.a.region(), bench.b.region()
    run = bench.start([left], local, remote, TransferSpec(size_bytes=4096, depth=8))
    bench.step(0.005)
    bench.a.provider.close()
    assert run.state is TransferState.STOPPED
    assert not any(bench.a.provider.resources().values())
    bench.a.provider.close()
