"""Files to machines: one module a format, found by content.

A reader never raises on bad input of its own format: it returns what it could read, with notices that
name the line. What is no known format is refused with one sentence (`ReaderError`).
"""

from __future__ import annotations

from gdviz.readers.reading import Evidence, Reading
from gdviz.readers.registry import FORMATS, Format, Opened, open_machine, open_path, open_text

__all__ = ["FORMATS", "Evidence", "Format", "Opened", "Reading", "open_machine", "open_path", "open_text"]
