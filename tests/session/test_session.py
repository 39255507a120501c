"""The session: objects come and go, transfers run, everything is given back."""

from __future__ import annotations

import asyncio
import threading

import pytest

from gdviz.clock import SteppedClock
from gdviz.errors import GdvizError, RegistrationError, SessionClosedError, UnknownDeviceError, VerbsError
from gdviz.machine import reference_machine
from gdviz.model import DataPath
from gdviz.rdma import TransferState, WcStatus
from gdviz.rdma.simulated import SimulatedHost
from gdviz.session import MemoryRegion, Session, Topic, transfer

Pair = tuple[MemoryRegion, MemoryRegion]


def test_a_buffer_holds_what_was_put_into_it(session: Session) -> None:
    buffer = session.node("node-a").gpu(3).alloc("64 KiB", fill="zeros")
    buffer.write(b"gdviz", 100)
    assert buffer.read(98, 9) == b"\0\0gdviz\0\0"
    assert buffer.where == "GPU 3"
    assert buffer.checksum(100, 5) != buffer.checksum(101, 5)
    assert buffer.checksum() == buffer.checksum(0, buffer.size_bytes)


def test_a_registered_buffer_is_not_freed(session: Session, pair: Pair) -> None:
    source, _target = pair
    with pytest.raises(VerbsError):
        source.buffer.free()
    source.deregister()
    source.buffer.free()
    assert source.buffer not in session.buffers
    with pytest.raises(GdvizError, match="freed"):
        source.buffer.read()


def test_registration_takes_bar1_and_gives_it_back(session: Session, pair: Pair) -> None:
    source, _target = pair
    gpu = session.node("node-a").gpu(0)
    assert gpu.bar1_used_bytes == 2**20
    source.deregister()
    assert gpu.bar1_used_bytes == 0


def test_a_nic_refuses_the_memory_of_another_node(session: Session, pair: Pair) -> None:
    source, _target = pair
    with pytest.raises(GdvizError, match="own node"):
        session.node("node-b").nic(0).register(source.buffer)


@pytest.mark.parametrize("path", list(DataPath))
@pytest.mark.parametrize("op", ["write", "send"])
def test_bytes_arrive_by_both_paths(pair: Pair, path: DataPath, op: str) -> None:
    source, target = pair
    done = transfer(source, target, op=op, path=path, size="64 KiB", count=16)
    assert done.wait(10).status is WcStatus.SUCCESS
    assert done.verify()
    assert target.buffer.read() == source.buffer.read()


def test_a_read_brings_the_bytes_here(pair: Pair) -> None:
    source, target = pair
    done = transfer(target, source, op="read", size="1 MiB", count=1)
    assert done.wait(10).status is WcStatus.SUCCESS
    assert target.buffer.checksum() == source.buffer.checksum()


def test_a_transfer_is_awaited_in_a_foreign_loop(pair: Pair) -> None:
    async def cell() -> object:
        return await transfer(*pair, count=100)

    assert asyncio.run(cell()).messages == 100


def test_a_cancelled_await_stops_the_transfer(pair: Pair) -> None:
    async def cell() -> object:
        running = transfer(*pair, duration=3600.0)
        task = asyncio.ensure_future(running._wait())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return running

    running = asyncio.run(cell())
    running.wait(10)
    assert running.state is TransferState.STOPPED


def test_a_transfer_gives_back_what_it_opened(session: Session, pair: Pair) -> None:
    source, target = pair
    before = (len(session.buffers), len(session.regions))
    transfer(source.buffer, target.buffer, path="staged", count=10).wait(10)
    assert (len(session.buffers), len(session.regions)) == before


def test_a_wrong_rkey_fails_and_writes_nothing(pair: Pair) -> None:
    source, target = pair
    before = target.buffer.checksum()
    done = transfer(source, target, count=1, rkey=target.rkey ^ 1)
    assert done.wait(10).status is WcStatus.REM_ACCESS_ERR
    assert done.state is TransferState.FAILED
    assert target.buffer.checksum() == before


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"op": "swim"}, "swim"),
        ({"path": "scenic"}, "scenic"),
        ({"size": "many"}, "size"),
        ({"count": 0}, "at least one"),
        ({"count": 1, "duration": 1}, "not both"),
        ({"depth": 0}, "depth"),
        ({"duration": "-1 s"}, "duration"),
    ],
)
def test_bad_options_get_one_clear_sentence(pair: Pair, options: dict, words: str) -> None:
    with pytest.raises(GdvizError, match=words):
        transfer(*pair, **options)


def test_samples_and_events_are_told(session: Session, pair: Pair) -> None:
    samples: list = []
    events: list = []
    session.watch(Topic.SAMPLES, samples.extend)
    session.watch(Topic.EVENTS, events.append)
    done = transfer(*pair, duration=1.0, size="64 KiB")
    result = done.wait(10)
    moved = sum(
        sample.bandwidth_bytes_per_s * seconds
        for sample, seconds in zip(samples, _lengths(samples), strict=True)
    )
    assert moved == pytest.approx(result.bytes, rel=0.02)
    assert [event.level for event in events] == ["info", "info"]
    assert len(done.history) == len(samples)


def _lengths(samples: list) -> list[float]:
    ends = [sample.time_s for sample in samples]
    return [b - a for a, b in zip([ends[0] - (ends[1] - ends[0]), *ends], ends, strict=False)]


def test_hosts_without_dma_buf_and_peermem_refuse_gpu_memory() -> None:
    machine = reference_machine("hgx-h100")
    host = SimulatedHost(dma_buf=False, peermem=False)
    with Session.simulated([machine], host=host) as session:
        node = session.nodes[0]
        buffer = node.gpu(0).alloc("1 MiB")
        with pytest.raises(RegistrationError) as caught:
            node.nic(0).register(buffer)
        assert "dma-buf" in str(caught.value)
        assert "peermem" in str(caught.value)
        assert session.regions == ()


def test_a_closed_session_leaves_nothing_and_says_so() -> None:
    machine = reference_machine("pcie-a30")
    before = threading.active_count()
    session = Session.simulated([machine.renamed("a"), machine.renamed("b")])
    running = session.transfer(
        session.node("a").gpu(0).alloc("1 MiB"), session.node("b").gpu(0).alloc("1 MiB"), duration=3600
    )
    session.close()
    session.close()
    assert threading.active_count() == before
    assert running.done.done()
    with pytest.raises(SessionClosedError):
        session.node("a").gpu(0).alloc(1)


def test_nodes_are_found_by_name_and_number(session: Session) -> None:
    assert session.node(1) is session.node("node-b")
    with pytest.raises(UnknownDeviceError, match="node-a, node-b"):
        session.node("node-c")
    with pytest.raises(UnknownDeviceError, match="NUMA"):
        session.node(0).host(7)


def test_two_nodes_of_one_name_are_refused() -> None:
    machine = reference_machine("pcie-a30")
    with pytest.raises(GdvizError, match="same name"):
        Session.simulated([machine, machine])


def test_a_comparison_measures_both_paths(session: Session, pair: Pair) -> None:
    comparison = session.compare(*pair, sizes=[64, 65536], qps=2).wait(30)
    for path in DataPath:
        assert [point.size_bytes for point in comparison.measured[path]] == [64, 65536]
        for point, expected in zip(comparison.measured[path], comparison.predicted[path], strict=True):
            assert point.bandwidth_bytes_per_s == pytest.approx(expected.bandwidth_bytes_per_s, rel=0.05)
    assert session.transfers == ()
    with pytest.raises(GdvizError, match="1 MiB"):
        session.compare(*pair, sizes=[2**30])


def test_staging_needs_no_registration_of_gpu_memory() -> None:
    machine = reference_machine("hgx-h100")
    host = SimulatedHost(dma_buf=False, peermem=False)
    nodes = [machine.renamed("a"), machine.renamed("b")]
    with Session.simulated(nodes, host=host, clock=SteppedClock(autojump=True)) as session:
        a, b = session.nodes
        source, target = a.gpu(0).alloc("1 MiB", fill="counter"), b.gpu(0).alloc("1 MiB")
        with pytest.raises(RegistrationError):
            session.transfer(source, target, path="direct", count=16)
        done = session.transfer(source, target, path="staged", count=16)
        assert a.gpu(0).bar1_used_bytes == 0
        assert done.wait(10).status is WcStatus.SUCCESS
        assert done.verify()
        assert target.checksum() == source.checksum()
        assert session.regions == ()
        staged = session.compare(source, target, sizes=[4096]).wait(10)
        assert staged.paths == (DataPath.STAGED,)
        assert [len(staged.measured[path]) for path in (DataPath.DIRECT, DataPath.STAGED)] == [0, 1]
        done = session.transfer(source, target, path="staged", count=1, remote_offset=2**20)
        assert done.wait(10).status is WcStatus.REM_ACCESS_ERR
        source.free()
        target.free()
