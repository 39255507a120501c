"""Folders, archives and captures opened like a file: as the machines that they hold."""

from __future__ import annotations

from gdviz.errors import ReaderError
from gdviz.machine import Machine, Notice
from gdviz.messages import _
from gdviz.readers.capture import is_capture
from gdviz.readers.case import Case, CaseNode, Unread, open_case
from gdviz.readers.case_files import Why
from gdviz.readers.case_nodes import TOP
from gdviz.readers.notices import shown
from gdviz.readers.registry import Opened
from gdviz.readers.source import MAX_SHOWN
from gdviz.readers.sysfs.archive import compression_of, looks_like_tar
from gdviz.readers.sysfs.rdma_dump import is_dump


def holds_several(data: bytes) -> bool:
    """Return whether a file's content is an archive, compressed, a capture or a dump."""
    return is_capture(data) or is_dump(data) or bool(compression_of(data)) or looks_like_tar(data[:512])


def open_several(path: str) -> Opened:
    """Return what a folder, archive or capture holds.

    Parameters
    ----------
    path
        As the person gave it.

    Raises
    ------
    ReaderError
        Nothing in it could be read.
    """
    case = open_case(path)
    if not case.nodes:
        raise ReaderError(_refusal(path, case))
    kinds = [reading.kind for reading in case.readings]
    kind = kinds[0] if kinds[0] in ("capture", "sysfs") else "case"
    machines = tuple(machine for node in case.nodes for machine in _named(node))
    told = [notice for reading in case.readings for notice in reading.notices]
    told += [Notice(f"{shown(unread.file, MAX_SHOWN)}: {unread.reason}") for unread in case.unreadable]
    return Opened(kind, machines, tuple(told), case.readings)


def _named(node: CaseNode) -> list[Machine]:
    """Return a node's machines under its name, where it has one of its own."""
    machines = [machine for reading in node.readings for machine in reading.machines]
    if node.name == TOP:
        return machines
    if len(machines) == 1:
        return [machines[0].renamed(node.name)]
    return [machine.renamed(f"{node.name}/{machine.name}") for machine in machines]


def _refusal(path: str, case: Case) -> str:
    what = shown(path, MAX_SHOWN)
    if not case.unreadable:
        return _("{path} holds no file.").format(path=what)
    first: Unread = min(case.unreadable, key=lambda unread: unread.why is Why.UNKNOWN)
    text = _("Nothing in {path} could be read; {file}: {reason}")
    if first.file.rstrip("/") == path.rstrip("/"):
        return f"{what}: {first.reason}"
    return text.format(path=what, file=shown(first.file, MAX_SHOWN), reason=first.reason)
