"""Files, folders, archives and captures of one or several hosts as one case.

Content decides what a file is and its folder to which host it belongs. A file that no reader takes, or
that cannot be read, is told (`Unread`) and stops nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gdviz.errors import ReaderError
from gdviz.messages import _
from gdviz.readers.case_expand import expand
from gdviz.readers.case_files import CaseFile, Why, files_of
from gdviz.readers.case_nodes import Placed, group
from gdviz.readers.reading import Reading
from gdviz.readers.registry import describe, looks_binary, readings_of
from gdviz.readers.source import to_text


@dataclass(frozen=True, slots=True)
class Unread:
    """A file that was not used.

    Attributes
    ----------
    file
        Its path, as the person gave it.
    reason
        One sentence.
    why
        The same for programs: a file that no reader knows (``Why.UNKNOWN``) is often none of
        our business, the others are broken inputs.
    """

    file: str
    reason: str
    why: Why


@dataclass(frozen=True, slots=True)
class CaseNode:
    """What is known of one host.

    Attributes
    ----------
    name
        The folder's or capture's name; ``node`` for files that lie at the top.
    readings
        All that its files gave, file by file.
    """

    name: str
    readings: tuple[Reading, ...]

    def of(self, *kinds: str) -> tuple[Reading, ...]:
        """Return the readings of some formats."""
        return tuple(reading for reading in self.readings if reading.kind in kinds)


@dataclass(frozen=True, slots=True)
class Case:
    """Everything that was opened together.

    Attributes
    ----------
    nodes
        Host by host; what belongs to no single host (a job's log) is in the node ``node``.
    unreadable
        Files that were not used, each with the reason.
    """

    nodes: tuple[CaseNode, ...]
    unreadable: tuple[Unread, ...] = ()

    @property
    def readings(self) -> tuple[Reading, ...]:
        """Those of all nodes."""
        return tuple(reading for node in self.nodes for reading in node.readings)

    def node(self, name: str) -> CaseNode | None:
        """Return a node by name, None if there is none."""
        return next((node for node in self.nodes if node.name == name), None)


def open_case(*paths: str | os.PathLike[str]) -> Case:
    """Return what files and folders hold, grouped by host.

    Parameters
    ----------
    paths
        Files of any format, folders (with their subfolders; those with files of a host are hosts),
        copies of /sys as folder or archive, captures, and ``live:`` for this host; ``~`` is the home
        folder.

    Returns
    -------
    Case
        Perhaps without nodes, if nothing could be read: then `Case.unreadable` says why.

    Raises
    ------
    ReaderError
        No path was given, or something that is none.
    """
    if not paths:
        raise ReaderError(_("No path was given."))
    placed: list[Placed] = []
    unread: list[Unread] = []
    for file in files_of(paths):
        for part, result in _read(file):
            if isinstance(result, Unread):
                unread.append(result)
            else:
                placed.append(Placed(part.folder, result, part.host))
    nodes = tuple(CaseNode(name, readings) for name, readings in group(placed))
    return Case(nodes, tuple(unread))


def _read(file: CaseFile) -> Iterator[tuple[CaseFile, tuple[Reading, ...] | Unread]]:
    """Go through what a file holds: itself, or the files inside it, each with its readings."""
    if file.problem is not None:
        yield file, Unread(file.source, file.problem, file.why)
        return
    if file.readings is not None:
        yield file, file.readings
        return
    try:
        data = file.load()
    except ReaderError as error:
        empty = file.size == 0
        reason = _("It is empty.") if empty else str(error)
        yield file, Unread(file.source, reason, Why.EMPTY if empty else Why.REFUSED)
        return
    inside = expand(file, data)
    if inside is None:
        yield file, _read_text(file, data)
        return
    for part in inside:
        if part.data is not None and part.problem is None:
            yield part, _read_text(part, part.data)
        else:
            yield from _read(part)


def _read_text(file: CaseFile, data: bytes) -> tuple[Reading, ...] | Unread:
    text, _notices = to_text(data)
    if not text.strip():
        return Unread(file.source, _("It is blank."), Why.EMPTY)
    if "<!ENTITY" in text and text.lstrip("\ufeff \t\r\n").startswith("<"):
        reason = _("It declares XML entities, which are neither read nor expanded.")
        return Unread(file.source, reason, Why.REFUSED)
    readings = readings_of(data, text, file.stem, file.source)
    if readings:
        return readings
    why = Why.BINARY if looks_binary(text) else Why.UNKNOWN
    return Unread(file.source, _("It is {found}.").format(found=describe(text)), why)


def sources(readings: Iterable[Reading]) -> tuple[str, ...]:
    """Return the files behind readings, each once."""
    return tuple(dict.fromkeys(reading.source for reading in readings))
