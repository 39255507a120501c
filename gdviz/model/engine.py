"""Messages through servers: each serves in order of arrival, and passes on after a delay.

A first-in-first-out server that is busy with message i for o[i] starts it at
``start[i] = max(arrival[i], start[i-1] + o[i-1])``. With ``S[i] = o[0] + ... + o[i-1]`` that is
``start = S + cummax(arrival - S)``: a whole array goes through in a few NumPy calls. A message leaves
after its delay, which may be longer than the time for which it blocks the next one (a pipeline) or
equal to it (a plain queue).

A window of W messages feeds back: message i arrives when message i - W has left. Within a block of W
messages all arrivals are then known, so that blocks go through one after the other, exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Visit:
    """What messages do at one server.

    Attributes
    ----------
    occupancy_s
        Seconds, shape (n,), for which each keeps the next one waiting.
    delay_s
        Seconds, shape (n,), from a message's start to its leaving.
    """

    occupancy_s: Array
    delay_s: Array


def starts(arrivals_s: Array, occupancy_s: Array, free_s: float = -np.inf) -> Array:
    """Return when a server starts each message.

    Parameters
    ----------
    arrivals_s
        Shape (n,), in the order of service.
    occupancy_s
        Shape (n,).
    free_s
        When the server is free for the first of them.
    """
    ahead = np.cumsum(occupancy_s)
    ahead -= occupancy_s
    begun = arrivals_s - ahead
    if begun.size:
        begun[0] = max(begun[0], free_s)
    np.maximum.accumulate(begun, out=begun)
    begun += ahead
    return begun


def tandem(arrivals_s: Array, visits: Sequence[Visit]) -> tuple[list[Array], Array]:
    """Send messages through servers in a row, without a window.

    Returns
    -------
    starts, departures
        When each server starts each message, one array a server; when each leaves the last server.
    """
    begun: list[Array] = []
    now = arrivals_s
    for visit in visits:
        begun.append(starts(now, visit.occupancy_s))
        now = begun[-1] + visit.delay_s
    return begun, now


#: Windows below this go message by message: there are too few in a block for NumPy to pay.
_SMALL = 12


class Window:
    """A row of servers with a window of messages fed back, resumable.

    Parameters
    ----------
    servers
        How many.
    window
        Messages in flight.

    Notes
    -----
    Completions are in order: a message that overtakes another in a delay is held back until the other
    is done, as a reliable connection does.
    """

    def __init__(self, servers: int, window: int) -> None:
        self.window = window
        self._free = [-np.inf] * servers
        self._done = np.zeros(window)
        self._next = 0
        self._last = 0.0

    def run(self, visits: Sequence[Visit], tail_s: Array) -> tuple[Array, Array, list[Array]]:
        """Send the next messages.

        Parameters
        ----------
        visits
            One for each server, in order.
        tail_s
            Shape (n,): a delay after the last server.

        Returns
        -------
        posted, completed, starts
            Shape (n,) each: when messages enter and when they are done; when each server starts them.
        """
        if self.window < _SMALL:
            return self._one_by_one(visits, tail_s)
        count = tail_s.size
        posted, completed = np.empty(count), np.empty(count)
        begun = [np.empty(count) for _visit in visits]
        at = 0
        while at < count:
            # The ring holds the completions that free the next messages, from `_next` on.
            length = min(self.window - self._next, count - at)
            block = slice(at, at + length)
            ring = self._done[self._next : self._next + length]
            now = posted[block]
            now[:] = ring
            for server, visit in enumerate(visits):
                occupancy = visit.occupancy_s[block]
                start = starts(now, occupancy, self._free[server])
                self._free[server] = float(start[-1] + occupancy[-1])
                begun[server][block] = start
                now = start + visit.delay_s[block]
            now = now + tail_s[block]
            now[0] = max(now[0], self._last)
            np.maximum.accumulate(now, out=now)
            completed[block] = now
            ring[:] = now
            self._last = float(now[-1])
            self._next = (self._next + length) % self.window
            at += length
        return posted, completed, begun

    def _one_by_one(self, visits: Sequence[Visit], tail_s: Array) -> tuple[Array, Array, list[Array]]:
        servers = range(len(visits))
        free, last = self._free, self._last
        ring: list[float] = self._done.tolist()
        slot = self._next
        posted: list[float] = []
        completed: list[float] = []
        begun: list[list[float]] = [[] for _visit in visits]
        work = zip(*(visit.occupancy_s.tolist() for visit in visits), strict=True)
        delays = zip(*(visit.delay_s.tolist() for visit in visits), strict=True)
        for tail, occupancy, delay in zip(tail_s.tolist(), work, delays, strict=True):
            now = ring[slot]
            posted.append(now)
            for server in servers:
                if now < free[server]:
                    now = free[server]
                begun[server].append(now)
                free[server] = now + occupancy[server]
                now += delay[server]
            now += tail
            if now > last:
                last = now
            completed.append(last)
            ring[slot] = last
            slot = slot + 1 if slot + 1 < self.window else 0
        self._last, self._next, self._done = last, slot, np.array(ring)
        return np.array(posted), np.array(completed), [np.array(each) for each in begun]


def in_turn(delays_s: Array, occupancy_s: Array) -> Array:
    """Return when messages are done that go one at a time (a window of 1), from time 0.

    A message waits for the one before it alone, so that its time is the sum of its delays, or the
    longest occupancy if that is longer.

    Parameters
    ----------
    delays_s
        Shape (n,): all delays of each message together.
    occupancy_s
        Shape (n,): the longest occupancy of each.
    """
    return np.cumsum(np.maximum(delays_s, occupancy_s))
