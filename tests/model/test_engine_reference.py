"""The engine beside a simulation of single events: a heap, queues and servers, nothing vectorised."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gdviz.model.engine import Visit, Window, tandem

Times = list[list[float]]


@dataclass
class Server:
    """Takes one message at a time, in the order of their numbers, as a queue pair's messages go."""

    waiting: dict[int, float] = field(default_factory=dict)
    busy: bool = False
    due: int = 0


@dataclass
class Events:
    """What happens to messages in a row of servers, event by event.

    A message occupies a server for a time and leaves it after a delay of its own; `window` messages are
    posted at most and not complete, and completions are told in order.
    """

    occupancy: Times
    delay: Times
    tail: list[float]
    arrivals: list[float] | None = None
    window: int | None = None

    def run(self) -> tuple[list[float], list[float]]:
        """Return when messages are posted and when they are complete."""
        self.heap: list[tuple[float, int, str, int, int]] = []
        self.order = count()
        self.servers = [Server() for _server in self.occupancy]
        number = len(self.tail)
        self.posted, self.arrived = [0.0] * number, [-1.0] * number
        self.done: list[float] = []
        self.unposted = deque(range(number))
        first = number if self.window is None else min(self.window, number)
        for message in range(first):
            self._post(self.arrivals[message] if self.arrivals else 0.0)
        while self.heap:
            now, _order, what, server, message = heapq.heappop(self.heap)
            getattr(self, f"_{what}")(now, server, message)
        return self.posted, self.done

    def _later(self, at: float, what: str, server: int, message: int) -> None:
        heapq.heappush(self.heap, (at, next(self.order), what, server, message))

    def _post(self, now: float) -> None:
        message = self.unposted.popleft()
        self.posted[message] = now
        self._later(now, "reach", 0, message)

    def _reach(self, now: float, server: int, message: int) -> None:
        if server == len(self.servers):
            self._later(now + self.tail[message], "arrive", server, message)
            return
        self.servers[server].waiting[message] = now
        self._serve(now, server)

    def _serve(self, now: float, at: int) -> None:
        server = self.servers[at]
        if server.busy or server.due not in server.waiting:
            return
        message = server.due
        del server.waiting[message]
        server.due, server.busy = message + 1, True
        self._later(now + self.occupancy[at][message], "free", at, message)
        self._later(now + self.delay[at][message], "reach", at + 1, message)

    def _free(self, now: float, server: int, _message: int) -> None:
        self.servers[server].busy = False
        self._serve(now, server)

    def _arrive(self, now: float, _server: int, message: int) -> None:
        self.arrived[message] = now
        # Completions are told in order; each makes room for one more.
        while len(self.done) < len(self.arrived) and self.arrived[len(self.done)] >= 0:
            self.done.append(now)
            if self.window is not None and self.unposted:
                self._post(now)


def visits_of(occupancy: Times, delay: Times) -> list[Visit]:
    return [Visit(np.array(o), np.array(d)) for o, d in zip(occupancy, delay, strict=True)]


def drawn(seed: int, servers: int, messages: int, kind: str) -> tuple[Times, Times, list[float]]:
    """Return occupancies, delays and tails: random, or such that many events fall together."""
    random = np.random.default_rng(seed)
    if kind == "even":
        # Quarters add up without rounding: events at one moment are really at one moment.
        occupancy, delay, tail = (random.integers(0, 9, (servers + 1, messages)) / 4 for _what in range(3))
    else:
        occupancy, delay, tail = (random.exponential(1.0, (servers + 1, messages)) for _what in range(3))
    if kind == "plain queues":
        delay = occupancy
    return occupancy[:servers].tolist(), delay[:servers].tolist(), tail[0].tolist()


KINDS = st.sampled_from(["pipelines", "plain queues", "even"])


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 60), st.integers(1, 70), KINDS)
def test_a_window(seed: int, servers: int, messages: int, window: int, kind: str) -> None:
    occupancy, delay, tail = drawn(seed, servers, messages, kind)
    expected = Events(occupancy, delay, tail, window=window).run()
    posted, completed, _starts = Window(servers, window).run(visits_of(occupancy, delay), np.array(tail))
    np.testing.assert_allclose(posted, expected[0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(completed, expected[1], rtol=1e-9, atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(1, 80), st.floats(0.0, 3.0), KINDS)
def test_arrivals_without_a_window(seed: int, servers: int, messages: int, gap: float, kind: str) -> None:
    occupancy, delay, _tail = drawn(seed, servers, messages, kind)
    arrivals = np.cumsum(np.random.default_rng(seed + 1).exponential(1.0, messages) * gap)
    events = Events(occupancy, delay, [0.0] * messages, arrivals=arrivals.tolist())
    events.run()
    _starts, left = tandem(arrivals, visits_of(occupancy, delay))
    np.testing.assert_allclose(left, events.arrived, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("window", [1, 3, 11, 12, 13, 40])
def test_pieces_of_a_long_run(window: int) -> None:
    """The seam between two calls, for windows that go one by one and for those that go in blocks."""
    occupancy, delay, tail = drawn(window, 3, 400, "pipelines")
    _posted, expected = Events(occupancy, delay, tail, window=window).run()
    engine = Window(3, window)
    done: list[float] = []
    for begin, end in _pieces([1, 7, 12, 100, 13, 267]):
        some = visits_of([each[begin:end] for each in occupancy], [each[begin:end] for each in delay])
        done += engine.run(some, np.array(tail[begin:end]))[1].tolist()
    np.testing.assert_allclose(done, expected, rtol=1e-9)


def _pieces(lengths: Sequence[int]) -> list[tuple[int, int]]:
    ends = np.cumsum(lengths).tolist()
    return list(zip([0, *ends[:-1]], ends, strict=True))


def test_the_reference_itself() -> None:
    """By hand: two servers of 2 and 3 s, three messages, two of them in flight."""
    posted, done = Events([[2.0] * 3, [3.0] * 3], [[2.0] * 3, [3.0] * 3], [0.0] * 3, window=2).run()
    assert posted == [0.0, 0.0, 5.0]
    assert done == [5.0, 8.0, 11.0]
