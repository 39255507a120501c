"""Latency as perftest measures it: one message to and fro, half a round trip each; for READ a whole one.

SEND: each side waits for the other's message. READ needs nobody at the other end. WRITE: see `watching`.
"""

from __future__ import annotations

from collections.abc import Sequence

from gdviz.clock import fine_seconds
from gdviz.rdma.hardware.backends.base import Chain
from gdviz.rdma.hardware.worker.notes import RECEIVE
from gdviz.rdma.hardware.worker.queues import OpenedPair
from gdviz.rdma.hardware.worker.work import POLL, Order, Work
from gdviz.rdma.requests import Opcode, RecvRequest, SendRequest, Sge, WcOpcode

#: One request in so many reports its completion, so that the send queue does not fill.
SIGNAL = 8


class PingPong(Work):
    """One side of it, for SEND and READ.

    Parameters
    ----------
    first
        Whether this side begins, and measures.
    """

    def __init__(self, pairs: Sequence[OpenedPair], order: Order, *, first: bool) -> None:
        super().__init__(pairs)
        (self._pair,) = self.pairs
        self._order = order
        self._first = first
        self._round = 0
        self._sent = not first
        self._posted_s = 0.0
        self._whole = order.opcode is Opcode.RDMA_READ
        self._sends = order.opcode is Opcode.SEND
        every = 1 if self._whole else max(1, min(SIGNAL, self._pair.max_send_wr // 2))
        self._every = every
        self._chains: dict[bool, Chain] = {}
        self._sge = Sge(order.local, order.size_bytes, order.local_key)
        self._receive: Chain | None = None
        if self._sends:
            self._receive = self._pair.pair.receive_chain([RecvRequest(RECEIVE, (self._sge,))])
            # Two, so that the other side's next message never finds none.
            for _ in range(min(2, self._pair.max_recv_wr)):
                self._receive.post()
                self._pair.aimed_receives += 1
        self._heard = 0
        self.start_s = fine_seconds()
        self._end_at = self.start_s + order.duration_s if order.duration_s and first else None

    def step(self, until_s: float) -> None:
        """Play until about a time."""
        while not self.final:
            if self._first:
                self._serve()
            else:
                self._return()
            if fine_seconds() >= until_s:
                return

    def _post(self) -> None:
        loud = (self._round + 1) % self._every == 0
        chain = self._chains.get(loud)
        if chain is None:
            order = self._order
            inline = not self._whole and order.size_bytes <= self._pair.max_inline
            request = SendRequest(
                0, order.opcode, (self._sge,), order.remote, order.remote_key, signaled=loud, inline=inline
            )
            chain = self._chains[loud] = self._pair.pair.chain([request])
        chain.post()

    def _serve(self) -> None:
        order = self._order
        over = self._end_at is not None and fine_seconds() >= self._end_at
        enough = order.count is not None and self._round >= order.count
        if not self._sent:
            if self.stopping or over or enough:
                self.end("stopped" if self.stopping else "completed", fine_seconds())
                return
            if not self._round:
                self.start_s = self._posted_s = fine_seconds()
            self._post()
            self._sent = True
        if self._answered():
            now = fine_seconds()
            self.done(1, (now - self._posted_s) / (1 if self._whole else 2))
            # As in perftest, a round lasts from its posting to the next one's.
            self._posted_s = now
            self._round += 1
            self._sent = False
        elif self.overdue:
            self.flush()

    def _return(self) -> None:
        if self.stopping:
            self.end("stopped", fine_seconds())
        elif self._answered():
            self._post()
            self._round += 1

    def _answered(self) -> bool:
        """Whether the other side's message of this round is there (for READ: the data)."""
        self._poll()
        return self._heard > self._round

    def _poll(self) -> None:
        for queue in self.queues:
            for completed in queue.queue.poll(POLL):
                if completed[4] != self._pair.number:
                    queue.kept.append(completed)
                elif completed[1]:
                    if completed[0] & RECEIVE:
                        continue
                    opcode = int(WcOpcode.of(self._order.opcode))
                    self.fail((self._round, completed[1], opcode, 0, *completed[4:6], None), 0)
                    return
                elif completed[0] & RECEIVE:
                    self._heard += 1
                    assert self._receive is not None
                    self._receive.post()
                elif self._whole:
                    self._heard += 1

    def release(self) -> None:
        """Let others have the queues, and give the built requests back."""
        super().release()
        for chain in (*getattr(self, "_chains", {}).values(), getattr(self, "_receive", None)):
            if chain is not None:
                chain.close()
