"""Memory whose untouched parts cost nothing.

A simulated GPU has 80 GB, a laptop has not. Contents are kept in chunks that are made when something
other than zeros is first put there; all chunks of a network together stay below one limit.
"""

from __future__ import annotations

import errno
import hashlib
import os
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from gdviz.errors import AllocationError
from gdviz.messages import _
from gdviz.quantities import format_size
from gdviz.rdma.patterns import Pattern

Bytes: TypeAlias = NDArray[np.uint8]

CHUNK_BYTES = 2**20


def default_limit_bytes() -> int:
    """Return what simulated memory may use of this computer: 4 GiB, or half of its memory if less."""
    try:
        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 2**32
    return min(2**32, physical // 2)


class CommitLimit:
    """How much of this computer's memory simulated memory takes, and may take."""

    def __init__(self, limit_bytes: int | None = None) -> None:
        self.limit_bytes = default_limit_bytes() if limit_bytes is None else limit_bytes
        self.used_bytes = 0

    def check(self, length: int) -> None:
        """Refuse what would go over the limit.

        Raises
        ------
        AllocationError
            ENOMEM.
        """
        if self.used_bytes + length > self.limit_bytes:
            raise AllocationError(
                _("Simulated memory may use {limit} of this computer's; {used} of it hold data.").format(
                    limit=format_size(self.limit_bytes), used=format_size(self.used_bytes)
                ),
                _(
                    "Fill or send less, free buffers, or raise the network's memory_limit_bytes. "
                    "Memory that holds zeros takes nothing."
                ),
                errno=errno.ENOMEM,
            )

    def take(self, length: int) -> None:
        """Count `length` bytes as used, or refuse."""
        self.check(length)
        self.used_bytes += length


class SparseMemory:
    """Bytes by offset. `version` changes with every write."""

    def __init__(self, size_bytes: int, limit: CommitLimit) -> None:
        self.size_bytes = size_bytes
        self.version = 0
        self._limit = limit
        self._chunks: dict[int, Bytes] = {}

    @property
    def committed_bytes(self) -> int:
        """Bytes of this computer's memory that it takes."""
        return sum(chunk.size for chunk in self._chunks.values())

    def committed_in(self, offset: int, length: int) -> int:
        """Return the bytes of all chunks that a range touches and that exist."""
        if length <= 0:
            return 0
        wanted = range(offset // CHUNK_BYTES, (offset + length - 1) // CHUNK_BYTES + 1)
        if len(wanted) > len(self._chunks):
            return sum(chunk.size for number, chunk in self._chunks.items() if number in wanted)
        return sum(self._chunks[number].size for number in wanted if number in self._chunks)

    def _chunk_size(self, number: int) -> int:
        return min(CHUNK_BYTES, self.size_bytes - number * CHUNK_BYTES)

    def _chunk(self, number: int) -> Bytes:
        chunk = self._chunks.get(number)
        if chunk is None:
            size = self._chunk_size(number)
            self._limit.take(size)
            chunk = self._chunks[number] = np.zeros(size, np.uint8)
        return chunk

    def _drop(self, number: int) -> None:
        chunk = self._chunks.pop(number, None)
        if chunk is not None:
            self._limit.used_bytes -= chunk.size

    def clear(self) -> None:
        """Make all of it zeros and give its chunks back."""
        for number in list(self._chunks):
            self._drop(number)
        self.version += 1

    def read(self, offset: int, length: int) -> Bytes:
        """Return a copy of a range."""
        out = np.zeros(length, np.uint8)
        done = 0
        while done < length:
            number, inside = divmod(offset + done, CHUNK_BYTES)
            part = min(length - done, CHUNK_BYTES - inside)
            chunk = self._chunks.get(number)
            if chunk is not None:
                out[done : done + part] = chunk[inside : inside + part]
            done += part
        return out

    def write(self, offset: int, data: Bytes) -> None:
        """Put bytes at an offset."""
        self.version += 1
        done = 0
        while done < data.size:
            number, inside = divmod(offset + done, CHUNK_BYTES)
            part = min(data.size - done, CHUNK_BYTES - inside)
            self._chunk(number)[inside : inside + part] = data[done : done + part]
            done += part

    def copy_from(self, source: SparseMemory, source_offset: int, offset: int, length: int) -> None:
        """Copy a range of another memory here; what is zeros there takes no room here."""
        self.version += 1
        done = 0
        while done < length:
            number, inside = divmod(offset + done, CHUNK_BYTES)
            other, other_inside = divmod(source_offset + done, CHUNK_BYTES)
            part = min(length - done, CHUNK_BYTES - inside, CHUNK_BYTES - other_inside)
            data = source._chunks.get(other)
            if data is not None:
                self._chunk(number)[inside : inside + part] = data[other_inside : other_inside + part]
            elif number in self._chunks:
                if part == self._chunk_size(number):
                    self._drop(number)
                else:
                    self._chunks[number][inside : inside + part] = 0
            done += part

    def fill(self, pattern: Pattern) -> None:
        """Fill all of it; all or nothing where the limit is met."""
        if pattern.zero:
            self.clear()
            return
        self._limit.check(self.size_bytes - self.committed_bytes)
        self.version += 1
        for number in range(-(-self.size_bytes // CHUNK_BYTES)):
            chunk = self._chunk(number)
            chunk[:] = pattern.block(number * CHUNK_BYTES, chunk.size)

    def checksum(self) -> str:
        """Return the first 16 hex digits of the SHA-256 of all of it."""
        digest = hashlib.sha256()
        zeros = bytes(CHUNK_BYTES)
        for number in range(-(-self.size_bytes // CHUNK_BYTES)):
            chunk = self._chunks.get(number)
            digest.update(memoryview(zeros)[: self._chunk_size(number)] if chunk is None else chunk.data)
        return digest.hexdigest()[:16]
