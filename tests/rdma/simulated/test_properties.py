"""Whatever is posted in whatever order: memory changes only where it may, and nothing completes twice."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gdviz.clock import SteppedClock
from gdviz.errors import VerbsError
from gdviz.machine import reference_machine
from gdviz.rdma import (
    AccessFlags,
    Location,
    Opcode,
    QpState,
    RecvRequest,
    SendRequest,
    Sge,
    WcOpcode,
    WcStatus,
)
from gdviz.rdma.simulated import SimulatedNetwork

SIZE, FIRST, LENGTH = 512, 128, 256
_OFFSET = st.integers(-8, LENGTH + 8)
_ANY_ACCESS = st.lists(st.sampled_from(["remote_write", "remote_read"]), max_size=2, unique=True)

_SEND = st.fixed_dictionaries(
    {
        "kind": st.just("send"),
        "side": st.integers(0, 1),
        "opcode": st.sampled_from(Opcode),
        "at": _OFFSET,
        "remote_at": _OFFSET,
        "length": st.integers(0, 64),
        "good_key": st.integers(0, 5).map(bool),
        "signaled": st.booleans(),
    }
)
_RECEIVE = st.fixed_dictionaries(
    {"kind": st.just("receive"), "side": st.integers(0, 1), "at": _OFFSET, "length": st.integers(0, 64)}
)
_OTHER = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(["wait", "wait", "poll", "poll", "error", "again", "drain", "resume"]),
        "side": st.integers(0, 1),
        "seconds": st.sampled_from([1e-7, 2e-6, 1e-5, 1e-3]),
    }
)


class World:
    """Two nodes, a queue pair on each, one region in the middle of a buffer on each."""

    def __init__(self, accesses) -> None:
        self.clock = SteppedClock()
        self.network = SimulatedNetwork(self.clock)
        self.buffers, self.regions, self.queues, self.pairs = [], [], [], []
        for name, access in zip("ab", accesses, strict=True):
            provider = self.network.provider(reference_machine("pcie-a30", name))
            device = provider.device("mlx5_0")
            domain, queue = device.alloc_pd(), device.create_cq(100_000)
            buffer = provider.alloc(Location("gpu", provider.machine.gpus[0].id), SIZE)
            buffer.fill("random", seed=ord(name))
            flags = AccessFlags.parse(access) | AccessFlags.LOCAL_WRITE
            self.buffers.append(buffer)
            self.regions.append(domain.register(buffer, flags, offset=FIRST, length=LENGTH))
            self.queues.append(queue)
            self.pairs.append(domain.create_qp(queue, queue, max_send_wr=8, max_recv_wr=8))
        self.before = [buffer.read() for buffer in self.buffers]
        self.wr_id = 0
        #: Since the last reset: what was posted, in order, and what completed.
        self.posted = [{}, {}]
        self.received = [{}, {}]
        self.done = [[], []]
        self.connect()

    def connect(self) -> None:
        for side, pair in enumerate(self.pairs):
            self.collect(side)
            pair.modify(QpState.RESET)
            self.posted[side], self.received[side], self.done[side] = {}, {}, []
        for side, pair in enumerate(self.pairs):
            pair.connect(self.pairs[1 - side].address, timeout=1, retry_count=1, rnr_retry=1, min_rnr_timer=1)

    def collect(self, side: int) -> None:
        self.done[side] += self.queues[side].poll(1000)
        for kind, posted in ((True, self.posted[side]), (False, self.received[side])):
            found = [c for c in self.done[side] if (c.opcode < WcOpcode.RECV) is kind]
            ids = [c.wr_id for c in found]
            assert ids == sorted(set(ids)), "in order, and each once"
            assert set(ids) <= set(posted)
            if kind:
                statuses = [c.status for c in found]
                first = next((n for n, s in enumerate(statuses) if s is not WcStatus.SUCCESS), len(statuses))
                assert set(statuses[first + 1 :]) <= {WcStatus.WR_FLUSH_ERR}, "nothing after an error"
                assert all(posted[c.wr_id] or c.status is not WcStatus.SUCCESS for c in found)

    def step(self, step) -> None:
        side, kind = step["side"], step["kind"]
        pair, region, peer = self.pairs[side], self.regions[side], self.regions[1 - side]
        self.wr_id += 1
        if kind == "send":
            request = SendRequest(
                self.wr_id,
                step["opcode"],
                (Sge(region.address + step["at"], step["length"], region.lkey),),
                peer.address + step["remote_at"],
                peer.rkey if step["good_key"] else peer.rkey ^ 0x100,
                5 if step["opcode"].has_immediate else None,
                step["signaled"],
            )
            with contextlib.suppress(VerbsError):
                pair.post_send(request)
                self.posted[side][self.wr_id] = step["signaled"]
        elif kind == "receive":
            sge = Sge(region.address + step["at"], step["length"], region.lkey)
            with contextlib.suppress(VerbsError):
                pair.post_recv(RecvRequest(self.wr_id, (sge,)))
                self.received[side][self.wr_id] = True
        elif kind == "wait":
            self.clock.advance(step["seconds"])
        elif kind == "poll":
            self.collect(side)
        elif kind == "error":
            pair.modify(QpState.ERR)
        elif kind == "again":
            self.connect()
        elif pair.state is (QpState.RTS if kind == "drain" else QpState.SQD):
            pair.modify(QpState.SQD if kind == "drain" else QpState.RTS)

    def check_memory(self) -> None:
        for buffer, before in zip(self.buffers, self.before, strict=True):
            now = buffer.read()
            assert now[:FIRST] == before[:FIRST]
            assert now[FIRST + LENGTH :] == before[FIRST + LENGTH :]

    def finish(self) -> None:
        self.clock.advance(1.0)
        for pair in self.pairs:
            if pair.state is not QpState.ERR:
                pair.modify(QpState.ERR)
        for side in range(2):
            self.collect(side)
            ids = {c.wr_id for c in self.done[side]}
            signaled = {wr_id for wr_id, wanted in self.posted[side].items() if wanted}
            assert signaled <= ids
            assert set(self.received[side]) <= ids


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.tuples(_ANY_ACCESS, _ANY_ACCESS), st.lists(st.one_of(_SEND, _SEND, _RECEIVE, _OTHER), max_size=40))
def test_any_sequence_of_verbs(accesses, steps) -> None:
    world = World(accesses)
    for step in steps:
        world.step(step)
    world.check_memory()
    world.finish()
    world.check_memory()
    world.network.close()


@settings(max_examples=50, deadline=None)
@given(st.lists(_SEND.map(lambda step: step | {"side": 0}), min_size=1, max_size=12))
def test_without_the_right_nothing_of_the_peer_changes(steps) -> None:
    world = World(([], ["remote_read"]))
    for step in steps:
        if step["opcode"] in (Opcode.RDMA_WRITE, Opcode.RDMA_WRITE_WITH_IMM):
            world.step(step)
    world.finish()
    assert world.buffers[1].read() == world.before[1]
    world.network.close()


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.booleans(), st.integers(0, LENGTH - 32), st.integers(0, LENGTH - 32), st.integers(0, 32)
        ),
        max_size=12,
    )
)
def test_good_messages_do_what_plain_copies_do(moves) -> None:
    world = World((["remote_write", "remote_read"],) * 2)
    plain = [bytearray(data) for data in world.before]
    for write, at, remote_at, length in moves:
        source, target = (0, 1) if write else (1, 0)
        offsets = {0: FIRST + at, 1: FIRST + remote_at}
        piece = plain[source][offsets[source] : offsets[source] + length]
        plain[target][offsets[target] : offsets[target] + length] = piece
        world.step(
            {
                "kind": "send",
                "side": 0,
                "opcode": Opcode.RDMA_WRITE if write else Opcode.RDMA_READ,
                "at": at,
                "remote_at": remote_at,
                "length": length,
                "good_key": True,
                "signaled": True,
            }
        )
        world.clock.advance(1e-3)
        world.collect(0)
    assert [bytes(data) for data in plain] == [buffer.read() for buffer in world.buffers]
    world.network.close()


def test_the_world_notices_a_broken_rule(monkeypatch) -> None:
    """The checks above can fail: with bounds unchecked, memory around the region changes."""
    from gdviz.rdma.simulated.regions import SimulatedRegion

    monkeypatch.setattr(SimulatedRegion, "holds", lambda *_: True)
    world = World((["remote_write"], ["remote_write"]))
    step = {"kind": "send", "side": 0, "opcode": Opcode.RDMA_WRITE, "at": 0, "remote_at": -8, "length": 16}
    world.step(step | {"good_key": True, "signaled": True})
    world.clock.advance(1.0)
    with pytest.raises(AssertionError):
        world.check_memory()
    world.network.close()
