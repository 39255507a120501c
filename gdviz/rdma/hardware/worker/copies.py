"""Copies between a buffer and its bounce buffer, which may take their time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol


class Memory(Protocol):
    """Memory of this worker."""

    address: int
    size_bytes: int
    on_gpu: bool


class Event(Protocol):
    """A copy that has been started."""

    @property
    def done(self) -> bool:
        """Whether it has ended."""


#: Starts a copy: target, its offset, source, its offset, length. None where it has ended already.
Start = Callable[[Any, int, Any, int, int], "Event | None"]


def host_copy(target: Any, to: int, source: Any, start: int, length: int) -> None:
    """Copy within host memory; it has ended when this returns."""
    target.view[to : to + length] = source.view[start : start + length]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Memory and where to begin in it."""

    memory: Any
    offset: int


class Copies:
    """Copies in order, each followed by something once it has ended."""

    def __init__(self, start: Start) -> None:
        self._start = start
        self._flying: deque[tuple[Event, Callable[[], None]]] = deque()

    def copy(
        self, target: Any, to: int, source: Any, begin: int, length: int, then: Callable[[], None]
    ) -> None:
        """Start a copy: target, its offset, source, its offset, length, and what is to be done then."""
        event = self._start(target, to, source, begin, length)
        if event is None and not self._flying:
            then()
        elif event is None:
            self._flying.append((_DONE, then))
        else:
            self._flying.append((event, then))

    def look(self) -> None:
        """Do what follows on copies that have ended."""
        while self._flying and self._flying[0][0].done:
            self._flying.popleft()[1]()

    @property
    def idle(self) -> bool:
        """Whether no copy is under way."""
        return not self._flying


class _Done:
    done = True


_DONE = _Done()
