"""Host memory of a worker, shared with the program that asked for it."""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import struct
from collections.abc import Callable
from pathlib import Path

PAGE_BYTES = mmap.PAGESIZE

#: Pages of a region whose places are looked up one by one: 1 GiB.
MOST_FRAMES = 2**18

_PRESENT, _FRAME = 1 << 63, (1 << 55) - 1


class HostMemory:
    """Pages of a memory file, mapped here and wherever its file descriptor goes.

    Parameters
    ----------
    align
        Of the address; a power of two.

    Raises
    ------
    OSError
        ENOMEM: there is not that much.
    """

    on_gpu = False

    def __init__(self, size_bytes: int, align: int) -> None:
        self.size_bytes = size_bytes
        slack = align if align > PAGE_BYTES else 0
        whole = -(-(size_bytes + slack) // PAGE_BYTES) * PAGE_BYTES
        if whole > available_bytes():
            raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))
        self.fd = os.memfd_create("gdviz", os.MFD_CLOEXEC)
        try:
            # Taken now: a page that is not there when it is first written would kill the process.
            os.posix_fallocate(self.fd, 0, whole)
            self.map = mmap.mmap(self.fd, whole)
        except OSError as error:
            os.close(self.fd)
            lacking = error.errno in (errno.ENOSPC, errno.ENOMEM)
            raise OSError(errno.ENOMEM if lacking else error.errno, str(error)) from error
        self._anchor = ctypes.c_char.from_buffer(self.map)
        base = ctypes.addressof(self._anchor)
        self.offset = -base % align
        self.address = base + self.offset
        #: What has to be undone before the memory goes, by whoever did something to it.
        self.before_close: list[Callable[[], None]] = []
        self.view = memoryview(self.map)[self.offset : self.offset + size_bytes]

    def close(self) -> None:
        """Give it back."""
        for undo in self.before_close:
            undo()
        self.view.release()
        del self._anchor
        self.map.close()
        os.close(self.fd)


def available_bytes() -> int:
    """Return how much memory this computer can give."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 2**63


def frames(address: int, length: int) -> list[tuple[int, int | None, int]]:
    """Return where memory of this process lies: (virtual address, physical address, length), joined.

    Physical addresses are None where the kernel does not tell them to this user (CAP_SYS_ADMIN).
    """
    first = address - address % PAGE_BYTES
    count = -(-(address + length - first) // PAGE_BYTES)
    if count > MOST_FRAMES:
        return [(first, None, count * PAGE_BYTES)]
    try:
        with Path("/proc/self/pagemap").open("rb") as file:
            file.seek(first // PAGE_BYTES * 8)
            entries = struct.unpack(f"={count}Q", file.read(8 * count))
    except (OSError, struct.error):
        entries = (0,) * count
    found: list[tuple[int, int | None, int]] = []
    for number, entry in enumerate(entries):
        known = bool(entry & _PRESENT and entry & _FRAME)
        physical = (entry & _FRAME) * PAGE_BYTES if known else None
        virtual = first + number * PAGE_BYTES
        if found:
            start, page, held = found[-1]
            if (physical is None and page is None) or (page is not None and physical == page + held):
                found[-1] = (start, page, held + PAGE_BYTES)
                continue
        found.append((virtual, physical, PAGE_BYTES))
    return found
