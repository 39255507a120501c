from __future__ import annotations

import pytest

from gdviz.clock import RealClock
from gdviz.errors import AllocationError, QueuePairStateError, TransferError, VerbsError
from gdviz.model import DataPath, Op, Place, PlaceKind, Side
from gdviz.rdma import Bounce, QpState, RemoteRegion, TransferSpec, TransferState, WcStatus
from gdviz.rdma.simulated import SimulatedNetwork
from gdviz.rdma.simulated.copying import COPY_BYTES

PORT = Place(Side.LOCAL, PlaceKind.PORT, "mlx5_0")


def follow(lab, run, step_s: float = 0.05, limit: int = 1000):
    intervals = []
    for _step in range(limit):
        lab.clock.advance(step_s)
        interval = run.advance()
        if interval is not None:
            intervals.append(interval)
        if run.state.final:
            return intervals
    pytest.fail("the run does not end")


@pytest.mark.parametrize("path", list(DataPath))
@pytest.mark.parametrize("size_bytes", [8, 65536, 2**20])
def test_reaches_what_the_model_expects(lab, path, size_bytes) -> None:
    spec = TransferSpec(path=path, size_bytes=size_bytes, duration_s=1.0)
    run = lab.start(spec, size_bytes=2**20)
    intervals = follow(lab, run)
    result = run.result
    expected = run.prediction
    assert 0.8 * expected.bandwidth_bytes_per_s < result.bandwidth_bytes_per_s
    assert result.bandwidth_bytes_per_s <= expected.bandwidth_bytes_per_s * 1.001
    assert result.cpu_share == pytest.approx(
        expected.cpu_share * result.messages_per_s / expected.messages_per_s
    )
    assert result.duration_s >= 1.0
    assert result.latency.count == result.messages == sum(i.messages for i in intervals)
    middle = intervals[5]
    share = middle.bandwidth_bytes_per_s / expected.bandwidth_bytes_per_s
    assert middle.loads[PORT] == pytest.approx(expected.loads[PORT] * share)
    assert middle.cpu_seconds == pytest.approx(result.cpu_share * middle.duration_s, rel=0.05)


def test_a_count_is_kept_exactly_above_the_budget(lab) -> None:
    run = lab.start(TransferSpec(size_bytes=8, count=3_000_001))
    follow(lab, run)
    assert run.result.messages == run.result.latency.count == 3_000_001
    assert run.result.state is TransferState.COMPLETED


def test_count_or_duration_whichever_is_first(lab) -> None:
    short = lab.start(TransferSpec(size_bytes=65536, count=100, duration_s=10.0))
    follow(lab, short)
    assert short.result.messages == 100
    assert short.result.duration_s < 0.1
    long = lab.start(TransferSpec(size_bytes=65536, count=10**9, duration_s=0.2))
    follow(lab, long)
    assert long.result.duration_s == pytest.approx(0.2, rel=0.01)


def test_progress(lab) -> None:
    run = lab.start(TransferSpec(size_bytes=65536, duration_s=1.0))
    endless = lab.start(TransferSpec(size_bytes=65536))
    lab.clock.advance(0.25)
    run.advance()
    assert run.progress == pytest.approx(0.25)
    assert endless.progress == 0


def test_nothing_new_is_none(lab) -> None:
    run = lab.start(TransferSpec())
    lab.clock.advance(0.1)
    assert run.advance() is not None
    assert run.advance() is None


def test_duration_drains_what_is_in_flight(lab) -> None:
    run = lab.start(TransferSpec(size_bytes=2**20, duration_s=0.1), size_bytes=2**20)
    lab.clock.advance(0.1)
    run.advance()
    assert run.state is TransferState.DRAINING
    lab.clock.advance(0.1)
    interval = run.advance()
    assert run.state is TransferState.COMPLETED
    assert interval.messages in range(100, 129)


def test_stop_counts_what_is_in_flight(lab) -> None:
    run = lab.start(TransferSpec(size_bytes=2**20), size_bytes=2**20)
    lab.clock.advance(0.1)
    before = run.advance().messages
    run.stop()
    assert run.state is TransferState.DRAINING
    interval = run.advance()
    assert run.state is TransferState.STOPPED
    assert interval.messages in range(100, 129)
    assert run.result.messages == before + interval.messages
    assert run.result.duration_s == pytest.approx(0.1, rel=0.1)


def test_large_buffers_arrive_whole_though_copied_bit_by_bit(lab) -> None:
    size = 3 * COPY_BYTES + 12_345
    run = lab.start(TransferSpec(size_bytes=65536, count=2 * size // 65536), size_bytes=size)
    local, remote = sorted_regions(lab)
    follow(lab, run, 1e-4)
    assert remote.buffer.checksum() == local.buffer.checksum()


def sorted_regions(lab):
    """The GPU regions that `start` has made, on a and on b."""
    return tuple(
        next(region for region in node.device.regions.values() if region.buffer.location.kind == "gpu")
        for node in (lab.a, lab.b)
    )


def test_reading_in_the_middle_shows_what_has_arrived(lab) -> None:
    size = 4 * COPY_BYTES
    lab.start(TransferSpec(size_bytes=2**20), size_bytes=size)
    local, remote = sorted_regions(lab)
    lab.clock.advance(1.0)
    assert remote.buffer.checksum() == local.buffer.checksum()
    local.buffer.fill("text")
    lab.clock.advance(1.0)
    assert remote.buffer.read(0, 64) == local.buffer.read(0, 64)


def test_memory_freed_in_the_middle_keeps_what_arrived(lab) -> None:
    run = lab.start(TransferSpec(size_bytes=65536), size_bytes=2 * COPY_BYTES)
    local, remote = sorted_regions(lab)
    wanted = local.buffer.checksum()
    lab.clock.advance(0.1)
    local.deregister()
    local.buffer.free()
    follow(lab, run)
    assert run.error.status is WcStatus.LOC_PROT_ERR
    assert remote.buffer.checksum() == wanted


def test_no_room_for_the_bytes(lab) -> None:
    limit = lab.network.commit
    limit.limit_bytes = 3 * 2**20
    with pytest.raises(AllocationError, match="this computer"):
        lab.start(TransferSpec(), size_bytes=2 * 2**20)
    assert lab.a.provider.resources()["run"] == 0


def test_room_lost_in_the_middle(lab) -> None:
    run = lab.start(TransferSpec(size_bytes=65536), size_bytes=2 * COPY_BYTES)
    lab.network.commit.limit_bytes = lab.network.commit.used_bytes
    follow(lab, run)
    assert run.error.status is WcStatus.GENERAL_ERR


def test_a_window_over_part_of_the_buffer_fails_where_it_ends(lab) -> None:
    left, right = lab.connect()
    local, remote = lab.a.region(65536), lab.b.region(65536)
    local.buffer.fill(7)
    part = lab.b.domain.register(remote.buffer, "local_write|remote_write", length=10 * 4096 + 1)
    promised = RemoteRegion("b", "mlx5_0", part.address, 65536, part.rkey)
    run = lab.a.provider.start_transfer([left], local, promised, TransferSpec(size_bytes=4096))
    follow(lab, run)
    assert run.error.status is WcStatus.REM_ACCESS_ERR
    assert run.result.messages == 10
    assert left.state is right.state is QpState.ERR
    assert remote.buffer.read() == b"\x07" * 40960 + bytes(65536 - 40960)


@pytest.mark.parametrize("fault", ["cut", "close", "destroy"])
def test_peer_gone_in_the_middle(lab, fault) -> None:
    run = lab.start(TransferSpec(size_bytes=65536), timeout=14, retry_count=7)
    lab.clock.advance(0.1)
    messages = run.advance().messages
    if fault == "cut":
        lab.network.cut("a", "b")
    elif fault == "close":
        lab.b.provider.close()
    else:
        next(iter(lab.b.device.queue_pairs.values())).destroy()
    lab.clock.advance(0.5)
    idle = run.advance()
    assert idle is not None
    assert idle.messages == 0
    assert run.state is TransferState.RUNNING
    lab.clock.advance(0.1)
    run.advance()
    assert run.state is TransferState.FAILED
    assert run.error.status is WcStatus.RETRY_EXC_ERR
    assert run.result.messages == messages
    assert run.result.duration_s == pytest.approx(0.1 + 8 * 4.096e-6 * 2**14, rel=0.01)
    assert next(iter(lab.a.device.queue_pairs.values())).state is QpState.ERR


def test_a_cable_mended_in_time(lab) -> None:
    run = lab.start(TransferSpec(size_bytes=65536, duration_s=1.0))
    lab.clock.advance(0.1)
    lab.network.cut("a", "b")
    lab.clock.advance(0.3)
    lab.network.mend("a", "b")
    follow(lab, run)
    assert run.state is TransferState.COMPLETED
    assert run.result.messages_per_s == pytest.approx(0.7 * run.prediction.messages_per_s, rel=0.02)


def test_stop_while_waiting_flushes_at_once(lab) -> None:
    run = lab.start(TransferSpec(size_bytes=65536), timeout=0)
    lab.clock.advance(0.1)
    lab.network.cut("a", "b")
    lab.clock.advance(0.1)
    run.stop()
    run.advance()
    assert run.state is TransferState.STOPPED
    assert next(iter(lab.a.device.queue_pairs.values())).state is QpState.ERR


def test_receiver_not_ready_for_ever_until_stopped(lab) -> None:
    run = lab.start(TransferSpec(Op.SEND, post_receives=False), rnr_retry=7)
    lab.clock.advance(100.0)
    run.advance()
    assert run.state is TransferState.RUNNING
    run.stop()
    run.advance()
    assert run.state is TransferState.STOPPED


def test_error_state_by_hand(lab) -> None:
    run = lab.start(TransferSpec())
    lab.clock.advance(0.1)
    next(iter(lab.a.device.queue_pairs.values())).modify(QpState.ERR)
    follow(lab, run)
    assert run.error.status is WcStatus.WR_FLUSH_ERR


def test_a_queue_pair_is_busy_until_the_end(lab, write) -> None:
    run = lab.start(TransferSpec(count=10))
    pair = next(iter(lab.a.device.queue_pairs.values()))
    local, remote = sorted_regions(lab)
    with pytest.raises(VerbsError, match="busy"):
        pair.post_send(write(local, remote))
    with pytest.raises(TransferError, match="busy"):
        lab.a.provider.start_transfer([pair], local, RemoteRegion.of(remote), TransferSpec())
    follow(lab, run)
    pair.post_send(write(local, remote))


def test_not_connected(lab) -> None:
    pair = lab.a.domain.create_qp(lab.a.completions, lab.a.completions)
    with pytest.raises(QueuePairStateError, match="RESET"):
        lab.a.provider.start_transfer([pair], lab.a.region(), RemoteRegion.of(lab.b.region()), TransferSpec())


def test_staged_needs_bounce_buffers(lab) -> None:
    left, _right = lab.connect()
    remote = RemoteRegion.of(lab.b.region())
    with pytest.raises(TransferError, match="bounce"):
        lab.a.provider.start_transfer([left], lab.a.region(), remote, TransferSpec(path=DataPath.STAGED))


def test_staged_bytes_go_through_the_bounce_buffers(lab) -> None:
    left, _right = lab.connect()
    local, remote = lab.a.region(), lab.b.region()
    local.buffer.fill(0x77)
    here, there = lab.a.region(4096, where=lab.a.host), lab.b.region(4096, where=lab.b.host)
    run = lab.a.provider.start_transfer(
        [left],
        local,
        RemoteRegion.of(remote),
        TransferSpec(path=DataPath.STAGED, count=1),
        bounce=Bounce(here, RemoteRegion.of(there)),
    )
    follow(lab, run)
    assert here.buffer.read() == there.buffer.read() == b"\x77" * 4096
    assert remote.buffer.read() == b"\x77" * 65536


def test_two_that_share_a_port(lab) -> None:
    one = lab.start(TransferSpec(size_bytes=65536))
    lab.clock.advance(0.1)
    alone = one.advance().bandwidth_bytes_per_s
    two = lab.start(TransferSpec(size_bytes=65536, duration_s=0.2))
    lab.clock.advance(0.1)
    both = [run.advance() for run in (one, two)]
    assert [i.bandwidth_bytes_per_s for i in both] == pytest.approx([alone / 2] * 2, rel=0.02)
    capacity = one.prediction.capacities[PORT]
    assert sum(i.loads[PORT] for i in both) <= capacity * 1.001
    assert both[0].latency.p50 == pytest.approx(2 * 128 * 65536 / alone, rel=0.05)
    lab.clock.advance(0.2)
    one.advance()
    two.advance()
    assert two.state is TransferState.COMPLETED
    lab.clock.advance(0.1)
    assert one.advance().bandwidth_bytes_per_s == pytest.approx(alone, rel=0.02)


def test_one_long_step_with_an_end_in_it(lab) -> None:
    one = lab.start(TransferSpec(size_bytes=65536, duration_s=1.0))
    two = lab.start(TransferSpec(size_bytes=65536, duration_s=0.5))
    lab.clock.advance(2.0)
    one.advance()
    two.advance()
    rate = one.prediction.bandwidth_bytes_per_s
    assert two.result.bandwidth_bytes_per_s == pytest.approx(rate / 2, rel=0.02)
    assert one.result.bandwidth_bytes_per_s == pytest.approx(rate * 3 / 4, rel=0.02)


def test_both_directions_do_not_meet(lab) -> None:
    there, back = (
        lab.start(TransferSpec(size_bytes=65536)),
        lab.start(TransferSpec(size_bytes=65536), lab.b, lab.a),
    )
    lab.clock.advance(0.1)
    for run in (there, back):
        assert run.advance().bandwidth_bytes_per_s == pytest.approx(
            run.prediction.bandwidth_bytes_per_s, rel=0.02
        )


def test_three_nodes_into_one_port(lab) -> None:
    third = lab.node("c")
    runs = [lab.start(TransferSpec(size_bytes=65536)), lab.start(TransferSpec(size_bytes=65536), third)]
    lab.clock.advance(0.1)
    rates = [run.advance().bandwidth_bytes_per_s for run in runs]
    assert sum(rates) == pytest.approx(runs[0].prediction.bandwidth_bytes_per_s, rel=0.02)


def test_the_same_seed_gives_the_same_run(lab) -> None:
    results = []
    for _round in range(2):
        network = type(lab)()
        run = network.start(TransferSpec(size_bytes=8, duration_s=0.5))
        follow(network, run)
        results.append((run.result.messages, run.result.latency))
        network.network.close()
    assert results[0] == results[1]


def test_a_real_clock_will_do(lab) -> None:
    other = type(lab)(clock=RealClock(rate=1e6))
    run = other.start(TransferSpec(size_bytes=65536, duration_s=0.5))
    for _turn in range(10_000):
        run.advance()
        if run.state.final:
            break
    assert run.state is TransferState.COMPLETED
    other.network.close()
    assert isinstance(other.network, SimulatedNetwork)
