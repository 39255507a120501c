"""Which reader a file belongs to."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from gdviz.errors import ReaderError
from gdviz.machine import Machine, Notice
from gdviz.messages import _
from gdviz.readers import amd_smi, amd_topology, hwloc, kubernetes, lspci, nccl_graph, nccl_log, nccl_topology
from gdviz.readers.fabric import formats as fabric
from gdviz.readers.formats import Format, Scope, of_module
from gdviz.readers.host import formats as host
from gdviz.readers.notices import shown
from gdviz.readers.nvidia_smi import formats as nvidia_smi
from gdviz.readers.pages import read_page
from gdviz.readers.reading import Reading
from gdviz.readers.results import formats as results
from gdviz.readers.source import LIVE, MAX_SHOWN, read_bytes, to_text
from gdviz.readers.xml_positions import root_tag

FORMATS: tuple[Format, ...] = (
    of_module(nccl_topology, Scope.DOCUMENT),
    of_module(nccl_graph, Scope.DOCUMENT),
    of_module(hwloc, Scope.DOCUMENT),
    of_module(lspci),
    of_module(nccl_log),
    *results.FORMATS,
    *nvidia_smi.FORMATS,
    of_module(amd_topology),
    of_module(amd_smi),
    of_module(kubernetes, Scope.DOCUMENT),
    *fabric.FORMATS,
    *host.FORMATS,
)


@dataclass(frozen=True, slots=True)
class Opened:
    """What a file held.

    Attributes
    ----------
    kind
        Name of its format, see `Format`.
    machines
        The machines it describes.
    notices
        What could not be read or is odd, by line.
    readings
        All that was found in it, format by format.
    """

    kind: str
    machines: tuple[Machine, ...]
    notices: tuple[Notice, ...] = ()
    readings: tuple[Reading, ...] = ()


def open_path(path: str | os.PathLike[str]) -> Opened:
    """Return what a file holds, whatever its name.

    Parameters
    ----------
    path
        A file in one of `FORMATS`, a folder, an archive, a capture, or ``live:`` for this host; ``~`` is
        the home folder.

    Raises
    ------
    ReaderError
        It cannot be read, or is of no known format.
    """
    try:
        name = os.path.expanduser(os.fsdecode(path))  # noqa: PTH111 - Path.expanduser raises on an unknown user
    except (TypeError, ValueError) as error:
        raise ReaderError(_("That is no path: {error}.").format(error=error)) from None
    if not name:
        raise ReaderError(_("That is no path: it is empty."))
    # A case's reader stands on this module: it is fetched only where there is a case.
    from gdviz.readers.containers import holds_several, open_several

    if name == LIVE or _is_folder(name):
        return open_several(name)
    data = read_bytes(name)
    if holds_several(data):
        return open_several(name)
    return _open(data, Path(name).stem or "node", name)


def open_text(data: str | bytes, *, name: str = "node") -> Opened:
    """Return what the content of a file holds.

    Raises
    ------
    ReaderError
        It is of no known format.
    """
    return _open(data, name, "")


def open_machine(path: str | os.PathLike[str]) -> tuple[Machine, ...]:
    """Return the machines that a file describes; at least one.

    Raises
    ------
    ReaderError
        It cannot be read, or is of no known format.
    """
    machines = open_path(path).machines
    if not machines:
        what = shown(os.fsdecode(path), MAX_SHOWN)
        raise ReaderError(_("{what} describes no machine.").format(what=what))
    return machines


def _is_folder(name: str) -> bool:
    try:
        return Path(name).is_dir()
    except (OSError, ValueError):
        return False


def readings_of(data: str | bytes, text: str, name: str, source: str) -> tuple[Reading, ...]:
    """Return what every format finds in a file's content; nothing where none knows it.

    Parameters
    ----------
    data, text
        The content as it was read, and as text.
    name, source
        Name for machines, and the file's path.
    """
    documents = tuple(known for known in FORMATS if known.scope is Scope.DOCUMENT)
    formats = documents if looks_binary(text) else FORMATS
    return read_page(data, text, formats, name=name, source=source)


def opened_from(readings: tuple[Reading, ...]) -> Opened:
    """Return readings of one file as what the file held."""
    first = next((reading for reading in readings if reading.machines), readings[0])
    machines = tuple(machine for reading in readings for machine in reading.machines)
    notices = tuple(notice for reading in readings for notice in reading.notices)
    return Opened(first.kind, machines, notices, readings)


def _open(data: str | bytes, name: str, source: str) -> Opened:
    text, _notices = to_text(data)
    readings = readings_of(data, text, name, source)
    if readings:
        return opened_from(readings)
    what = shown(source, MAX_SHOWN) if source else _("That")
    raise ReaderError(
        _("{what} is {found}.").format(what=what, found=describe(text)),
        _("gdviz reads: {formats}.").format(formats=", ".join(known.title for known in FORMATS)),
    )


def looks_binary(text: str) -> bool:
    """Whether the beginning of a text is no text at all."""
    head = text[:4096]
    odd = sum(ch == "\ufffd" or (ch < " " and ch not in "\t\n\r\f\x1b") for ch in head)
    return odd > len(head) / 50


def describe(text: str) -> str:
    """Return what a text that no reader knows seems to be, for a sentence."""
    if not text.strip():
        return _("empty")
    if tag := root_tag(text):
        return _("XML, but its root element is <{tag}> and no reader knows it").format(tag=tag[:60])
    if looks_binary(text):
        return _("no text: it looks like binary data")
    return _("text of a format that no reader knows")
