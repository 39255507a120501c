"""Ping-pong of WRITEs: each side watches its own memory for what the other writes there.

Python's own time counts here more than anywhere: a round is a store, a call that posts, and a loop that looks
at one byte. Everything else - completions, commands, figures - waits for the end of a burst of rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from gdviz.clock import fine_seconds
from gdviz.rdma.hardware.worker.queues import OpenedPair
from gdviz.rdma.hardware.worker.work import POLL, Order, Report, Work
from gdviz.rdma.requests import SendRequest, Sge, WcOpcode

#: Rounds after which the marks start again; a burst is as many, or as many as the send queue holds.
CYCLE = 64

#: Looks at the memory before a side does something else: some hundred microseconds.
LOOKS = range(10_000)


class WatchedPingPong(Work):
    """One side of it.

    Parameters
    ----------
    view
        This side's memory, where the message lies; only host memory can be watched.
    first
        Whether this side begins, and measures.
    """

    def __init__(self, pairs: Sequence[OpenedPair], order: Order, view: Any, *, first: bool) -> None:
        super().__init__(pairs)
        (self._pair,) = self.pairs
        self._order = order
        self._first = first
        self._view, self._last = view, order.size_bytes - 1
        self._round = 0
        self._waiting = not first
        self._owed = 0
        self._posted_s = 0.0
        self._stamps: list[list[float]] = []
        room = min(CYCLE, self._pair.max_send_wr)
        self._burst = 1 << (room.bit_length() - 1)
        inline = order.size_bytes <= self._pair.max_inline
        sges = (Sge(order.local, order.size_bytes, order.local_key),)
        self._silent, self._loud = (
            self._pair.pair.chain(
                [
                    SendRequest(
                        0, order.opcode, sges, order.remote, order.remote_key, signaled=loud, inline=inline
                    )
                ]
            )
            for loud in (False, True)
        )
        # Neither what the other side writes in a round, nor what was there: 1, 3, 5 ... and 2, 4, 6 ...
        self._rounds: list[tuple[int, int, Callable[[], Any]]] = [
            (
                2 * number + 1,
                2 * number + 2,
                self._loud.post if (number + 1) % self._burst == 0 else self._silent.post,
            )
            for number in range(CYCLE)
        ]
        view[self._last] = 0
        self.start_s = fine_seconds()
        self._end_at = self.start_s + order.duration_s if order.duration_s and first else None

    def step(self, until_s: float) -> None:
        """Play until about a time."""
        while not self.final:
            if self._owed and not self._polled():
                if self.overdue:
                    self.flush()
                return
            if not self._waiting or not self._first:
                self._look()
            if not self.final:
                self._play_first() if self._first else self._play_second()
            if not self._owed or fine_seconds() >= until_s:
                return

    def _ahead(self) -> list[tuple[int, int, Callable[[], Any]]]:
        """Return the rounds of this burst that are still to be played."""
        at = self._round % CYCLE
        end = at - at % self._burst + self._burst
        if self._first and self._order.count is not None:
            end = min(end, at + self._order.count - self._round)
        return self._rounds[at:end]

    def _play_first(self) -> None:
        view, last, clock = self._view, self._last, fine_seconds
        # The other side's answer to a round that was broken off may be there by now.
        waiting, self._waiting = self._waiting, False
        stamps = [self._posted_s if waiting else clock()]
        stamp = stamps.append
        for ping, pong, post in self._ahead():
            if waiting:
                waiting = False
            else:
                view[last] = ping
                post()
            for _look in LOOKS:
                if view[last] == pong:
                    break
            else:
                self._waiting, self._posted_s = True, stamps[-1]
                break
            stamp(clock())
        if self._round == 0 and len(stamps) > 1:
            self.start_s = stamps[0]
        self._stamps.append(stamps)
        self._after(len(stamps) - 1)

    def _play_second(self) -> None:
        view, last = self._view, self._last
        played = 0
        for ping, pong, post in self._ahead():
            for _look in LOOKS:
                if view[last] == ping:
                    break
            else:
                break
            view[last] = pong
            post()
            played += 1
        self._after(played)

    def _after(self, played: int) -> None:
        before, self._round = self._round, self._round + played
        self._messages += played if self._first else 0
        if self._round // self._burst > before // self._burst:
            self._owed = 1

    def _look(self) -> None:
        order = self._order
        enough = self._first and order.count is not None and self._round >= order.count
        over = self._end_at is not None and fine_seconds() >= self._end_at
        if self.stopping or enough or over:
            self.end("stopped" if self.stopping else "completed", fine_seconds())

    def _polled(self) -> bool:
        """Look for the completion of a burst's last request; whether nothing is owed any more."""
        for queue in self.queues:
            for completed in queue.queue.poll(POLL):
                if completed[4] != self._pair.number:
                    queue.kept.append(completed)
                elif completed[1]:
                    opcode = int(WcOpcode.of(self._order.opcode))
                    self.fail((self._round, completed[1], opcode, 0, *completed[4:6], None), 0)
                    return True
                else:
                    self._owed = 0
        return not self._owed

    def report(self) -> Report:
        """Return what has happened since the last report."""
        for stamps in self._stamps:
            for begin, end in pairwise(stamps):
                self._latencies.append((end - begin) / 2)
                self._weights.append(1)
        self._stamps.clear()
        return super().report()

    def release(self) -> None:
        """Let others have the queue pair, and give the built requests back."""
        super().release()
        for part in ("_silent", "_loud"):
            if (chain := getattr(self, part, None)) is not None:
                chain.close()
        if (view := getattr(self, "_view", None)) is not None:
            view.release()
