"""Tar archives to files in memory: nothing is ever written to disk, and a bomb ends at a limit.

Links stay links (followed only inside the archive), devices and pipes are passed over, absolute paths and
``..`` are refused.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import struct
import tarfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO, cast

from gdviz.errors import ReaderError
from gdviz.messages import _
from gdviz.readers.source import MAX_BYTES
from gdviz.readers.sysfs.tree import MAX_FILE

#: Members that are looked at, and bytes that an archive may unpack to (and 20 times its own size more).
MAX_MEMBERS = 300_000
MAX_UNPACKED = 64 * 2**20

_COMPRESSED = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\xfd7zXZ\0": "xz", b"\x28\xb5\x2f\xfd": "zst"}
_BROKEN = (tarfile.TarError, EOFError, OSError, ValueError, struct.error, zlib.error, lzma.LZMAError)

#: Files of ``/sys`` that some reader looks at; the others only cost memory.
_WANTED = re.compile(
    r"/(?:class|vendor|device|subsystem_vendor|subsystem_device|(?:current|max)_link_(?:speed|width)|config"
    r"|numa_node|resource|sriov_numvfs|cpulist|mtu|operstate|rate|state|phys_state|link_layer|lid|fw_ver"
    r"|hca_type|board_id|node_guid|version|product_name|sys_vendor|type)$"
    r"|/ports/\d+/(?:gids|gid_attrs|hw_counters|counters)/"
)
_SYS = re.compile(r"(?:^|/)sys/(?:devices|class|bus|module|kernel|firmware)/")


@dataclass
class Archive:
    """What an archive held.

    Attributes
    ----------
    files, links
        Content and targets by path.
    refused
        Members that were passed over because of what they are.
    broken
        Why it could not be read to its end; empty if it could.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    refused: int = 0
    broken: str = ""


class _Full(Exception):
    """More than an archive may unpack to."""


class _Counted(io.RawIOBase):
    """A stream that ends in `_Full` after so many bytes."""

    def __init__(self, stream: IO[bytes], limit: int) -> None:
        super().__init__()
        self._stream = stream
        self._left = limit

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        size = self._left + 1 if size is None or size < 0 else min(size, self._left + 1)
        data = self._stream.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise _Full
        return data


def compression_of(data: bytes) -> str:
    """Return how bytes are compressed (``gz``, ``bz2``, ``xz``, ``zst``), '' if they are not."""
    return next((name for magic, name in _COMPRESSED.items() if data.startswith(magic)), "")


def looks_like_tar(head: bytes) -> bool:
    """Return whether unpacked bytes begin a tar archive."""
    return len(head) >= 512 and head[257:262] == b"ustar"


def unpacked(data: bytes) -> IO[bytes]:
    """Return a stream of what compressed bytes hold.

    Raises
    ------
    ReaderError
        The compression is one that Python's own library cannot undo.
    """
    kind = compression_of(data)
    stream = io.BytesIO(data)
    if kind == "zst":
        raise ReaderError(_("It is compressed with zstd."), _("Unpack it first: zstd -d FILE."))
    limit = MAX_UNPACKED + 20 * len(data)
    openers: dict[str, Callable[[io.BytesIO], object]] = {"bz2": bz2.BZ2File, "xz": lzma.LZMAFile}
    openers["gz"] = lambda packed: gzip.GzipFile(fileobj=packed)
    opened = openers[kind](stream) if kind else stream
    return cast("IO[bytes]", _Counted(cast("IO[bytes]", opened), limit))


def unpack_text(data: bytes) -> bytes:
    """Return what a compressed single file holds, cut at `MAX_BYTES`.

    Raises
    ------
    ReaderError
        It is broken from its start, or unpacks to more than it may.
    """
    stream = unpacked(data)
    parts: list[bytes] = []
    try:
        while (part := stream.read(1 << 16)) and len(parts) < MAX_BYTES >> 16:
            parts.append(part)
    except _Full:
        raise ReaderError(_("It unpacks to more than {n} MiB.").format(n=MAX_UNPACKED >> 20)) from None
    except _BROKEN as error:
        if not parts:
            raise ReaderError(_("It cannot be unpacked: {reason}.").format(reason=error)) from None
    return b"".join(parts)


def is_archive(data: bytes) -> bool:
    """Return whether bytes are a tar archive, compressed or not."""
    if not compression_of(data):
        return looks_like_tar(data[:512])
    try:
        head = unpacked(data).read(512)
    except (ReaderError, _Full, *_BROKEN):
        return False
    return looks_like_tar(head)


def read_archive(data: bytes) -> Archive:
    """Return the files of a tar archive, as far as it can be read.

    Parameters
    ----------
    data
        The archive, compressed with gzip, bzip2 or xz, or not at all.

    Raises
    ------
    ReaderError
        The compression is unknown.
    """
    found = Archive()
    stream = unpacked(data)
    try:
        with tarfile.open(fileobj=stream, mode="r|", errorlevel=0) as tar:
            for count, member in enumerate(tar):
                if count >= MAX_MEMBERS:
                    found.broken = _("It holds more than {n} files.").format(n=MAX_MEMBERS)
                    break
                _take(tar, member, found)
    except _Full:
        found.broken = _("It unpacks to more than {n} MiB.").format(n=MAX_UNPACKED >> 20)
    except _BROKEN as error:
        found.broken = str(error) or type(error).__name__
    except RecursionError:
        found.broken = _("Its headers are nested too deep.")
    return found


def _take(tar: tarfile.TarFile, member: tarfile.TarInfo, found: Archive) -> None:
    path = _plain(member.name)
    if path is None:
        found.refused += 1
    elif member.issym():
        found.links[path] = member.linkname
    elif member.islnk():
        target = _plain(member.linkname)
        if target is not None:
            found.links[path] = "/" + target
    elif member.isreg():
        in_sys = _SYS.search(path) is not None
        if in_sys and not _WANTED.search(path):
            return
        file = tar.extractfile(member)
        if file is not None:
            found.files[path] = file.read(MAX_FILE if in_sys else MAX_BYTES)
    elif not member.isdir():
        found.refused += 1


def _plain(name: str) -> str | None:
    """Return a member's path without ``./``; None for one that leads outside."""
    if name.startswith("/") or "\0" in name or len(name) > 4096:
        return None
    parts = [part for part in name.split("/") if part not in ("", ".")]
    return None if ".." in parts or not parts else "/".join(parts)
