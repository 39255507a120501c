"""What will happen at which time."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable

Action = Callable[[], None]


class EventQueue:
    """Actions in the order of their times; at the same time, in the order of scheduling."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Action]] = []
        self._ticket = itertools.count()

    def __len__(self) -> int:
        return len(self._heap)

    @property
    def next_s(self) -> float:
        """Time of the next event; infinite if there is none."""
        return self._heap[0][0] if self._heap else float("inf")

    def schedule(self, at_s: float, action: Action) -> None:
        """Have `action` called at a time; one that is never (infinite) is dropped."""
        if at_s != float("inf"):
            heapq.heappush(self._heap, (at_s, next(self._ticket), action))

    def pop(self) -> Action:
        """Take the next action out."""
        return heapq.heappop(self._heap)[2]
