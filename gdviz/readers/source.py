"""Files to bytes and bytes to text: what every reader needs before its own format begins."""

from __future__ import annotations

import codecs
import os
import re
import stat
from itertools import pairwise
from pathlib import Path

from gdviz.errors import ReaderError
from gdviz.machine import Notice
from gdviz.messages import _
from gdviz.readers.notices import shown

#: Larger files are refused: the largest real topology is some hundred kilobytes.
MAX_BYTES = 64 * 2**20

#: The path that stands for the host at hand.
LIVE = "live:"

#: Characters of a path that an error shows.
MAX_SHOWN = 400

#: What a file that was cut to nothing while a program wrote on has in its holes (logs on NFS, of Slurm).
_HOLE = re.compile(rb"\0{4,}")
#: Holes count as such if they are at most this part of a file, or that long on average.
_MOST_HOLES = 0.05
_LONG_HOLE = 16
#: Bytes that no text has, and the part of a text that they may be.
_NO_TEXT = bytes({*range(32), 127} - set(b"\t\n\r\f\x1b\b"))
_MOST_ODD = 0.02

_DECLARED = re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")

#: Encodings that map bytes to letters and nothing else (Python's list also has compressors).
_TEXT_ENCODINGS = re.compile(
    r"^(utf-?8|us-ascii|ascii|iso-?8859-\d+|latin-?1|windows-125\d|cp\d+|koi8-[ru]|gb2312|gbk|gb18030|big5"
    r"|shift_jis|euc-(jp|kr))$",
    re.IGNORECASE,
)


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return a regular file's bytes.

    Raises
    ------
    ReaderError
        No such file, no permission, not a regular file (reading a pipe could wait for ever), empty, or
        larger than `MAX_BYTES`.
    """
    name = os.fspath(path)
    try:
        status = Path(name).stat()
        if stat.S_ISDIR(status.st_mode):
            raise ReaderError(_("{path} is a directory, not a file.").format(path=shown(name, MAX_SHOWN)))
        if not stat.S_ISREG(status.st_mode):
            raise ReaderError(_("{path} is not a regular file.").format(path=shown(name, MAX_SHOWN)))
        if status.st_size <= MAX_BYTES:
            with Path(name).open("rb") as file:
                data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        if isinstance(error, ReaderError):
            raise
        reason = getattr(error, "strerror", None) or str(error)
        raise ReaderError(
            _("{path} cannot be read: {reason}.").format(path=shown(name, MAX_SHOWN), reason=reason)
        ) from None
    if status.st_size > MAX_BYTES or len(data) > MAX_BYTES:
        raise ReaderError(
            _("{path} is larger than {limit} MiB.").format(
                path=shown(name, MAX_SHOWN), limit=MAX_BYTES // 2**20
            )
        )
    if not data:
        raise ReaderError(_("{path} is empty.").format(path=shown(name, MAX_SHOWN)))
    return data


def to_text(data: bytes | str) -> tuple[str, tuple[Notice, ...]]:
    """Return text, with a notice where bytes had to be replaced.

    A byte order mark counts first, then the encoding of an XML declaration, then UTF-8. Runs of NUL bytes
    between text are left out.
    """
    if isinstance(data, str):
        return data.encode("utf-8", "replace").decode("utf-8"), ()
    data, holes = _without_holes(data)
    encoding, notices = _encoding(data)
    notices = (*holes, *notices)
    try:
        return data.decode(encoding), notices
    except UnicodeDecodeError as error:
        text = data.decode(encoding, "replace")
        line = data[: error.start].decode(encoding, "replace").count("\n") + 1
        notice = Notice(_("Bytes that are no {encoding} text were replaced.").format(encoding=encoding), line)
        return text, (*notices, notice)


def _without_holes(data: bytes) -> tuple[bytes, tuple[Notice, ...]]:
    """Return a text without its runs of NUL bytes; what is no text besides stays as it is."""
    if b"\0\0\0\0" not in data or data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data, ()
    pieces = [piece for piece in _HOLE.split(data) if piece]
    text = b"".join(pieces)
    lost = len(data) - len(text)
    if lost > len(data) * _MOST_HOLES and lost < _LONG_HOLE * max(len(pieces) - 1, 1):
        return data, ()
    odd = len(text) - len(text.translate(None, _NO_TEXT)) + text.decode("utf-8", "replace").count("\ufffd")
    if not text.strip() or odd > len(text) * _MOST_ODD:
        return data, ()
    first = data.count(b"\n", 0, data.index(b"\0\0\0\0")) + 1
    notice = Notice(_("{n} NUL bytes between the text were left out.").format(n=lost), first)
    # Two texts that a hole keeps apart do not become one word.
    whole = pieces[0] + b"".join(
        piece if before.endswith(b"\n") or piece.startswith(b"\n") else b" " + piece
        for before, piece in pairwise(pieces)
    )
    return whole, (notice,)


def _encoding(data: bytes) -> tuple[str, tuple[Notice, ...]]:
    if data.startswith(codecs.BOM_UTF8):
        return "utf-8-sig", ()
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16", ()
    if data.startswith(b"<\0"):
        return "utf-16-le", ()
    if data.startswith(b"\0<"):
        return "utf-16-be", ()
    match = _DECLARED.match(data[:1024])
    if not match:
        return "utf-8", ()
    declared = match[1].decode("ascii")
    if _TEXT_ENCODINGS.match(declared):
        try:
            return codecs.lookup(declared).name, ()
        except LookupError:
            pass
    text = _("The declared encoding {name} is unknown here; the file was read as UTF-8.")
    return "utf-8", (Notice(text.format(name=shown(declared)), 1),)
