"""Ping-pong as perftest has it, and transfers whose two ends know of each other only what is told."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from gdviz.model import DataPath, Op
from gdviz.rdma import AccessFlags, Bounce, RemoteRegion, TransferSpec, TransferState, WcStatus
from tests.conformance import soft_roce
from tests.vm.inside.test_life import Side, connect, follow

pytestmark = pytest.mark.vm


@pytest.fixture
def sides() -> Iterator[tuple[Side, Side]]:
    for a, b in soft_roce.pair():
        yield Side(a), Side(b)


def told(region) -> RemoteRegion:
    """What a region looks like to a node in another process."""
    return replace(RemoteRegion.of(region), handle=None)


@pytest.mark.parametrize("op", list(Op))
def test_ping_pong(sides, op) -> None:
    one, other = sides
    left, _right = connect(one, other)
    local, remote = one.region(64), other.region(64)
    spec = TransferSpec(op, size_bytes=8, depth=1, count=300, ping_pong=True)
    began = time.monotonic()
    run = one.provider.start_transfer([left], local, RemoteRegion.of(remote), spec)
    follow(run)
    took = time.monotonic() - began
    assert run.state is TransferState.COMPLETED
    assert run.result.latency.count == run.result.messages == 300
    trips = 1 if op is Op.READ else 2
    measured_s = run.result.latency.mean * 300 * trips
    # Half a round trip each. Between bursts of rounds, time passes that belongs to none.
    assert 0 < run.result.duration_s <= took
    assert run.result.duration_s * 0.3 < measured_s < run.result.duration_s * 1.01


@pytest.mark.parametrize("op", list(Op))
@pytest.mark.parametrize("path", list(DataPath))
@pytest.mark.parametrize("qps", [1, 3])
def test_both_ends_on_their_own(sides, op, path, qps) -> None:
    one, other = sides
    pairs = [connect(one, other) for _ in range(qps)]
    local, remote = one.region(100_000, "random"), other.region(100_000, "text")
    near, far = one.region(40_000), other.region(50_000)
    wanted = (remote if op is Op.READ else local).buffer.checksum()
    spec = TransferSpec(op, path, 7000, depth=16, qps=qps, count=70)
    theirs = [right for _left, right in pairs]
    service = other.provider.serve_transfer(theirs, remote, told(local), spec, bounce=Bounce(far, told(near)))
    run = one.provider.start_transfer(
        [left for left, _right in pairs], local, told(remote), spec, bounce=Bounce(near, told(far))
    )
    follow(run)
    assert (run.state, run.result.status) == (TransferState.COMPLETED, WcStatus.SUCCESS)
    assert not service.failed
    service.stop()
    assert local.buffer.checksum() == remote.buffer.checksum() == wanted


def test_counters_see_a_transfer(sides) -> None:
    one, other = sides
    left, _right = connect(one, other)
    local, remote = one.region(65536, "random"), other.region()
    before = one.provider.port_counters("rxe0")
    spec = TransferSpec(size_bytes=65536, depth=4, count=8)
    run = one.provider.start_transfer([left], local, RemoteRegion.of(remote), spec)
    follow(run)
    grown = one.provider.port_counters("rxe0").since(before)
    # 16 packets of a path MTU of 4096 bytes for each message.
    assert grown["sent_pkts"] >= 8 * 16


def test_relaxed_ordering_is_optional(sides) -> None:
    """A device without it takes the flag all the same: libibverbs leaves out what the kernel lacks."""
    one, other = sides
    buffer = one.provider.alloc(one.region().buffer.location, 4096)
    region = one.domain.register(buffer, "local_write|remote_write|relaxed_ordering")
    assert region.access & AccessFlags.RELAXED_ORDERING
    left, _right = connect(other, one)
    local = other.region(4096, "text")
    run = other.provider.start_transfer(
        [left], local, RemoteRegion.of(region), TransferSpec(size_bytes=4096, depth=2, count=4)
    )
    follow(run)
    assert buffer.checksum() == local.buffer.checksum()
