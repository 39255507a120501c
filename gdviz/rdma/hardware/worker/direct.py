"""The direct path: the NIC reads and writes the regions themselves; this process posts and polls.

Work requests are built once and posted again and again, up to sixteen by one call, of which the last reports
its completion. Where the messages' places repeat soon, each place has its own requests; otherwise one chain
is aimed anew before each posting (posting copies it).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import gcd

from gdviz.clock import fine_seconds
from gdviz.rdma.hardware.backends.base import Chain, Completed
from gdviz.rdma.hardware.worker.notes import RECEIVE, Notes, SendSide, later
from gdviz.rdma.hardware.worker.queues import OpenedPair
from gdviz.rdma.hardware.worker.work import POLL, Order, Work
from gdviz.rdma.requests import Opcode, SendRequest, Sge, WcOpcode

#: Requests in a chain at most, and bytes, so that completions come often enough to be looked at.
CHAIN, CHAIN_BYTES = 16, 2**20

#: Requests of a queue pair that are kept ready, each with its own place.
READY = 4096


class Lane:
    """One queue pair's share of a transfer: messages number, number + lanes, number + 2 lanes ..."""

    def __init__(self, pair: OpenedPair, order: Order, number: int, lanes: int) -> None:
        self.pair = pair
        self._order = order
        self._number, self._lanes = number, lanes
        most = max(1, min(CHAIN, order.depth // 2, CHAIN_BYTES // order.size_bytes))
        self.batch = most
        self.limit = None if order.count is None else -(-(order.count - number) // lanes)
        self.posted = self.completed = self.taken = 0
        self.notes = Notes(pair, SendSide(pair))
        self.free = order.depth
        #: Messages that the other side has receives for; None where it needs none.
        self.credit: int | None = (
            order.window if order.opcode is Opcode.SEND and order.post_receives else None
        )
        self.flying: deque[tuple[int, float]] = deque()
        period = order.slots // gcd(order.slots, lanes)
        ring = period // gcd(period, most)
        self._ready: list[Chain | None] = [None] * (ring if ring * most <= READY else 0)
        self._aimed: Chain | None = None
        self._next = 0

    @property
    def idle(self) -> bool:
        """Whether nothing is in flight."""
        return not self.flying

    @property
    def finished(self) -> bool:
        """Whether all of its messages have been posted."""
        return self.limit is not None and self.posted >= self.limit

    def fitting(self) -> int:
        """Return how many messages can be posted now: a whole batch, the rest, or none."""
        count = self.batch if self.limit is None else min(self.batch, self.limit - self.posted)
        if self.credit is not None:
            count = min(count, self.credit)
        return count if count <= self.free else 0

    def post(self, count: int) -> None:
        """Post the next messages."""
        if count == self.batch and self._ready and self.posted % self.batch == 0:
            chain = self._ready[self._next]
            if chain is None:
                chain = self._ready[self._next] = self._chain(count)
            self._next = (self._next + 1) % len(self._ready)
        elif count == self.batch:
            chain = self._aimed_chain()
        else:
            chain = self._chain(count)
        self.flying.append((count, fine_seconds()))
        self.posted += count
        self.free -= count
        if self.credit is not None:
            self.credit -= count
        chain.post()

    def _place(self, index: int) -> int:
        return self._order.offset(self._number + (self.posted + index) * self._lanes)

    def _chain(self, count: int) -> Chain:
        order = self._order
        return self.pair.pair.chain(
            [
                SendRequest(
                    index,
                    order.opcode,
                    (Sge(order.local + self._place(index), order.size_bytes, order.local_key),),
                    order.remote + self._place(index),
                    order.remote_key,
                    signaled=index == count - 1,
                )
                for index in range(count)
            ]
        )

    def _aimed_chain(self) -> Chain:
        if self._aimed is None:
            self._aimed = self._chain(self.batch)
            return self._aimed
        order, chain = self._order, self._aimed
        for index in range(self.batch):
            place = self._place(index)
            chain.retarget(index, order.local + place, order.remote + place)
        return chain

    def close(self) -> None:
        """Give the built requests back."""
        self.notes.close()
        for chain in (*self._ready, self._aimed):
            if chain is not None:
                chain.close()
        self._ready, self._aimed = [], None


class DirectWork(Work):
    """A transfer on the direct path, at the end that posts."""

    def __init__(self, pairs: Sequence[OpenedPair], order: Order) -> None:
        super().__init__(pairs)
        self._order = order
        self._lanes = [Lane(pair, order, number, len(pairs)) for number, pair in enumerate(pairs)]
        if order.count is not None:
            # Fewer messages than queue pairs: the rest of these has nothing to do.
            self._lanes = [lane for lane in self._lanes if lane.limit]
        self._by_number = {lane.pair.number: lane for lane in self._lanes}
        self._credits = any(lane.credit is not None for lane in self._lanes)
        for lane in self._lanes if self._credits else ():
            lane.notes.expect(order.window + 1)
        ours = {pair.number for pair in pairs}
        #: Whether completions need to be told apart: credits from sends, others' from ours.
        self._careful = self._credits or any(set(queue.pairs) - ours for queue in self.queues)
        self.start_s = fine_seconds()
        self._end_at = self.start_s + order.duration_s if order.duration_s else None

    def step(self, until_s: float) -> None:
        """Post and poll until about a time."""
        lanes = self._lanes
        while not self.final:
            now = fine_seconds()
            if self._end_at is not None and now >= self._end_at and self.state == "running":
                self.state = "draining"
            if self.state == "running" and not self.stopping:
                for lane in lanes:
                    while count := lane.fitting():
                        lane.post(count)
            if self._careful:
                self._poll_carefully()
            else:
                self._poll()
            if not self.final:
                self._look(now)
            if fine_seconds() >= until_s:
                return

    def _look(self, now_s: float) -> None:
        """See whether it is over."""
        if self.state == "running" and all(lane.finished for lane in self._lanes):
            self.state = "draining"
        if self.state == "draining" or self.stopping:
            if all(lane.idle for lane in self._lanes):
                self.end("completed" if self.state == "draining" and not self.stopping else "stopped", now_s)
            elif self.overdue:
                self.flush()

    def _poll(self) -> None:
        for queue in self.queues:
            found = queue.queue.poll_ids(POLL)
            if found is None:
                continue
            now = fine_seconds()
            for wr_id, status, number in found:
                lane = self._by_number[number]
                if status:
                    self._broken(lane, (wr_id, status, self._opcode, 0, number, 0, None))
                    return
                self._completed(lane, now)

    def _poll_carefully(self) -> None:
        for queue in self.queues:
            found = queue.queue.poll(POLL)
            now = fine_seconds()
            for position, completed in enumerate(found):
                lane = self._by_number.get(completed[4])
                if lane is None:
                    queue.kept.append(completed)
                elif completed[1]:
                    if completed[0] & RECEIVE:
                        continue  # flushed: the request that tells why comes in its turn
                    self._broken(lane, completed, ahead=len(found) - position - 1)
                    return
                elif completed[0] & RECEIVE:
                    lane.notes.taken()
                    lane.taken = later(completed[6] or 0, lane.taken)
                    lane.credit = self._order.window - (lane.posted - lane.taken)
                else:
                    self._completed(lane, now)

    def _completed(self, lane: Lane, now_s: float) -> None:
        count, posted_s = lane.flying.popleft()
        lane.free += count
        lane.completed += count
        self.done(count, now_s - posted_s)

    @property
    def _opcode(self) -> int:
        return int(WcOpcode.of(self._order.opcode))

    def _broken(self, lane: Lane, completed: Completed, ahead: int = 0) -> None:
        """Take the first bad completion: those before it in its chain have succeeded, silently."""
        count, posted_s = lane.flying[0] if lane.flying else (0, fine_seconds())
        position = completed[0]
        if 0 < position < count:
            self.done(position, fine_seconds() - posted_s)
            lane.completed += position
        outstanding = lane.posted - lane.completed - 1 - ahead
        message = lane._number + lane.completed * lane._lanes
        wrong = (message, completed[1], self._opcode, 0, *completed[4:6], None)
        self.fail(wrong, outstanding)

    def release(self) -> None:
        """Let others have the queues, and give the built requests back."""
        super().release()
        for lane in getattr(self, "_lanes", ()):
            lane.close()
