"""Loaded kernel modules: ``lsmod`` and ``/proc/modules``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gdviz.readers.reading import Reading
from gdviz.readers.source import to_text
from gdviz.readers.text_lines import command_of, short_lines

KIND = "lsmod"
TITLE = "lsmod"

_HEAD = re.compile(r"^\s*Module\s+Size\s+Used by\b")
_ROW = re.compile(
    r"^\s*(?P<name>[A-Za-z0-9_-]{1,64})\s+(?P<size>\d{1,12})\s+(?P<users>-?\d{1,9}|-)"
    r"(?:\s+(?P<by>[A-Za-z0-9_,\[\]-]+))?(?:\s+(?P<state>Live|Loading|Unloading)\s+0x[0-9a-fA-F]+.*)?\s*$"
)

#: A row that was cut off: a name alone, or with some of its size.
_CUT_ROW = re.compile(r"^\s*[A-Za-z0-9_]{1,64}(?:\s+\d{0,12})?\s*$")

#: Rows of ``/proc/modules``, which has no heading, from which on it counts as whole.
_MANY = 20


@dataclass(frozen=True, slots=True)
class Module:
    """A loaded kernel module.

    Attributes
    ----------
    name
        With underscores, as the kernel spells it.
    size_bytes
        Its size in memory.
    used_by
        Modules that use it.
    users
        How often it is in use; None where the table does not say.
    line
        Line of the file, from 1.
    """

    name: str
    size_bytes: int
    used_by: tuple[str, ...]
    users: int | None
    line: int


@dataclass(frozen=True, slots=True)
class KernelModules:
    """All modules that were loaded.

    Attributes
    ----------
    loaded
        In the order of the table.
    whole
        Whether the table is whole (it has its heading, or came from ``/proc/modules``), so that a
        module that is not there was not loaded; a list put through ``grep`` cannot tell that.
    line
        Line on which the table begins.
    """

    loaded: tuple[Module, ...]
    whole: bool
    line: int

    def find(self, name: str) -> Module | None:
        """Return a module by name (``-`` and ``_`` are the same), None if it is not there."""
        wanted = name.replace("-", "_")
        return next((module for module in self.loaded if module.name == wanted), None)


def looks_like(text: str) -> bool:
    """Return whether there is the table's heading, or nothing but its rows."""
    if "Used by" in text and re.search(r"(?m)^\s*Module\s+Size\s+Used by\b", text):
        return True
    if len(text) > 1_000_000:
        return False
    rows = [line for line in short_lines(text) if line.strip() and command_of(line) is None]
    return bool(rows) and all(_ROW.match(row) and re.search("[A-Za-z]", row) for row in rows)


def read(data: bytes | str, *, name: str = "node", source: str = "") -> Reading:
    """Read the table.

    Parameters
    ----------
    data
        The file's content.
    name
        Not used: the table names no machine.
    source
        Where it was read.
    """
    text, odd = to_text(data)
    lines = tuple(short_lines(text))
    loaded: list[Module] = []
    begin = 0
    whole = filtered = row_above = torn = False
    for number, line in enumerate(lines, 1):
        if (command := command_of(line)) is not None:
            filtered = filtered or "grep" in command
            continue
        if _HEAD.match(line):
            begin, whole = begin or number, True
            continue
        match = _ROW.match(line)
        torn = not match and row_above and number == len(lines) and _CUT_ROW.match(line) is not None
        row_above = match is not None
        if match:
            begin = begin or number
            loaded.append(_module(match, number))
    listed = sum(1 for line in lines if " Live 0x" in line) >= _MANY
    facts = KernelModules(tuple(loaded), (whole or listed) and not filtered, begin or 1)
    truncated = whole and torn and not text.endswith(("\n", "\r"))
    return Reading(KIND, source, facts=facts, notices=odd, truncated=truncated, lines=lines)


def _module(match: re.Match[str], line: int) -> Module:
    users = match["users"]
    used_by = tuple(
        user.replace("-", "_")
        for user in (match["by"] or "").split(",")
        if user not in ("", "-", "[permanent]")
    )
    count = None if users == "-" else int(users)
    return Module(match["name"].replace("-", "_"), int(match["size"]), used_by, count, line)
