"""What a session tells those who watch it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Topic(StrEnum):
    """What can be watched.

    `EVENTS` brings an `Event`, `SAMPLES` a list of `Sample`, `TRANSFERS` a `Transfer` whose state changed,
    `OBJECTS` None whenever buffers or regions came or went.
    """

    EVENTS = "events"
    SAMPLES = "samples"
    TRANSFERS = "transfers"
    OBJECTS = "objects"


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, as a sentence.

    Attributes
    ----------
    time_s
        On the session's clock.
    level
        ``info``, ``warning`` or ``error``.
    """

    time_s: float
    text: str
    level: str = "info"


class Watchers:
    """Callbacks by topic. They run on the engine's thread; one that fails harms no other."""

    def __init__(self) -> None:
        self._callbacks: dict[Topic, list[Callable[[Any], None]]] = {topic: [] for topic in Topic}
        self.failures: list[BaseException] = []

    def add(self, topic: Topic, callback: Callable[[Any], None]) -> Callable[[], None]:
        """Add a callback and return what removes it again."""
        self._callbacks[topic].append(callback)

        def remove() -> None:
            if callback in self._callbacks[topic]:
                self._callbacks[topic].remove(callback)

        return remove

    def tell(self, topic: Topic, news: Any) -> None:
        """Call a topic's callbacks."""
        for callback in tuple(self._callbacks[topic]):
            try:
                callback(news)
            except Exception as error:  # noqa: BLE001  (a broken view must not stop the engine)
                self.failures.append(error)

    def clear(self) -> None:
        """Forget all callbacks."""
        for callbacks in self._callbacks.values():
            callbacks.clear()
