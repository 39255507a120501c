"""Empty messages with a number, by which the two ends of a transfer tell each other how far they are.

They go over the transfer's own queue pair as SEND with immediate data: no other channel is needed, and they
arrive after the data that were sent before them.
"""

from __future__ import annotations

from collections import deque

from gdviz.rdma.hardware.backends.base import Chain
from gdviz.rdma.hardware.worker.queues import OpenedPair
from gdviz.rdma.requests import Opcode, RecvRequest, SendRequest

#: Marks in wr_id: a receive, a note that was sent, an empty write that only asks whether the other end lives.
RECEIVE, NOTE, PROBE = 1 << 40, 1 << 41, 1 << 42

_MASK = 0xFFFFFFFF


class SendSide:
    """How full a send queue is: requests hold their places until a later signaled one has completed."""

    def __init__(self, pair: OpenedPair) -> None:
        self._room = pair.max_send_wr
        self._posted = self._freed = self._last = 0
        self._signals: deque[int] = deque()

    @property
    def free(self) -> int:
        """Places that are free."""
        return self._room - (self._posted - self._freed)

    @property
    def waiting(self) -> int:
        """Signaled requests that have not completed."""
        return len(self._signals)

    @property
    def due(self) -> bool:
        """Whether the next request has to be signaled, so that places become free in time."""
        return self._posted - self._last + 1 >= max(1, self._room // 4)

    def posted(self, *, signaled: bool) -> None:
        """Count a request."""
        self._posted += 1
        if signaled:
            self._last = self._posted
            self._signals.append(self._posted)

    def completed(self) -> None:
        """Count a signaled request's completion."""
        if self._signals:
            self._freed = self._signals.popleft()


class Notes:
    """Sends and receives the numbers on one queue pair."""

    def __init__(self, pair: OpenedPair, side: SendSide) -> None:
        self._pair, self._side = pair, side
        self._chains: dict[bool, Chain] = {}
        self._receive = pair.pair.receive_chain([RecvRequest(RECEIVE)])

    def send(self, number: int) -> bool:
        """Send a number; False where the send queue is full, to be tried again later."""
        if self._side.free < 1:
            return False
        loud = self._side.due
        chain = self._chains.get(loud)
        if chain is None:
            request = SendRequest(NOTE, Opcode.SEND_WITH_IMM, imm=0, signaled=loud)
            chain = self._chains[loud] = self._pair.pair.chain([request])
        chain.immediate(0, number)
        chain.post()
        self._side.posted(signaled=loud)
        return True

    def probe(self) -> bool:
        """Ask whether the other end lives: an empty write, answered by its NIC alone."""
        if self._side.free < 1:
            return False
        self._pair.pair.send(SendRequest(PROBE, Opcode.RDMA_WRITE))
        self._side.posted(signaled=True)
        return True

    def expect(self, count: int) -> None:
        """Have receives posted for so many notes; those left from before count."""
        while self._pair.empty_receives < min(count, self._pair.max_recv_wr):
            self._receive.post()
            self._pair.empty_receives += 1

    def taken(self) -> None:
        """Put a new receive in the place of one that was used."""
        self._receive.post()

    def close(self) -> None:
        """Give what was built back."""
        for chain in self._chains.values():
            chain.close()
        self._chains.clear()
        self._receive.close()


def later(number: int, known: int) -> int:
    """Return the whole number of which a note carries the lower 32 bits; it is `known` or somewhat more."""
    return known + ((number - known) & _MASK)
