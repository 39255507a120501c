"""The requester's side of a queue pair: takes sends in order, waits, retries, gives up.

One message at a time is on its way to the responder's memory; its delivery is an event. What the model says
of a single message gives the times; back to back, messages are spaced by what the path carries.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gdviz.errors import AllocationError
from gdviz.rdma.requests import Opcode, RecvRequest, SendRequest, Sge, WcOpcode
from gdviz.rdma.simulated import rules
from gdviz.rdma.states import RNR_TIMER_S, QpState, ack_timeout_s
from gdviz.rdma.status import WcStatus

if TYPE_CHECKING:
    from gdviz.rdma.simulated.queue_pairs import SimulatedQueuePair


@dataclass(slots=True, eq=False)
class SendWork:
    """A posted send.

    Attributes
    ----------
    payload
        The bytes, if they were taken when posting (inline).
    dropped
        Whether it was flushed or forgotten: its events do nothing any more.
    """

    request: SendRequest
    ticket: int
    posted_s: float
    payload: NDArray[np.uint8] | None = None
    dropped: bool = False


@dataclass(slots=True, eq=False)
class Stall:
    """A message that is being retried.

    Attributes
    ----------
    status
        What it ends with if nothing changes: RETRY_EXC_ERR or RNR_RETRY_EXC_ERR.
    interval_s
        Time between tries.
    """

    work: SendWork
    status: WcStatus
    since_s: float
    interval_s: float


def retry_wait_s(pair: SimulatedQueuePair) -> float:
    """Return the seconds until a queue pair gives up on a peer that does not answer."""
    return ack_timeout_s(pair.attributes.get("timeout", 0)) * (pair.attributes.get("retry_cnt", 0) + 1)


def rnr_interval_s(peer: SimulatedQueuePair) -> float:
    """Return the seconds that a receiver which is not ready asks a sender to wait."""
    return RNR_TIMER_S[peer.attributes.get("min_rnr_timer", 0)]


def rnr_wait_s(pair: SimulatedQueuePair, peer: SimulatedQueuePair) -> float:
    """Return the seconds until a queue pair gives up on a receiver that is not ready (7: never)."""
    retries = pair.attributes.get("rnr_retry", 0)
    return math.inf if retries == 7 else retries * rnr_interval_s(peer)


class Sender:
    """Works off the send queue of one queue pair."""

    def __init__(self, pair: SimulatedQueuePair) -> None:
        self._pair = pair
        self._waiting: deque[SendWork] = deque()
        self._delivered: deque[SendWork] = deque()
        self._head: SendWork | None = None
        self._broken = False
        self._last_delivery_s = -math.inf
        self._last_completion_s = -math.inf
        self.stall: Stall | None = None

    def post(self, request: SendRequest, ticket: int, payload: NDArray[np.uint8] | None) -> None:
        """Take a request, with its bytes if they are inline."""
        pair = self._pair
        work = SendWork(request, ticket, pair.network.now, payload)
        if pair.present_state in (QpState.ERR, QpState.SQE):
            pair.complete_send(work, WcStatus.WR_FLUSH_ERR)
            return
        self._waiting.append(work)
        self.kick()

    def drop_all(self) -> list[SendWork]:
        """Forget everything and return it, in the order of posting."""
        dropped = [*self._delivered, *self._waiting]
        for work in dropped:
            work.dropped = True
        self._delivered.clear()
        self._waiting.clear()
        self._head = self.stall = None
        self._pair.network.stalled.discard(self)
        self._broken = False
        self._last_delivery_s = self._last_completion_s = -math.inf
        return dropped

    def kick(self) -> None:
        """Send the next message on its way, if none is and the state allows it."""
        pair = self._pair
        if self._head or self._broken or not self._waiting or pair.present_state is not QpState.RTS:
            return
        work = self._head = self._waiting[0]
        network = pair.network
        timing = network.timing(pair, work.request)
        at = max(network.now, work.posted_s + timing.deliver_s, self._last_delivery_s + timing.gap_s)
        network.events.schedule(at, lambda: self._deliver(work))

    def wake(self) -> None:
        """Try a stalled message again at its next turn: something has changed."""
        stall = self.stall
        if stall is None:
            return
        network = self._pair.network
        at = network.now
        if 0 < stall.interval_s < math.inf:
            tries = math.ceil((network.now - stall.since_s) / stall.interval_s)
            at = max(at, stall.since_s + tries * stall.interval_s)
        network.events.schedule(at, lambda: self._retry(stall))

    def _retry(self, stall: Stall) -> None:
        if self.stall is stall and not stall.work.dropped:
            self._deliver(stall.work)

    def _give_up(self, stall: Stall) -> None:
        if self.stall is stall and not stall.work.dropped:
            self._finish(stall.work, stall.status, 0.0)

    def _deliver(self, work: SendWork) -> None:
        """Carry out a request at the time at which its payload arrives."""
        pair = self._pair
        if work.dropped or self._head is not work:
            return
        timing = pair.network.timing(pair, work.request)
        rest_s = timing.complete_s - timing.deliver_s
        status = rules.check_request(pair, work.request)
        if status is not WcStatus.SUCCESS:
            self._finish(work, status, rest_s)
            return
        peer = pair.network.peer_of(pair)
        if peer is None:
            ack_s = ack_timeout_s(pair.attributes.get("timeout", 0))
            self._wait(work, WcStatus.RETRY_EXC_ERR, ack_s, retry_wait_s(pair))
            return
        receive = peer.receives[0] if peer.receives and work.request.opcode.takes_receive else None
        verdict = rules.answer(peer, work.request, receive.request if receive else None)
        if verdict.status is WcStatus.RNR_RETRY_EXC_ERR:
            self._wait(work, verdict.status, rnr_interval_s(peer), rnr_wait_s(pair, peer))
            return
        status = verdict.status
        if verdict.ok and not self._move(work, peer, receive.request if receive else None):
            status = WcStatus.GENERAL_ERR
        if receive is not None and verdict.receive is not None:
            peer.receives.popleft()
            written = work.request.opcode is Opcode.RDMA_WRITE_WITH_IMM
            peer.complete_receive(
                receive,
                verdict.receive if status is verdict.status else status,
                work.request.length if status is WcStatus.SUCCESS else 0,
                opcode=WcOpcode.RECV_RDMA_WITH_IMM if written else WcOpcode.RECV,
                imm=work.request.imm if work.request.opcode.has_immediate else None,
            )
        if status is not WcStatus.SUCCESS:
            # The responder's queue pair goes into error, too (9.9.3, class C faults).
            peer.enter_error()
        self._finish(work, status, rest_s)

    def _wait(self, work: SendWork, status: WcStatus, interval_s: float, limit_s: float) -> None:
        network = self._pair.network
        if self.stall is not None and self.stall.work is work and self.stall.status is status:
            return
        stall = self.stall = Stall(work, status, network.now, interval_s)
        network.stalled.add(self)
        network.events.schedule(network.now + limit_s, lambda: self._give_up(stall))

    def _finish(self, work: SendWork, status: WcStatus, after_s: float) -> None:
        """Take a request off the queue; its completion comes `after_s` later."""
        network = self._pair.network
        self._waiting.popleft()
        self._delivered.append(work)
        self._head = self.stall = None
        network.stalled.discard(self)
        self._broken = status is not WcStatus.SUCCESS
        self._last_delivery_s = network.now
        at = self._last_completion_s = max(network.now + after_s, self._last_completion_s)
        network.events.schedule(at, lambda: self._complete(work, status))
        self.kick()

    def _complete(self, work: SendWork, status: WcStatus) -> None:
        if work.dropped:
            return
        self._delivered.popleft()
        self._pair.complete_send(work, status)
        if status is not WcStatus.SUCCESS:
            self._pair.enter_error()

    def _move(self, work: SendWork, peer: SimulatedQueuePair, receive: RecvRequest | None) -> bool:
        """Move the bytes; False if this computer has no room for them."""
        pair, request = self._pair, work.request
        if not request.length:
            return True
        try:
            if request.opcode is Opcode.RDMA_READ:
                region = rules.remote_region(peer, request)
                assert region is not None
                offset = request.remote_address - region.buffer.address
                scatter(pair, request.sges, region.buffer.memory.read(offset, request.length))
                return True
            payload = gather(pair, request.sges) if work.payload is None else work.payload
            if request.opcode in (Opcode.SEND, Opcode.SEND_WITH_IMM):
                assert receive is not None
                scatter(peer, receive.sges, payload)
                return True
            region = rules.remote_region(peer, request)
            assert region is not None
            region.buffer.memory.write(request.remote_address - region.buffer.address, payload)
        except AllocationError:
            return False
        return True


def gather(pair: SimulatedQueuePair, sges: tuple[Sge, ...]) -> NDArray[np.uint8]:
    """Return the bytes of pieces of checked local memory, joined."""
    parts = []
    for sge in sges:
        if sge.length:
            region = rules.local_region(pair, sge)
            assert region is not None
            parts.append(region.buffer.memory.read(sge.address - region.buffer.address, sge.length))
    return np.concatenate(parts)


def scatter(pair: SimulatedQueuePair, sges: tuple[Sge, ...], data: NDArray[np.uint8]) -> None:
    """Put bytes into pieces of checked local memory, one after the other."""
    done = 0
    for sge in sges:
        part = min(sge.length, data.size - done)
        if part > 0:
            region = rules.local_region(pair, sge)
            assert region is not None
            region.buffer.memory.write(sge.address - region.buffer.address, data[done : done + part])
            done += part
