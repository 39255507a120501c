"""The other end of a transfer that needs work there.

Receives are to be posted, bounce buffers to be emptied or filled. It goes on until it is stopped, or until
its queue pairs break or go.
"""

from __future__ import annotations

from collections.abc import Sequence

from gdviz.clock import fine_seconds
from gdviz.rdma.hardware.backends.base import Chain, Completed
from gdviz.rdma.hardware.worker.copies import Start, Stretch
from gdviz.rdma.hardware.worker.cut import Cut
from gdviz.rdma.hardware.worker.notes import NOTE, PROBE, RECEIVE, Notes, SendSide, later
from gdviz.rdma.hardware.worker.queues import OpenedPair
from gdviz.rdma.hardware.worker.staged import StagedLane
from gdviz.rdma.hardware.worker.work import POLL, Order, Work
from gdviz.rdma.requests import Opcode, RecvRequest, Sge
from gdviz.rdma.status import WcStatus


class Service(Work):
    """What both kinds share: it has no messages of its own, and ends when it is told to."""

    #: When something last happened; one that is idle may be looked at less often.
    busy_s = 0.0

    def step(self, until_s: float) -> None:
        """Poll until about a time."""
        while not self.final:
            if self.stopping:
                self.end("stopped", fine_seconds())
                return
            if self.region_gone:
                self._break()
                return
            if self._turn():
                self.busy_s = fine_seconds()
            if fine_seconds() >= until_s:
                return

    def _turn(self) -> bool:
        raise NotImplementedError

    def _break(self) -> None:
        """Break the connection, for the memory is gone."""
        for pair in self.pairs:
            pair.fail()
        self.end("failed", fine_seconds())

    def bad(self, completed: Completed) -> None:
        """Take a bad completion: what the other end did wrong, or that it is gone."""
        if completed[1] != WcStatus.WR_FLUSH_ERR:
            self.error = completed
        self.end("failed", fine_seconds())


class SendService(Service):
    """Posts receives for direct SENDs, each into its place, and tells the sender how many have been used."""

    def __init__(self, pairs: Sequence[OpenedPair], order: Order) -> None:
        super().__init__(pairs)
        self._order = order
        self._sides = {pair.number: SendSide(pair) for pair in pairs}
        self._notes = {pair.number: Notes(pair, self._sides[pair.number]) for pair in pairs}
        self._posted = dict.fromkeys(self._sides, 0)
        self._used = dict.fromkeys(self._sides, 0)
        self._told = dict.fromkeys(self._sides, 0)
        self._index = {pair.number: number for number, pair in enumerate(pairs)}
        self._ready: dict[tuple[int, int], Chain] = {}
        self._pairs = {pair.number: pair for pair in pairs}
        for pair in pairs if order.post_receives else ():
            for _ in range(min(order.window, pair.max_recv_wr)):
                self._post(pair)

    def _post(self, pair: OpenedPair) -> None:
        order, number = self._order, pair.number
        message = self._index[number] + self._posted[number] * len(self._pairs)
        self._posted[number] += 1
        place = order.offset(message)
        sge = Sge(order.local + place, order.size_bytes, order.local_key)
        if order.slots > 4096:
            pair.pair.receive(RecvRequest(RECEIVE, (sge,)))
        else:
            chain = self._ready.get((number, place))
            if chain is None:
                chain = pair.pair.receive_chain([RecvRequest(RECEIVE, (sge,))])
                self._ready[number, place] = chain
            chain.post()
        pair.aimed_receives += 1

    def _turn(self) -> bool:
        something = False
        for queue in self.queues:
            for completed in queue.queue.poll(POLL):
                something = True
                pair = self._pairs.get(completed[4])
                if pair is None:
                    queue.kept.append(completed)
                elif completed[1]:
                    self.bad(completed)
                    return True
                elif completed[0] & RECEIVE:
                    pair.aimed_receives -= 1
                    self._used[pair.number] += 1
                    self._post(pair)
                else:
                    self._sides[pair.number].completed()
        for number, used in self._used.items():
            owed = used - self._told[number]
            due = owed >= max(1, self._order.window // 4) or (owed and not something)
            if due and self._notes[number].send(used):
                self._told[number] = used
        return something

    def release(self) -> None:
        """Let others have the queues, and give the built requests back."""
        super().release()
        for notes in getattr(self, "_notes", {}).values():
            notes.close()
        for chain in getattr(self, "_ready", {}).values():
            chain.close()


class StagedService(Service):
    """Empties bounce buffers into memory (for WRITE and SEND), or fills them from it (for READ)."""

    def __init__(
        self, pairs: Sequence[OpenedPair], order: Order, data: Stretch, bounce: Stretch, start: Start
    ) -> None:
        super().__init__(pairs)
        self._order = order
        self._receives: dict[tuple[int, int], Chain] = {}
        self._fills = order.opcode is Opcode.RDMA_READ
        self._sends = order.opcode is Opcode.SEND
        count = len(pairs)
        self._lanes = [
            StagedLane(pair, Cut.of(order, number, count), data, bounce, start)
            for number, pair in enumerate(pairs)
        ]
        self._by_number = {lane.pair.number: lane for lane in self._lanes}
        for lane in self._lanes:
            if self._sends and order.post_receives:
                for number in range(lane.cut.slots):
                    self._receive(lane, number)
            elif not self._sends:
                lane.notes.expect(lane.cut.slots + 1)

    def _receive(self, lane: StagedLane, number: int) -> None:
        assert self._order.bounce is not None
        address, key, _length = self._order.bounce[0]
        slot = lane.cut.slot(number)
        chain = self._receives.get((lane.pair.number, slot))
        if chain is None:
            sge = Sge(address + slot, lane.cut.slot_bytes, key)
            chain = lane.pair.pair.receive_chain([RecvRequest(RECEIVE, (sge,))])
            self._receives[lane.pair.number, slot] = chain
        chain.post()
        lane.pair.aimed_receives += 1

    def _turn(self) -> bool:
        something = False
        for queue in self.queues:
            for completed in queue.queue.poll(POLL):
                something = True
                lane = self._by_number.get(completed[4])
                if lane is None:
                    queue.kept.append(completed)
                elif completed[1]:
                    self.bad(completed)
                    return True
                elif completed[0] & RECEIVE:
                    self._heard(lane, completed)
                elif completed[0] & (NOTE | PROBE):
                    lane.side.completed()
        for lane in self._lanes:
            lane.copies.look()
            if self._fills:
                self._fill(lane)
            owed = lane.taken - lane.told
            due = owed >= max(1, lane.cut.slots // 4) or (owed and not something)
            if due and lane.notes.send(lane.taken):
                lane.told = lane.taken
        return something

    def _heard(self, lane: StagedLane, completed: Completed) -> None:
        number = completed[6] or 0
        if self._fills:
            lane.notes.taken()
            lane.fetched = later(number, lane.fetched)
            lane.welcome = True
            return
        piece = later(number, lane.begun)
        lane.begun = piece + 1
        if self._sends:
            lane.pair.aimed_receives -= 1
        else:
            lane.notes.taken()
        lane.empty(piece, lambda: self._emptied(lane, piece))

    def _emptied(self, lane: StagedLane, piece: int) -> None:
        lane.taken += 1
        if self._sends:
            self._receive(lane, piece + lane.cut.slots)

    def _fill(self, lane: StagedLane) -> None:
        """Fill free slots: `taken` counts those to be told of, `fetched` what the other end has used."""
        limit = lane.cut.limit
        while (
            lane.welcome
            and lane.begun - lane.fetched < lane.cut.slots
            and (limit is None or lane.begun < limit)
        ):
            number = lane.begun
            lane.begun += 1
            lane.fill(number, lambda: setattr(lane, "taken", lane.taken + 1))

    def release(self) -> None:
        """Let others have the queues, and give the built requests back."""
        super().release()
        for lane in getattr(self, "_lanes", ()):
            lane.close()
        for chain in getattr(self, "_receives", {}).values():
            chain.close()
