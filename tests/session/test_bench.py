"""perftest's measurements on simulated nodes: what is counted, and what the figures mean."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gdviz.clock import SteppedClock
from gdviz.errors import GdvizError, TransferError
from gdviz.machine import reference_machine
from gdviz.model import DEFAULTS, DataPath, Op
from gdviz.model.calibration.measured import half_round_trip_s
from gdviz.session import Session
from gdviz.session.bench import BandwidthTest, LatencyTest, Place, run_bandwidth, run_latency

SIZE = 65536


@pytest.fixture
def session() -> Iterator[Session]:
    machines = [reference_machine("pcie-a30", name) for name in ("a", "b")]
    with Session.simulated(machines, clock=SteppedClock(autojump=True)) as opened:
        yield opened


@pytest.fixture
def ends(session: Session) -> tuple[Place, Place]:
    first, second = (Place(node, "mlx5_0", gpu=0) for node in session.nodes)
    return first, second


def predicted(session: Session, ends: tuple[Place, Place], spec: Any) -> Any:
    near, far = (end.node.nic(end.nic).register(end.node.gpu(0).alloc(SIZE)) for end in ends)
    transfer = session.transfer(near, far, op=spec.op, size=spec.size_bytes, depth=spec.depth, qps=spec.qps)
    transfer.wait(10)
    return transfer.prediction


def test_perftests_defaults() -> None:
    spec = BandwidthTest().spec(SIZE)
    assert (spec.op, spec.count, spec.depth, spec.qps) == (Op.WRITE, 5000, 128, 1)
    spec = LatencyTest().spec(2)
    assert (spec.count, spec.depth) == (1000, 1)


def test_messages_are_counted_by_queue_pair_and_fit_the_depth() -> None:
    assert BandwidthTest(count=100, qps=4).spec(8).count == 400
    assert BandwidthTest(count=100, qps=4).spec(8).depth == 100
    assert BandwidthTest(duration_s=1.0).spec(8).depth == 128


def test_bandwidth_is_that_of_the_transfer(session: Session, ends: tuple[Place, Place]) -> None:
    test = BandwidthTest(count=2000)
    row = run_bandwidth(session, ends, test, SIZE)
    assert (row.size_bytes, row.iterations) == (SIZE, 2000)
    assert row.average_bytes_per_s == pytest.approx(row.messages_per_s * SIZE)
    model = predicted(session, ends, test.spec(SIZE)).bandwidth_bytes_per_s
    assert row.average_bytes_per_s == pytest.approx(model, rel=0.05)
    assert row.peak_bytes_per_s is not None
    assert row.peak_bytes_per_s >= row.average_bytes_per_s


def test_both_ways_are_summed(session: Session, ends: tuple[Place, Place]) -> None:
    one = run_bandwidth(session, ends, BandwidthTest(count=2000), SIZE)
    both = run_bandwidth(session, ends, BandwidthTest(count=2000, bidirectional=True), SIZE)
    assert both.iterations == one.iterations
    assert 1.2 < both.average_bytes_per_s / one.average_bytes_per_s <= 2.01


def test_no_peak_is_looked_for_in_a_test_by_duration(session: Session, ends: tuple[Place, Place]) -> None:
    row = run_bandwidth(session, ends, BandwidthTest(duration_s=0.5), SIZE)
    assert row.peak_bytes_per_s is None
    assert row.iterations == pytest.approx(0.5 * row.messages_per_s, rel=0.05)


def test_no_interval_is_faster_than_the_port(session: Session, ends: tuple[Place, Place]) -> None:
    # Long enough for many intervals, with messages so large that each interval holds few of them.
    row = run_bandwidth(session, ends, BandwidthTest(count=2000), 8 * 2**20)
    port = session.nodes[0].machine.nic("mlx5_0").speed_bytes_per_s
    assert row.peak_bytes_per_s is not None
    assert port is not None
    assert row.average_bytes_per_s <= row.peak_bytes_per_s <= port


@pytest.mark.parametrize("op", [Op.WRITE, Op.SEND])
def test_latency_is_half_a_round_trip(session: Session, ends: tuple[Place, Place], op: Op) -> None:
    test = LatencyTest(op, count=500)
    row = run_latency(session, ends, test, 8)
    model = predicted(session, ends, test.spec(8))
    assert row.typical_s == pytest.approx(half_round_trip_s(model, DEFAULTS), rel=0.05)
    assert row.typical_s < model.latency.p50
    assert row.per_s == pytest.approx(1 / (2 * row.mean_s))


def test_latency_of_a_read_is_a_whole_one(session: Session, ends: tuple[Place, Place]) -> None:
    test = LatencyTest(Op.READ, count=500)
    row = run_latency(session, ends, test, 8)
    assert row.typical_s == pytest.approx(predicted(session, ends, test.spec(8)).latency.p50, rel=0.05)
    assert row.per_s == pytest.approx(1 / row.mean_s)
    assert row.min_s <= row.typical_s <= row.p99_s <= row.p999_s <= row.max_s


def test_the_spread_is_that_of_the_values() -> None:
    from gdviz.rdma import LatencyHistogram
    from gdviz.session.bench import latency_row

    values = np.array([1e-6, 2e-6, 2e-6, 7e-6])
    histogram = LatencyHistogram()
    histogram.record(values)
    row = latency_row(Op.READ, 8, 4, histogram, later_s=0.0)
    assert row.stdev_s == pytest.approx(values.std(), rel=1e-2)
    assert row.mean_s == pytest.approx(values.mean(), rel=1e-2)
    earlier = latency_row(Op.WRITE, 8, 4, histogram, later_s=0.5e-6)
    assert earlier.mean_s == pytest.approx(row.mean_s - 0.5e-6)
    assert earlier.stdev_s == pytest.approx(row.stdev_s)


def test_nothing_is_left_behind(session: Session, ends: tuple[Place, Place]) -> None:
    run_bandwidth(session, ends, BandwidthTest(count=10, bidirectional=True), SIZE)
    run_latency(session, ends, LatencyTest(count=10), 8)
    assert (session.buffers, session.regions, session.transfers) == ((), (), ())


def test_a_node_that_cannot_be_reached_is_an_error() -> None:
    machines = [reference_machine("pcie-a30", name) for name in ("a", "b")]
    clock = SteppedClock(autojump=True)
    with Session.simulated(machines, clock=clock, fault="gid-index-wrong") as cut:
        places = (Place(cut.nodes[0], "mlx5_0"), Place(cut.nodes[1], "mlx5_0"))
        with pytest.raises(TransferError, match="RETRY_EXC_ERR"):
            run_bandwidth(cut, places, BandwidthTest(count=10), SIZE)
        assert cut.buffers == ()


def test_staged_latency_is_not_for_real_nodes(
    session: Session, ends: tuple[Place, Place], monkeypatch: pytest.MonkeyPatch
) -> None:
    staged = LatencyTest(path=DataPath.STAGED, count=10)
    assert run_latency(session, ends, staged, 8).iterations == 10
    monkeypatch.setattr(Session, "simulated_nodes", False)
    with pytest.raises(GdvizError, match="direct path"):
        run_latency(session, ends, staged, 8)
    with pytest.raises(TransferError, match="A ping-pong is for real nodes"):
        run_latency(session, ends, LatencyTest(count=10), 8)
