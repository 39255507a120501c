"""Moving the bytes of a bulk run.

Messages go through the regions from the beginning and start again, so that after m messages the first
``m * size`` bytes have arrived. Copying the same bytes again changes nothing, so they are copied again only
where either side has changed; and no more at a time than keeps the program responsive.
"""

from __future__ import annotations

from dataclasses import dataclass

from gdviz.rdma.simulated.memory import SparseMemory

#: Bytes that are copied at one go; the rest follows, at the latest when the run ends.
COPY_BYTES = 4 * 2**20


@dataclass(frozen=True, slots=True)
class Slots:
    """Where messages lie in two regions.

    Attributes
    ----------
    size_bytes
        Of one message.
    local_bytes, remote_bytes
        What the regions have from the offsets on.
    """

    size_bytes: int
    local_offset: int
    remote_offset: int
    local_bytes: int
    remote_bytes: int

    @property
    def span_bytes(self) -> int:
        """Bytes that all messages cover; at least one message, even where it does not fit."""
        return max(self.size_bytes, min(self.local_bytes, self.remote_bytes))

    @property
    def count(self) -> int:
        """Number of messages until they start again."""
        return -(-self.span_bytes // self.size_bytes)

    def offset(self, number: int) -> int:
        """Return where a message begins, from the start of the span; the last one ends at its end."""
        return min(number * self.size_bytes, self.span_bytes - self.size_bytes)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of memory: a memory and where it begins in it."""

    memory: SparseMemory
    offset: int
    length: int


class Copier:
    """Copies what a run has sent.

    Parameters
    ----------
    way
        From the source to the target, bounce buffers in between.
    span_bytes
        What all messages cover.
    """

    def __init__(self, way: list[Stretch], span_bytes: int) -> None:
        self._way = way
        self._span = min(span_bytes, way[0].length, way[-1].length)
        self._done = 0
        self._seen = (-1, -1)

    @property
    def room_bytes(self) -> int:
        """About how much of this computer's memory copying everything takes, beyond what is taken."""
        source, target = self._way[0], self._way[-1]
        wanted = source.memory.committed_in(source.offset, self._span)
        room = max(0, wanted - target.memory.committed_in(target.offset, self._span))
        for bounce in self._way[1:-1]:
            room += max(0, min(wanted, bounce.length) - bounce.memory.committed_bytes)
        return room

    def uses(self, memory: SparseMemory) -> bool:
        """Whether bytes come from, go to or pass through a memory."""
        return any(stretch.memory is memory for stretch in self._way)

    def _versions(self) -> tuple[int, int]:
        return (self._way[0].memory.version, self._way[-1].memory.version)

    def advance(self, sent_bytes: int, limit_bytes: int | None = COPY_BYTES) -> None:
        """Copy what has been sent and is not there yet.

        Parameters
        ----------
        sent_bytes
            Of all messages so far.
        limit_bytes
            The most to copy now; None for all.
        """
        if self._versions() != self._seen:
            self._done = 0
        end = min(self._span, sent_bytes)
        if limit_bytes is not None:
            end = min(end, self._done + limit_bytes)
        longest = min((bounce.length for bounce in self._way[1:-1]), default=COPY_BYTES)
        while self._done < end:
            part = min(longest, end - self._done)
            self._copy(self._done, part)
            self._done += part
        self._seen = self._versions()

    def _copy(self, at: int, length: int) -> None:
        last = len(self._way) - 1
        for step, (source, target) in enumerate(zip(self._way, self._way[1:], strict=False)):
            source_at = source.offset + (at if step == 0 else 0)
            target_at = target.offset + (at if step + 1 == last else 0)
            target.memory.copy_from(source.memory, source_at, target_at, length)
