"""Time as a parameter. This is the only module that asks the system for the time or sleeps.

A `Clock` gives seconds since it was made. The simulated provider and the session take one, so that a
lesson can run at a thousandth of the speed and a test never waits.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from typing import Protocol


class Clock(Protocol):
    """What gdviz needs of a clock."""

    def now(self) -> float:
        """Return seconds since the clock was made."""

    async def sleep(self, seconds: float) -> None:
        """Return after `seconds` of this clock's time."""


class RealClock:
    """The wall's time, optionally faster or slower.

    Parameters
    ----------
    rate
        Seconds of this clock per second of the wall; 0.001 is slow motion.
    """

    def __init__(self, rate: float = 1.0) -> None:
        if not rate > 0:
            raise ValueError(f"a clock's rate must be above zero, not {rate}")
        self.rate = rate
        self._start = time.perf_counter()

    def now(self) -> float:
        """Return seconds since the clock was made, times the rate."""
        return (time.perf_counter() - self._start) * self.rate

    async def sleep(self, seconds: float) -> None:
        """Sleep for `seconds` of this clock's time."""
        await asyncio.sleep(max(0.0, seconds) / self.rate)


class SteppedClock:
    """A clock that stands still until it is told to move.

    Parameters
    ----------
    autojump
        Jump to the next deadline when somebody sleeps and nobody moves the clock: tests and
        notebooks that only want the result then take no time.
    """

    def __init__(self, *, autojump: bool = False) -> None:
        self.autojump = autojump
        self._now = 0.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._ticket = itertools.count()
        self._jumper: asyncio.Task[None] | None = None

    def now(self) -> float:
        """Return the time that the clock was moved to."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Move the clock forward and wake who slept until then (call in the sleepers' loop)."""
        if seconds < 0:
            raise ValueError("a clock does not go back")
        target = self._now + seconds
        while self._sleepers and self._sleepers[0][0] <= target:
            self._now, _, future = heapq.heappop(self._sleepers)
            if not future.done():
                future.set_result(None)
        self._now = target

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock has been moved past `seconds` from now."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        deadline = self._now + seconds
        heapq.heappush(self._sleepers, (deadline, next(self._ticket), future))
        if self.autojump and (self._jumper is None or self._jumper.done()):
            self._jumper = asyncio.get_running_loop().create_task(self._jump())
        await future

    async def _jump(self) -> None:
        """Move to one deadline after another, as long as somebody sleeps."""
        while self._sleepers:
            # Everybody who is ready runs, and goes to sleep again, before time moves on.
            for _ in range(4):
                await asyncio.sleep(0)
            while self._sleepers and self._sleepers[0][2].done():
                heapq.heappop(self._sleepers)
            if self._sleepers:
                self.advance(max(0.0, self._sleepers[0][0] - self._now))


#: Seconds by a clock that all processes of this computer share, and CPU seconds of this process. They are the
#: system's own functions, for loops in which one more call would show.
fine_seconds = time.perf_counter
cpu_seconds = time.process_time


def wall_seconds() -> float:
    """Return a monotonic reading of the wall's clock in seconds, for watchdogs and back-pressure."""
    return time.monotonic()


def timestamp() -> float:
    """Return seconds since the epoch, for records that people compare across machines."""
    return time.time()
