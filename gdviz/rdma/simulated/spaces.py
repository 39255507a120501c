"""Address spaces: who has which range of virtual, physical or bus addresses."""

from __future__ import annotations

from bisect import insort


class AddressSpace:
    """A range of addresses that is handed out lowest first, in whole units.

    Parameters
    ----------
    base, size_bytes
        Where it begins and how long it is.
    unit_bytes
        Everything handed out is a multiple of it.
    """

    def __init__(self, base: int, size_bytes: int, unit_bytes: int) -> None:
        self.base = base
        self.size_bytes = size_bytes - size_bytes % unit_bytes
        self.unit_bytes = unit_bytes
        self._free: list[tuple[int, int]] = [(base, self.size_bytes)]
        self.used_bytes = 0

    @property
    def free_bytes(self) -> int:
        """Bytes not handed out."""
        return self.size_bytes - self.used_bytes

    def rounded(self, length: int) -> int:
        """Return `length` rounded up to whole units."""
        return -(-length // self.unit_bytes) * self.unit_bytes

    def take(self, length: int, *, whole: bool = False) -> list[tuple[int, int]] | None:
        """Hand out `length` bytes, in one piece if there is one long enough.

        Parameters
        ----------
        whole
            Give one piece or nothing.

        Returns
        -------
        list of (address, length), or None
            None if there is not that much, and then nothing is taken.
        """
        length = self.rounded(length)
        for index, (start, free) in enumerate(self._free):
            if free >= length:
                self._cut(index, start, free, length)
                return [(start, length)]
        if whole or length > self.free_bytes:
            return None
        pieces: list[tuple[int, int]] = []
        while length:
            start, free = self._free[0]
            part = min(free, length)
            self._cut(0, start, free, part)
            pieces.append((start, part))
            length -= part
        return pieces

    def _cut(self, index: int, start: int, free: int, length: int) -> None:
        if free == length:
            del self._free[index]
        else:
            self._free[index] = (start + length, free - length)
        self.used_bytes += length

    def give(self, pieces: list[tuple[int, int]]) -> None:
        """Take back what `take` gave."""
        for piece in pieces:
            insort(self._free, piece)
            self.used_bytes -= piece[1]
        joined: list[tuple[int, int]] = []
        for start, length in self._free:
            if joined and sum(joined[-1]) == start:
                joined[-1] = (joined[-1][0], joined[-1][1] + length)
            else:
                joined.append((start, length))
        self._free = joined
