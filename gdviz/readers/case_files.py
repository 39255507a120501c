"""The files of a case: walks folders, and knows where each file lies."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from gdviz.errors import ReaderError
from gdviz.messages import _
from gdviz.readers.reading import Reading
from gdviz.readers.source import LIVE, read_bytes
from gdviz.readers.sysfs.locate import root_with_sys
from gdviz.readers.sysfs.reader import read_tree
from gdviz.readers.sysfs.tree import FolderTree

#: Files of one case, and folders below one another, that are looked at.
MAX_FILES = 20_000
MAX_DEPTH = 24


class Why(StrEnum):
    """Why a file was not used."""

    EMPTY = "empty"
    BINARY = "binary"
    REFUSED = "refused"
    UNKNOWN = "unknown"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class CaseFile:
    """A file of a case, not yet opened.

    Attributes
    ----------
    source
        Its path, as the person gave it.
    folder
        The folders it lies in, below the path that the person gave; the first one names that path
        itself where it was a folder among several.
    host
        The host it belongs to, where the file itself says so (a capture); else empty.
    data
        Its content where it lies in an archive; None for a file on disk.
    readings
        What it holds where that is known already.
    problem, why
        Why it cannot be opened; `problem` is None where it can.
    """

    source: str
    folder: tuple[str, ...] = ()
    host: str = ""
    data: bytes | None = field(default=None, repr=False)
    readings: tuple[Reading, ...] | None = None
    problem: str | None = None
    why: Why = Why.UNREADABLE

    @property
    def stem(self) -> str:
        """Name for machines that the file describes."""
        return Path(self.source).stem or "node"

    @property
    def size(self) -> int | None:
        """Bytes, None if it cannot be asked."""
        if self.data is not None:
            return len(self.data)
        try:
            return Path(self.source).stat().st_size
        except (OSError, ValueError):
            return None

    def load(self) -> bytes:
        """Return the content.

        Raises
        ------
        ReaderError
            It cannot be read, is empty or too large.
        """
        return self.data if self.data is not None else read_bytes(self.source)


def files_of(paths: Sequence[str | os.PathLike[str]]) -> Iterator[CaseFile]:
    """Go through all files below some paths, in the order of their names.

    Raises
    ------
    ReaderError
        Something given is no path at all.
    """
    names = [_name_of(path) for path in paths]
    count = 0
    for name in names:
        if name == LIVE:
            yield _live()
            continue
        top = (_folder_name(name),) if len(names) > 1 and Path(name).is_dir() else ()
        for file in _below(name, top):
            count += 1
            if count > MAX_FILES:
                reason = _("Only the first {n} files are opened.").format(n=MAX_FILES)
                yield CaseFile(file.source, problem=reason, why=Why.REFUSED)
                return
            yield file


def _name_of(path: str | os.PathLike[str]) -> str:
    try:
        name = os.path.expanduser(os.fsdecode(path))  # noqa: PTH111 - Path.expanduser raises on an unknown user
    except (TypeError, ValueError) as error:
        raise ReaderError(_("That is no path: {error}.").format(error=error)) from None
    if not name:
        raise ReaderError(_("That is no path: it is empty."))
    return name


def _folder_name(name: str) -> str:
    return Path(name).name or Path(os.path.abspath(name)).name or name  # noqa: PTH100 - keeps links


def _below(name: str, folder: tuple[str, ...]) -> Iterator[CaseFile]:
    try:
        is_folder = Path(name).is_dir()
    except (OSError, ValueError):
        is_folder = False
    if not is_folder:
        yield CaseFile(name, folder)
        return
    try:
        with os.scandir(name) as found:
            entries = sorted((entry for entry in found if not entry.name.startswith(".")), key=_by_name)
    except OSError as error:
        yield CaseFile(name, folder, problem=error.strerror or str(error))
        return
    copied = root_with_sys(FolderTree(name))
    if copied is not None:
        title = folder[-1] if folder else _folder_name(name)
        yield CaseFile(name, folder, readings=read_tree(copied, name=title, source=name.rstrip("/")))
        names = {entry.name for entry in entries}
        if "sys" not in names:
            return
        # What lies beside the copies of /sys and /proc are files like any other.
        entries = [entry for entry in entries if entry.name not in ("sys", "proc", "dev")]
    if len(folder) > MAX_DEPTH:
        yield CaseFile(name, folder, problem=_("It lies too deep."), why=Why.REFUSED)
        return
    folders = []
    for entry in entries:
        if _is_folder(entry, follow_symlinks=False):
            folders.append(entry)
        elif not _is_folder(entry):
            yield CaseFile(entry.path, folder)
    for entry in folders:
        yield from _below(entry.path, (*folder, entry.name))


def _is_folder(entry: os.DirEntry[str], *, follow_symlinks: bool = True) -> bool:
    try:
        return entry.is_dir(follow_symlinks=follow_symlinks)
    except OSError:
        return False  # a link that leads round in circles


def _live() -> CaseFile:
    from gdviz.readers.live import read_live

    host, readings = read_live()
    return CaseFile(LIVE, host=host, readings=readings)


def _by_name(entry: os.DirEntry[str]) -> str:
    return entry.name
