"""Text files that no reader knows: their lines still count where a tool's error stands in them."""

from __future__ import annotations

from gdviz.errors import ReaderError
from gdviz.readers import Reading
from gdviz.readers.case import Unread
from gdviz.readers.case_files import Why
from gdviz.readers.source import read_bytes, to_text
from gdviz.readers.text_lines import split_lines

KIND = "text"

#: Larger files of unknown text are left alone.
MAX_BYTES = 8 * 2**20


def plain_reading(unread: Unread) -> Reading | None:
    """Return a text file as a reading without facts; None if it is none, or lies in an archive."""
    if unread.why is not Why.UNKNOWN:
        return None
    try:
        data = read_bytes(unread.file)
    except ReaderError:
        return None
    if len(data) > MAX_BYTES:
        return None
    text, _notices = to_text(data)
    return Reading(KIND, unread.file, lines=tuple(split_lines(text)))
