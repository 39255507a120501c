"""The messages of a run in time: all of them, or a sample where there are too many.

A `Flow` of the model gives message after message. Up to `SAMPLE_MESSAGES` in one go each is taken; above,
so many are taken in a row, and the whole stretch of time is filled at their rate, each latency standing for
several messages. A run of at most `EXACT_MESSAGES` is never sampled.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gdviz.model import Flow

SAMPLE_MESSAGES = 4096
EXACT_MESSAGES = 200_000


@dataclass(frozen=True, slots=True)
class Taken:
    """Messages of a stretch of time.

    Attributes
    ----------
    latency_s
        Of those that were simulated.
    messages
        How many there were.
    last_s
        When the last one completed, in the flow's time; the end asked for, if all fitted.
    """

    latency_s: NDArray[np.float64]
    messages: int
    last_s: float


class Stream:
    """Takes messages from a flow, up to a time or a number."""

    def __init__(self, flow: Flow, *, exact: bool) -> None:
        self._flow = flow
        self._exact = exact
        self._rate = flow.prediction.messages_per_s
        self._completed = np.empty(0)
        self._latency = np.empty(0)
        self._closed = False
        self._fraction = 0.0
        #: What the flow's own time lags behind, because sampled stretches were skipped in it.
        self._skip_s = 0.0
        self.time_s = 0.0

    @property
    def pending(self) -> int:
        """Messages taken from the flow that have not completed yet."""
        return self._completed.size

    def _more(self, count: int) -> None:
        if count > 0 and not self._closed:
            batch = self._flow.take(count)
            self._completed = np.concatenate([self._completed, batch.completed_s + self._skip_s])
            self._latency = np.concatenate([self._latency, batch.latency_s])

    def advance(self, to_s: float, limit: int | None = None) -> Taken:
        """Return the messages that complete up to a time of the flow, at most `limit` of them."""
        expected = (to_s - self.time_s) * self._rate
        if limit is not None:
            expected = min(expected, limit)
        if self._closed or self._exact or expected <= SAMPLE_MESSAGES:
            taken = self._each(to_s, limit)
        else:
            taken = self._sampled(to_s, limit)
        self.time_s = taken.last_s
        return taken

    def _each(self, to_s: float, limit: int | None) -> Taken:
        while not self._closed and (not self._completed.size or self._completed[-1] <= to_s):
            if limit is not None and self._completed.size >= limit:
                break
            last = self._completed[-1] if self._completed.size else self.time_s
            guess = int(min((to_s - last) * self._rate * 1.05, 1e6)) + 16
            self._more(min(guess, max(1, limit - self._completed.size)) if limit is not None else guess)
        done = int(np.searchsorted(self._completed, to_s, side="right"))
        last_s = to_s
        if limit is not None and done >= limit:
            done = limit
            last_s = float(self._completed[done - 1]) if done else self.time_s
        latency = self._latency[:done]
        self._completed, self._latency = self._completed[done:], self._latency[done:]
        return Taken(latency, done, last_s)

    def _sampled(self, to_s: float, limit: int | None) -> Taken:
        self._more(SAMPLE_MESSAGES - self._completed.size)
        count = self._completed.size
        # The ceiling holds for a sample, too, that by chance begins in a pause and ends in a burst.
        rate = min(count / max(float(self._completed[-1]) - self.time_s, 1e-12), self._rate)
        exact = (to_s - self.time_s) * rate + self._fraction
        messages = int(exact)
        self._fraction = exact - messages
        last_s = to_s
        if limit is not None and messages >= limit:
            last_s = self.time_s + limit / rate
            messages, self._fraction = limit, 0.0
        latency = self._latency
        self._skip_s += last_s - float(self._completed[-1])
        self._completed = self._latency = np.empty(0)
        return Taken(latency, messages, last_s)

    def close(self, window: int, limit: int | None = None) -> int:
        """Post no more: keep only the messages that have been posted by now, and return how many.

        Parameters
        ----------
        window
            Messages in flight at most.
        limit
            Messages that may be posted at most.
        """
        self._more(window - self._completed.size)
        self._closed = True
        posted = self._completed - self._latency <= self.time_s
        self._completed, self._latency = self._completed[posted][:limit], self._latency[posted][:limit]
        return self._completed.size

    @property
    def end_s(self) -> float:
        """When the last of the pending messages completes; now if there is none."""
        return float(self._completed[-1]) if self._completed.size else self.time_s
