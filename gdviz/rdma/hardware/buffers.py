"""Buffers on real nodes: host memory shared with the worker, or GPU memory that lives there."""

from __future__ import annotations

import errno
import hashlib
import mmap
import os
from typing import TYPE_CHECKING

import numpy as np

from gdviz.errors import AllocationError, VerbsError
from gdviz.messages import _
from gdviz.quantities import format_size
from gdviz.rdma.patterns import Pattern
from gdviz.rdma.provider import Location
from gdviz.rdma.ranges import check_use

if TYPE_CHECKING:
    from gdviz.rdma.hardware.provider import HardwareProvider

#: Bytes that are filled, hashed or fetched from a GPU at a time. Patterns are functions of the offset at
#: blocks of this size, the same on every provider.
CHUNK_BYTES = 2**20

#: Largest alignment that is given.
MOST_ALIGN = 2 * 2**20


class HardwareBuffer:
    """Memory of a real host or GPU.

    Attributes
    ----------
    stands_in
        Whether it is host memory in place of a GPU's, because there is no CUDA here.
    number
        The worker's number for it.
    """

    def __init__(
        self, provider: HardwareProvider, location: Location, size_bytes: int, align: int, gpu: str | None
    ) -> None:
        if size_bytes < 1:
            raise AllocationError(_("A buffer has at least one byte."), errno=errno.EINVAL)
        if align < 1 or align & (align - 1) or align > MOST_ALIGN:
            raise AllocationError(
                _("An alignment is a power of two up to {limit}, not {align}.").format(
                    limit=format_size(MOST_ALIGN), align=align
                ),
                errno=errno.EINVAL,
            )
        self.provider = provider
        self.location = location
        self.size_bytes = size_bytes
        self.stands_in = location.kind == "gpu" and gpu is None
        self.regions = 0
        self.freed = False
        (self.number, self.address, begin), files = provider.worker.call_with_files(
            "alloc",
            size_bytes,
            align,
            gpu,
            what=_("{size} cannot be allocated on {place}").format(
                size=format_size(size_bytes), place=location
            ),
            error=AllocationError,
            remedies={errno.ENOMEM: _("Free buffers there, or allocate less.")},
        )
        self._map: mmap.mmap | None = None
        if files:
            self._map = mmap.mmap(files[0], 0)
            os.close(files[0])
            self._view = memoryview(self._map)[begin : begin + size_bytes]

    @property
    def registered(self) -> bool:
        """Whether a memory region holds it."""
        return self.regions > 0

    def _use(self, offset: int = 0, length: int = 0) -> None:
        check_use(self, offset, length)

    def read(self, offset: int = 0, length: int | None = None) -> bytes:
        """Return bytes from `offset`, to the end if no length is given."""
        wanted = self.size_bytes - offset if length is None else length
        self._use(offset, wanted)
        if self._map is not None:
            return bytes(self._view[offset : offset + wanted])
        parts = bytearray()
        for start in range(offset, offset + wanted, CHUNK_BYTES):
            part = min(CHUNK_BYTES, offset + wanted - start)
            parts += self.provider.worker.call("gpu_read", self.number, start, part)
        return bytes(parts)

    def write(self, offset: int, data: bytes) -> None:
        """Put bytes at `offset`."""
        self._use(offset, len(data))
        if self._map is not None:
            self._view[offset : offset + len(data)] = data
            return
        for start in range(0, len(data), CHUNK_BYTES):
            part = bytes(data[start : start + CHUNK_BYTES])
            self.provider.worker.call("gpu_write", self.number, offset + start, part)

    def fill(self, pattern: str | int | bytes = "random", seed: int = 0) -> None:
        """Fill it: ``zeros``, ``random``, ``counter``, ``text``, one byte's value, or bytes to repeat."""
        self._use()
        found = Pattern.parse(pattern, seed)
        zeros = np.zeros(CHUNK_BYTES if found.zero else 0, np.uint8)
        for start in range(0, self.size_bytes, CHUNK_BYTES):
            length = min(CHUNK_BYTES, self.size_bytes - start)
            block = zeros[:length] if found.zero else found.block(start, length)
            self.write(start, block.tobytes())

    def checksum(self) -> str:
        """Return the first 16 hex digits of the contents' SHA-256."""
        self._use()
        digest = hashlib.sha256()
        for start in range(0, self.size_bytes, CHUNK_BYTES):
            digest.update(self.read(start, min(CHUNK_BYTES, self.size_bytes - start)))
        return digest.hexdigest()[:16]

    def free(self) -> None:
        """Give it back; EBUSY while a memory region holds it. Freeing twice is fine."""
        if self.freed:
            return
        if self.registered:
            raise VerbsError(
                _("This buffer is registered: {count} memory regions hold it.").format(count=self.regions),
                _("Deregister them first."),
                errno=errno.EBUSY,
            )
        self.provider.worker.call("give_back", self.number)
        self.discard()

    def discard(self) -> None:
        """Give it back on this side alone: the worker has done so, or is gone."""
        self.freed = True
        if self._map is not None:
            self._view.release()
            self._map.close()
        self.provider.buffers.discard(self)

    def __repr__(self) -> str:
        state = "freed" if self.freed else f"{self.address:#x}"
        kind = _("host memory in place of {place}").format(place=self.location)
        return f"<{format_size(self.size_bytes)}, {kind if self.stands_in else self.location}, {state}>"
