"""What holds of every prediction, on every machine of the catalogue, for every operation and path."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gdviz.machine import CATALOGUE, reference_machine
from gdviz.model import DataPath, Endpoint, Op, Prediction, Workload, flow, predict, sweep, timeline

MACHINES = {key: reference_machine(key) for key in CATALOGUE}
EPSILON = 1e-9

every_path = pytest.mark.parametrize("path", DataPath)
every_op = pytest.mark.parametrize("op", Op)
every_machine = pytest.mark.parametrize("key", CATALOGUE)


def ends(key: str) -> st.SearchStrategy[Endpoint]:
    """Return any end on a machine: a GPU or host memory, and any of its NICs."""
    machine = MACHINES[key]
    memory = st.sampled_from([*(gpu.id for gpu in machine.gpus), None])
    nic = st.sampled_from([nic.id for nic in machine.nics])
    return st.builds(lambda gpu, nic: Endpoint(machine, nic, gpu), memory, nic)


def sizes() -> st.SearchStrategy[int]:
    """Return sizes of any magnitude, most of them odd."""
    return st.one_of(st.integers(1, 512), st.integers(1, 1 << 17), st.integers(1, 1 << 25))


depths = st.sampled_from([1, 2, 7, 16, 128, 1000])
queue_pairs = st.sampled_from([1, 2, 16])


def ask(data: st.DataObject, key: str, op: Op, path: DataPath) -> tuple[Endpoint, Endpoint, Workload]:
    near, far = data.draw(ends(key)), data.draw(ends(key))
    return near, far, Workload(op, path, data.draw(sizes()), data.draw(depths), data.draw(queue_pairs))


def whole_packets(size_bytes: int) -> int:
    """Return a size rounded up to packets of 4 KiB, if it is more than one."""
    return size_bytes if size_bytes <= 4096 else -(-size_bytes // 4096) * 4096


def same(found: Prediction, other: Prediction) -> bool:
    return (found.bandwidth_bytes_per_s, found.latency, found.cpu_share) == (
        other.bandwidth_bytes_per_s,
        other.latency,
        other.cpu_share,
    )


@every_path
@every_op
@every_machine
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_rules_of_one_prediction(key: str, op: Op, path: DataPath, data: st.DataObject) -> None:
    near, far, work = ask(data, key, op, path)
    found = predict(near, far, work, messages=400, seed=3)
    rate = found.bandwidth_bytes_per_s
    # No ceiling is broken, and one of them is reached.
    assert all(rate <= ceiling.bytes_per_s for ceiling in found.ceilings)
    assert rate == found.bottleneck.bytes_per_s == found.ceilings[0].bytes_per_s
    for end in (near, far):
        for part in (end.nic_part, end.gpu_part):
            if part is not None and path is DataPath.DIRECT:
                assert rate < (part.link.bandwidth_bytes_per_s or math.inf)
        assert rate < (end.nic_part.speed_bytes_per_s or math.inf)
    assert all(found.loads[place] <= found.capacities[place] * (1 + EPSILON) for place in found.loads)
    assert found.messages_per_s == pytest.approx(rate / work.size_bytes)
    # The median is below the tail; light and PCIe take their time even for one byte.
    latency = found.latency
    assert 1e-6 < latency.p50 <= latency.p99 <= latency.p999 <= latency.max
    # One core at either end, and no more than all of it.
    assert 0 < found.cpu_share <= 2 * (1 + EPSILON)


@every_path
@every_op
@every_machine
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_more_takes_longer_and_more_in_flight_carries_more(
    key: str, op: Op, path: DataPath, data: st.DataObject
) -> None:
    near, far, work = ask(data, key, op, path)

    def of(**more: int) -> Prediction:
        values = {"size_bytes": work.size_bytes, "depth": work.depth, "qps": work.qps, **more}
        return predict(near, far, Workload(op, path, **values), messages=200, seed=3)

    size = whole_packets(work.size_bytes)
    found = of(size_bytes=size)
    larger = of(size_bytes=whole_packets(size + data.draw(st.sampled_from([1, 7, 4096, size]))))
    assert larger.latency.p50 >= found.latency.p50 * (1 - EPSILON)
    assert larger.messages_per_s <= found.messages_per_s * (1 + EPSILON)
    deeper = of(size_bytes=size, depth=2 * work.depth)
    assert deeper.bandwidth_bytes_per_s >= found.bandwidth_bytes_per_s * (1 - EPSILON)
    # Latency is that of one message in flight, whatever the depth.
    assert deeper.latency.p50 == pytest.approx(found.latency.p50, rel=0.01)
    # To change between queue pairs costs a NIC a few nanoseconds, and no more.
    wider = of(size_bytes=size, qps=2 * work.qps)
    assert wider.bandwidth_bytes_per_s >= 0.95 * found.bandwidth_bytes_per_s


@every_path
@every_op
@every_machine
@settings(max_examples=3, deadline=None)
@given(data=st.data())
def test_a_seed_is_an_answer(key: str, op: Op, path: DataPath, data: st.DataObject) -> None:
    near, far, work = ask(data, key, op, path)
    seed = data.draw(st.integers(0, 2**63 - 1))
    found = predict(near, far, work, messages=100, seed=seed)
    assert same(found, predict(near, far, work, messages=100, seed=seed))
    assert found.latency != predict(near, far, work, messages=100, seed=seed + 1).latency
    first, again = (flow(near, far, work, seed=seed).take(300) for _time in range(2))
    assert first.completed_s.tolist() == again.completed_s.tolist()


@every_path
@every_op
@every_machine
@settings(max_examples=4, deadline=None)
@given(data=st.data())
def test_messages_that_really_go_through_keep_to_the_prediction(
    key: str, op: Op, path: DataPath, data: st.DataObject
) -> None:
    """The ceilings are reckoned, the flow is simulated: they agree but for the jitter."""
    near, far, work = ask(data, key, op, path)
    expected = predict(near, far, work, messages=2000, seed=1).bandwidth_bytes_per_s
    done = flow(near, far, work, seed=2).take(6000).completed_s
    reached = work.size_bytes * 4000 / (done[-1] - done[1999])
    assert reached == pytest.approx(expected, rel=0.15)
    assert reached < expected * 1.05


@every_path
@every_op
@every_machine
@settings(max_examples=4, deadline=None)
@given(data=st.data())
def test_stages_are_the_latency(key: str, op: Op, path: DataPath, data: st.DataObject) -> None:
    near, far, work = ask(data, key, op, path)
    stages = timeline(near, far, work)
    assert [stage.start_s for stage in stages] == sorted(stage.start_s for stage in stages)
    assert stages[0].start_s == 0
    assert all(stage.places for stage in stages)
    assert len({(stage.key, stage.side) for stage in stages}) == len(stages)
    # What a NIC writes to GPU memory may still be on its way when the completion is polled.
    last = max(stage.end_s for stage in stages if path is DataPath.STAGED or stage.key == "poll")
    p50 = predict(near, far, work, messages=2000, seed=5).latency.p50
    assert p50 == pytest.approx(last, rel=0.03)


@every_path
@every_op
@every_machine
@pytest.mark.parametrize("size", [1, 4095, 4097, 8193, 524287, 524288, 1 << 21])
def test_no_stage_ends_before_it_begins(key: str, op: Op, path: DataPath, size: int) -> None:
    machine = MACHINES[key]
    end = Endpoint(machine, machine.nics[0].id, machine.gpus[0].id)
    assert all(stage.duration_s >= 0 for stage in timeline(end, end, Workload(op, path, size)))


@pytest.mark.parametrize("op", [Op.WRITE, Op.READ])
def test_one_byte_more_than_whole_packets_is_no_quicker(op: Op) -> None:
    machine = MACHINES["hgx-h100"]
    end = Endpoint(machine, machine.nics[0].id, machine.gpus[0].id)
    whole, more = (predict(end, end, Workload(op, size_bytes=size)).latency.p50 for size in (69632, 69633))
    assert more >= whole


@every_op
@every_machine
def test_no_stage_ends_before_it_begins_where_the_last_chunk_is_short(key: str, op: Op) -> None:
    machine = MACHINES[key]
    end = Endpoint(machine, machine.nics[0].id, machine.gpus[0].id)
    work = Workload(op, DataPath.STAGED, 524289)
    assert all(stage.duration_s >= 0 for stage in timeline(end, end, work))


@every_op
@every_machine
def test_a_whole_sweep_rises(key: str, op: Op) -> None:
    machine = MACHINES[key]
    end = Endpoint(machine, machine.nics[0].id, machine.gpus[0].id)
    for found in sweep(end, end, op=op, messages=200).values():
        times = [one.latency for one in found]
        for before, after in pairwise(times):
            assert before.p50 < after.p50
            assert before.p99 < after.p99 * 1.02
        rates = [one.bandwidth_bytes_per_s for one in found]
        assert all(before < after * 1.02 for before, after in pairwise(rates))
        work = [one.cpu_share / one.messages_per_s for one in found]
        assert all(before <= after * (1 + EPSILON) for before, after in pairwise(work))


@every_path
@every_machine
@settings(max_examples=4, deadline=None)
@given(data=st.data())
def test_a_write_there_is_a_write_back(key: str, path: DataPath, data: st.DataObject) -> None:
    """Two ends that are alike: which one posts makes no difference."""
    near, far, work = ask(data, key, Op.WRITE, path)
    there = predict(near, near, work, messages=50)
    other = Endpoint(near.machine.renamed("other"), near.nic, near.gpu)
    assert same(there, predict(other, near, work, messages=50))
    assert same(there, predict(near, other, work, messages=50))
    assert far.machine is near.machine
