"""Whatever people pass, they get one clear sentence, and the session goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from gdviz.clock import SteppedClock
from gdviz.errors import GdvizError, SessionClosedError, TransferError
from gdviz.machine import reference_machine
from gdviz.rdma import TransferState
from gdviz.rdma.simulated.bulk import BulkRun
from gdviz.session import MemoryRegion, Session, Topic, transfer
from gdviz.session.session import close_sessions

Pair = tuple[MemoryRegion, MemoryRegion]

WRONG = (None, 1.5, float("nan"), [], {}, object(), b"4 KiB", "many", -1, 2**70)
#: Of these None means that it is not given.
GIVEN = WRONG[1:]


@pytest.mark.parametrize("value", WRONG, ids=repr)
@pytest.mark.parametrize(
    "call",
    [
        lambda s, p, v: s.node(0).gpu(0).alloc(v),
        lambda s, p, v: s.node(0).gpu(0).alloc(16, "random", seed=v),
        lambda s, p, v: p[0].buffer.read(v, 1),
        lambda s, p, v: p[0].buffer.checksum(v),
        lambda s, p, v: p[0].buffer.write(b"x", v),
        lambda s, p, v: p[0].buffer.fill("random", seed=v),
        lambda s, p, v: s.node(0).nic(0).register(v),
        lambda s, p, v: s.node(0).nic(0).register(p[0].buffer, offset=v),
        lambda s, p, v: s.transfer(v, p[1]),
        lambda s, p, v: s.transfer(p[0], v),
        lambda s, p, v: transfer(v, p[1]),
        lambda s, p, v: s.transfer(*p, depth=v),
        lambda s, p, v: s.transfer(*p, qps=v),
        lambda s, p, v: s.compare(v, p[1]),
        lambda s, p, v: s.compare(*p, op=v),
        lambda s, p, v: s.compare(*p, qps=v),
        lambda s, p, v: s.compare(*p, sizes=[v]),
        lambda s, p, v: s.watch(v, print),
        lambda s, p, v: Session.simulated(v),
        lambda s, p, v: Session.simulated([v]),
    ],
)
def test_a_wrong_value_gets_a_sentence(session: Session, pair: Pair, call: Callable, value: object) -> None:
    with pytest.raises(GdvizError):
        call(session, pair, value)


@pytest.mark.parametrize("value", GIVEN, ids=repr)
@pytest.mark.parametrize("option", ["count", "rkey", "duration", "local_offset", "size", "op", "path"])
def test_a_wrong_option_of_a_transfer_gets_a_sentence(pair: Pair, option: str, value: object) -> None:
    if (option, value) in [("duration", 1.5), ("duration", 2**70), ("local_offset", 2**70)]:
        return  # these make sense; the last one fails with a completion
    with pytest.raises(GdvizError):
        transfer(*pair, **{option: value})


@pytest.mark.parametrize("value", [None, 1.5, -1, b"x", object()], ids=repr)
def test_access_flags_that_are_none_get_a_sentence(session: Session, pair: Pair, value: object) -> None:
    with pytest.raises(GdvizError, match="flags"):
        session.node(0).nic(0).register(pair[0].buffer, value)


@pytest.mark.parametrize("data", [7, None, "text", 1.5])
def test_only_bytes_are_written(pair: Pair, data: object) -> None:
    with pytest.raises(GdvizError, match="must be bytes"):
        pair[0].buffer.write(data)


@pytest.mark.parametrize("name", ["fabric", "host", "clock"])
def test_parts_of_a_session_are_checked_before_it_starts(name: str) -> None:
    before = threading.active_count()
    with pytest.raises(GdvizError, match=name):
        Session.simulated([reference_machine("pcie-a30")], **{name: 3})
    assert threading.active_count() == before


def test_numbers_of_numpy_are_numbers(session: Session, pair: Pair) -> None:
    done = transfer(*pair, count=np.int64(3), depth=np.int8(100), qps=np.uint8(1), size=np.int32(64))
    assert done.wait(10).messages == 3
    assert session.node(0).gpu(1).alloc(np.int64(4), np.uint8(7)).read() == b"\7" * 4


def test_a_buffer_is_filled_with_a_bytes_value_or_with_bytes(session: Session) -> None:
    buffer = session.node(0).gpu(0).alloc(4, 7)
    assert buffer.read() == b"\7" * 4
    buffer.fill(b"ab")
    assert buffer.read() == b"abab"


def test_a_buffer_of_gigabytes_is_not_read_at_once(session: Session) -> None:
    with pytest.raises(GdvizError, match="64 GiB"):
        session.node(0).gpu(0).alloc("64 GiB").read()


@pytest.mark.parametrize(("offset", "length"), [(2**20 + 1, None), (0, 2**20 + 1), (2**70, 0)])
def test_a_checksum_stays_inside_of_the_buffer(pair: Pair, offset: int, length: int | None) -> None:
    with pytest.raises(GdvizError):
        pair[0].buffer.checksum(offset, length)


def test_memory_of_another_session_is_refused(session: Session, pair: Pair) -> None:
    machine = reference_machine("hgx-h100")
    with Session.simulated([machine.renamed("node-a")], clock=SteppedClock(autojump=True)) as other:
        foreign = other.nodes[0].gpu(0).alloc(4096)
        for attempt in (
            lambda: session.node(0).nic(0).register(foreign),
            lambda: session.transfer(pair[0], foreign),
            lambda: session.compare(pair[0], other.nodes[0].nic(0).register(foreign)),
        ):
            with pytest.raises(GdvizError, match="another session"):
                attempt()


def test_a_transfer_that_breaks_ends_alone(
    session: Session, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = BulkRun.simulate

    def simulate(run: BulkRun, to_s: float) -> None:
        if run.spec.count == 13:
            raise ZeroDivisionError("made for this test")
        real(run, to_s)

    monkeypatch.setattr(BulkRun, "simulate", simulate)
    broken = transfer(*pair, count=13)
    with pytest.raises(TransferError, match="made for this test"):
        broken.wait(10)
    assert broken.state is TransferState.FAILED
    assert broken.result is None
    assert "made for this test" in broken.trouble
    assert "failed" in repr(broken)
    assert transfer(*pair, count=5).wait(10).messages == 5


def test_closing_gives_running_transfers_their_result(pair: Pair, session: Session) -> None:
    running = transfer(*pair, duration=3600)
    comparison = session.compare(*pair)
    session.close()
    assert running.wait(1).state is TransferState.STOPPED
    assert running.state is TransferState.STOPPED
    running.stop()
    with pytest.raises(SessionClosedError):
        comparison.wait(1)


def test_a_node_that_cannot_be_closed_leaves_no_thread_and_no_waiter(
    pair: Pair, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_self: object) -> None:
        raise OSError("made for this test")

    monkeypatch.setattr("gdviz.nodes.agent.NodeAgent.close", broken)
    session.watch(Topic.EVENTS, print)
    with pytest.raises(OSError, match="made for this test"):
        session.close()
    assert not session.engine.alive
    assert session.buffers == ()


def test_at_the_end_one_broken_session_keeps_no_other_open(monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = [Session.simulated([reference_machine("pcie-a30")]) for _ in range(3)]
    real = Session.close

    def close(session: Session) -> None:
        real(session)
        raise OSError("made for this test")

    monkeypatch.setattr(Session, "close", close)
    close_sessions()
    assert not any(session.engine.alive for session in sessions)


def test_a_watcher_cannot_close_the_session_it_is_called_by(session: Session) -> None:
    session.watch(Topic.EVENTS, lambda _event: session.close())
    session.node(0).gpu(0).alloc(16)
    assert "own thread" in str(session.state.watchers.failures[0])
    assert session.engine.alive


def test_staging_on_a_machine_without_host_memory_is_refused_and_leaves_nothing() -> None:
    machine = reference_machine("pcie-a30")
    bare = replace(machine, parts=replace(machine.parts, cpus=()))
    with Session.simulated([bare.renamed("a"), bare.renamed("b")]) as session:
        near, far = (node.gpu(0).alloc(4096) for node in session.nodes)
        with pytest.raises(GdvizError, match="no host memory"):
            session.transfer(near, far, path="staged")
        assert session.regions == ()
