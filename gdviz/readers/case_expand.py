"""Archives, compressed files and captures of a case to the files or readings that they hold."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from gdviz.errors import ReaderError
from gdviz.messages import _
from gdviz.readers.capture import is_capture, read_capture
from gdviz.readers.case_files import CaseFile, Why
from gdviz.readers.sysfs.archive import compression_of, is_archive, read_archive, unpack_text
from gdviz.readers.sysfs.locate import root_with_sys
from gdviz.readers.sysfs.rdma_dump import is_dump, tree_of
from gdviz.readers.sysfs.reader import read_tree
from gdviz.readers.sysfs.tree import MappingTree, SubTree

#: Archives inside archives are not opened.
_NESTED = (".tar", ".tgz", ".tbz2", ".txz")


def expand(file: CaseFile, data: bytes) -> list[CaseFile] | None:
    """Return what a file holds if it is an archive, a compressed file or a capture; None if it is none.

    Parameters
    ----------
    file
        The file, as the case has it.
    data
        Its content.
    """
    if is_capture(data):
        return [_capture(file, data)]
    try:
        if is_dump(data):
            readings = read_tree(tree_of(data), name=file.stem, source=file.source)
            return [CaseFile(file.source, file.folder, readings=readings)]
        if is_archive(data):
            return list(_archive(file, data))
        if compression_of(data):
            inner = unpack_text(data)
            if inner and not is_archive(inner):
                name = file.source
                return [CaseFile(name, file.folder, data=inner)]
    except ReaderError as error:
        return [CaseFile(file.source, file.folder, problem=str(error), why=Why.REFUSED)]
    return None


def _capture(file: CaseFile, data: bytes) -> CaseFile:
    try:
        host, readings = read_capture(data, source=file.source)
    except ReaderError as error:
        return CaseFile(file.source, file.folder, problem=str(error), why=Why.REFUSED)
    return CaseFile(file.source, file.folder, host=host or file.stem, readings=readings)


def _archive(file: CaseFile, data: bytes) -> Iterator[CaseFile]:
    archive = read_archive(data)
    if archive.broken:
        reason = _("The archive breaks off: {reason}").format(reason=archive.broken)
        yield CaseFile(file.source, file.folder, problem=reason, why=Why.UNREADABLE)
    if archive.refused:
        reason = _("{n} of its members were passed over: they are devices, or lead outside the archive.")
        yield CaseFile(file.source, file.folder, problem=reason.format(n=archive.refused), why=Why.REFUSED)
    tree = MappingTree(archive.files, archive.links)
    taken: list[str] = []
    for root in _roots(tree, archive.files, archive.links):
        found = root_with_sys(SubTree(tree, root) if root else tree)
        if found is None:
            continue
        taken.append(root)
        folder = (*file.folder, *(part for part in root.split("/") if part))
        name = folder[-1] if root else file.stem.removesuffix(".tar")
        readings = read_tree(found, name=name, source=file.source)
        yield CaseFile(file.source, folder, readings=readings)
    for path, content in archive.files.items():
        if any(_is_part(path, root) for root in taken) or path.endswith(_NESTED):
            continue
        folder = (*file.folder, *posixpath.dirname(path).split("/")) if "/" in path else file.folder
        yield CaseFile(f"{file.source}/{path}", folder, data=content)


def _roots(tree: MappingTree, *paths: dict[str, bytes] | dict[str, str]) -> list[str]:
    """Return the folders of an archive that may be a host's root or a copy of /sys."""
    found: dict[str, None] = {}
    for path in (path for group in paths for path in group):
        for mark in ("sys/", "class/infiniband/", "bus/pci/devices/"):
            at = f"/{path}".find(f"/{mark}")
            if at >= 0:
                found.setdefault(path[: max(at - 1, 0)] if at else "", None)
                break
    if not found:
        found[""] = None
        for name in tree.entries("")[:64]:
            found[name] = None
    return list(found)[:1000]


def _is_part(path: str, root: str) -> bool:
    """Whether the reader of a root's /sys and /proc has looked at a file."""
    prefix = f"{root}/" if root else ""
    if not path.startswith(prefix):
        return False
    rest = path[len(prefix) :]
    return (
        rest.startswith(("sys/", "proc/", "dev/", "run/", "class/", "bus/", "devices/")) or "/ports/" in rest
    )
