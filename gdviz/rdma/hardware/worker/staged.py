"""The staged path: a message is copied into a bounce buffer, sent, and copied out of one at the other end.

Copying, sending and copying out of different pieces overlap. The end that fills a bounce buffer may be ahead
of the one that empties it by as many pieces as there are slots.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial

from gdviz.clock import fine_seconds
from gdviz.rdma.hardware.backends.base import Chain, Completed
from gdviz.rdma.hardware.worker.copies import Copies, Start, Stretch
from gdviz.rdma.hardware.worker.cut import Cut
from gdviz.rdma.hardware.worker.notes import NOTE, PROBE, RECEIVE, Notes, SendSide, later
from gdviz.rdma.hardware.worker.queues import OpenedPair
from gdviz.rdma.hardware.worker.work import POLL, Order, Work, synthetic
from gdviz.rdma.requests import Opcode, SendRequest, Sge, WcOpcode
from gdviz.rdma.status import WcStatus

#: How long an end waits for word of the other before it asks whether that lives.
SILENCE_S = 1.0


class StagedLane:
    """One queue pair's share of a staged transfer, at either end."""

    def __init__(self, pair: OpenedPair, cut: Cut, data: Stretch, bounce: Stretch, start: Start) -> None:
        self.pair, self.cut = pair, cut
        self._data, self._bounce = data, bounce
        self.copies = Copies(start)
        #: A message that does not lie inside of the buffer is not copied: the NIC shall say what is wrong.
        self._fits = cut.order.size_bytes <= cut.order.local_bytes
        self.side = SendSide(pair)
        self.notes = Notes(pair, self.side)
        self.begun = self.sent = self.taken = self.told = self.fetched = 0
        #: Whether the reading end has said that it can be told of filled slots.
        self.welcome = False
        self.starts: deque[float] = deque()
        self.heard_s = fine_seconds()
        self._chains: dict[tuple[int, int, bool], Chain] = {}

    @property
    def ahead(self) -> int:
        """Slots that are free."""
        return self.cut.slots - (self.begun - self.taken)

    def fill(self, number: int, then: Callable[[], None]) -> None:
        """Copy a piece into its slot."""
        offset, length = self.cut.piece(number)
        data, bounce = self._data, self._bounce
        if self._fits:
            slot = bounce.offset + self.cut.slot(number)
            self.copies.copy(bounce.memory, slot, data.memory, data.offset + offset, length, then)
        else:
            then()

    def empty(self, number: int, then: Callable[[], None]) -> None:
        """Copy a piece out of its slot."""
        offset, length = self.cut.piece(number)
        data, bounce = self._data, self._bounce
        if self._fits:
            slot = bounce.offset + self.cut.slot(number)
            self.copies.copy(data.memory, data.offset + offset, bounce.memory, slot, length, then)
        else:
            then()

    def post(self, number: int, opcode: Opcode, *, loud: bool) -> None:
        """Send or fetch a piece's slot."""
        slot, length = self.cut.slot(number), self.cut.piece(number)[1]
        key = (slot, length, loud)
        chain = self._chains.get(key)
        if chain is None:
            chain = self._chains[key] = self.pair.pair.chain([self._request(slot, length, opcode, loud)])
        if opcode is not Opcode.RDMA_READ:
            chain.immediate(0, number)
        chain.post()
        self.side.posted(signaled=loud)

    def _request(self, slot: int, length: int, opcode: Opcode, loud: bool) -> SendRequest:
        order = self.cut.order
        assert order.bounce is not None
        (address, key, _bytes), (far, far_key, _far_bytes) = order.bounce
        # What lies outside of a buffer lies outside of its bounce buffer, by as much.
        beyond = max(0, order.size_bytes - order.local_bytes)
        far_beyond = max(0, order.size_bytes - order.remote_bytes)
        if beyond:
            address, slot = address + order.bounce[0][2] - length + beyond, 0
        remote = far + slot
        if far_beyond:
            remote = far + order.bounce[1][2] - length + far_beyond
        imm = None if opcode is Opcode.RDMA_READ else 0
        sges = (Sge(address + slot, length, key),)
        return SendRequest(0, opcode, sges, remote, far_key, imm, signaled=loud)

    def close(self) -> None:
        """Give what was built back."""
        self.notes.close()
        for chain in self._chains.values():
            chain.close()
        self._chains.clear()


class StagedWork(Work):
    """A staged transfer at the end that posts; the other end runs a `StagedService`."""

    def __init__(
        self, pairs: Sequence[OpenedPair], order: Order, data: Stretch, bounce: Stretch, start: Start
    ) -> None:
        super().__init__(pairs)
        self._order = order
        self._reads = order.opcode is Opcode.RDMA_READ
        count = len(pairs)
        cuts = [Cut.of(order, number, count) for number in range(count)]
        self._lanes = [
            StagedLane(pair, cut, data, bounce, start) for pair, cut in zip(pairs, cuts, strict=True)
        ]
        self._by_number = {lane.pair.number: lane for lane in self._lanes}
        for lane in self._lanes:
            lane.notes.expect(lane.cut.slots + 1)
            if self._reads:
                # The other end may tell of filled slots from now on, for there are receives.
                lane.notes.send(0)
        self.start_s = fine_seconds()
        self._end_at = self.start_s + order.duration_s if order.duration_s else None
        self._opcode = (
            Opcode.RDMA_READ
            if self._reads
            else Opcode.SEND_WITH_IMM
            if order.opcode is Opcode.SEND
            else Opcode.RDMA_WRITE_WITH_IMM
        )

    def step(self, until_s: float) -> None:
        """Copy, post and poll until about a time."""
        while not self.final:
            now = fine_seconds()
            if self.region_gone:
                self._gone()
                return
            if self._end_at is not None and now >= self._end_at and self.state == "running":
                self.state = "draining"
            for lane in self._lanes:
                lane.copies.look()
                if self._reads:
                    self._fetch(lane, now)
                else:
                    self._send(lane, now)
            self._poll()
            if not self.final:
                self._look(now)
            if fine_seconds() >= until_s:
                return

    def _more(self, lane: StagedLane) -> bool:
        """Whether another piece may be begun: a message that has been begun is always finished."""
        if lane.begun % lane.cut.pieces:
            return True
        limit = lane.cut.limit
        return self.state == "running" and not self.stopping and (limit is None or lane.begun < limit)

    def _send(self, lane: StagedLane, now_s: float) -> None:
        while lane.ahead > 0 and lane.side.free > lane.begun - lane.sent and self._more(lane):
            number = lane.begun
            lane.begun += 1
            if number % lane.cut.pieces == 0:
                lane.starts.append(fine_seconds())
            lane.fill(number, partial(self._filled, lane, number))
        if lane.begun > lane.taken and now_s - lane.heard_s > SILENCE_S and not lane.side.waiting:
            lane.heard_s = now_s
            lane.notes.probe()

    def _filled(self, lane: StagedLane, number: int) -> None:
        loud = lane.side.due or lane.side.free <= 1
        lane.post(number, self._opcode, loud=loud)
        lane.sent += 1

    def _fetch(self, lane: StagedLane, now_s: float) -> None:
        # `begun`: asked for; `sent`: announced by the other end; `taken`: copied out of the bounce buffer.
        while lane.begun < lane.sent and lane.ahead > 0 and lane.side.free > 0 and self._more(lane):
            if lane.begun % lane.cut.pieces == 0:
                lane.starts.append(fine_seconds())
            lane.post(lane.begun, Opcode.RDMA_READ, loud=True)
            lane.begun += 1
        if lane.taken - lane.told >= max(1, lane.cut.slots // 4) and lane.notes.send(lane.taken):
            lane.told = lane.taken
        if lane.begun == lane.sent and now_s - lane.heard_s > SILENCE_S and not lane.side.waiting:
            lane.heard_s = now_s
            lane.notes.probe()

    def _poll(self) -> None:
        for queue in self.queues:
            for completed in queue.queue.poll(POLL):
                lane = self._by_number.get(completed[4])
                if lane is None:
                    queue.kept.append(completed)
                elif completed[1]:
                    if completed[0] & RECEIVE:
                        continue  # flushed: the request that tells why comes in its turn
                    self._broken(lane, completed)
                    return
                elif completed[0] & RECEIVE:
                    self._heard(lane, completed)
                else:
                    lane.side.completed()
                    if self._reads and not completed[0] & (NOTE | PROBE):
                        self._fetched(lane)

    def _heard(self, lane: StagedLane, completed: Completed) -> None:
        lane.heard_s = fine_seconds()
        lane.notes.taken()
        number = completed[6] or 0
        if self._reads:
            lane.sent = later(number, lane.sent)
            return
        before, lane.taken = lane.taken, later(number, lane.taken)
        self._count(lane, before)

    def _fetched(self, lane: StagedLane) -> None:
        lane.fetched += 1
        lane.empty(lane.fetched - 1, lambda: self._emptied(lane))

    def _emptied(self, lane: StagedLane) -> None:
        lane.taken += 1
        self._count(lane, lane.taken - 1)

    def _count(self, lane: StagedLane, before: int) -> None:
        pieces = lane.cut.pieces
        now = fine_seconds()
        for _message in range(lane.taken // pieces - before // pieces):
            self.done(1, now - lane.starts.popleft())

    def _look(self, now_s: float) -> None:
        limits = [lane.cut.limit for lane in self._lanes]
        if self.state == "running" and all(
            limit is not None and lane.begun >= limit for lane, limit in zip(self._lanes, limits, strict=True)
        ):
            self.state = "draining"
        if self.state == "draining" or self.stopping:
            # What was posted silently needs no completion: its word from the other end says more.
            if all(lane.begun == lane.taken and lane.copies.idle for lane in self._lanes):
                self.end("stopped" if self.stopping else "completed", now_s)
            elif self.overdue:
                self.flush()

    def _broken(self, lane: StagedLane, completed: Completed) -> None:
        message = lane.cut.number + lane.taken // lane.cut.pieces * lane.cut.lanes
        opcode = int(WcOpcode.of(self._order.opcode))
        outstanding = sum(each.side.waiting for each in self._lanes) - 1
        self.fail((message, completed[1], opcode, 0, *completed[4:6], None), outstanding)

    def _gone(self) -> None:
        """End because the buffer may no longer be touched: as the NIC does on the direct path."""
        lane = self._lanes[0]
        message = lane.cut.number + lane.taken // lane.cut.pieces * lane.cut.lanes
        opcode = int(WcOpcode.of(self._order.opcode))
        self.fail(synthetic(lane.pair.number, message, WcStatus.LOC_PROT_ERR, opcode), 1)

    def release(self) -> None:
        """Let others have the queues, and give the built requests back."""
        super().release()
        for lane in getattr(self, "_lanes", ()):
            lane.close()
