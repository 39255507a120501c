"""Which reader a file belongs to."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gdviz.errors import ReaderError
from gdviz.machine import Machine, Notice
from gdviz.messages import _
from gdviz.readers import nccl_topology
from gdviz.readers.notices import shown
from gdviz.readers.reading import Reading
from gdviz.readers.source import MAX_SHOWN, read_bytes, to_text
from gdviz.readers.xml_positions import root_tag


@dataclass(frozen=True, slots=True)
class Format:
    """A format that gdviz reads.

    Attributes
    ----------
    kind
        Its name for programs.
    title
        Its name for people.
    looks_like
        Whether a text is meant to be of this format; cheap, and never raises.
    read
        Text and the keywords ``name`` and ``source`` to a `Reading`; never raises.
    """

    kind: str
    title: str
    looks_like: Callable[[str], bool]
    read: Callable[..., Reading]


FORMATS: tuple[Format, ...] = (
    Format(nccl_topology.KIND, nccl_topology.TITLE, nccl_topology.looks_like, nccl_topology.read),
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
        A file in one of `FORMATS`; ``~`` is the home folder.

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
    return _open(read_bytes(name), Path(name).stem or "node", name)


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
    return open_path(path).machines


def _open(data: str | bytes, name: str, source: str) -> Opened:
    text, _notices = to_text(data)
    for known in FORMATS:
        if known.looks_like(text):
            reading = known.read(data, name=name, source=source)
            return Opened(known.kind, reading.machines, reading.notices, (reading,))
    what = shown(source, MAX_SHOWN) if source else _("That")
    raise ReaderError(
        _("{what} is {found}.").format(what=what, found=_describe(text)),
        _("gdviz reads: {formats}.").format(formats=", ".join(known.title for known in FORMATS)),
    )


def _describe(text: str) -> str:
    head = text[:4096]
    if not text.strip():
        return _("empty")
    if tag := root_tag(text):
        return _("XML, but its root element is <{tag}> and no reader knows it").format(tag=tag[:60])
    if sum(ch == "\ufffd" or (ch < " " and ch not in "\t\n\r\f\x1b") for ch in head) > len(head) / 50:
        return _("no text: it looks like binary data")
    return _("text of a format that no reader knows")
