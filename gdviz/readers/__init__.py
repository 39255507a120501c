"""Files to machines: one module a format, found by content.

A reader never raises on bad input of its own format: it returns what it could read, with notices that
name the line. What is no known format is refused with one sentence (`ReaderError`).
"""

from __future__ import annotations

from gdviz.readers.case import Case, CaseNode, Unread, open_case
from gdviz.readers.formats import Format, Scope
from gdviz.readers.reading import Evidence, Reading
from gdviz.readers.registry import FORMATS, Opened, open_machine, open_path, open_text

__all__ = [
    "FORMATS",
    "Case",
    "CaseNode",
    "Evidence",
    "Format",
    "Opened",
    "Reading",
    "Scope",
    "Unread",
    "open_case",
    "open_machine",
    "open_path",
    "open_text",
]
