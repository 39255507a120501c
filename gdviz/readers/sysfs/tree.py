"""A tree of files as sysfs has it: a folder, or a mapping from an archive or a capture."""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

#: Bytes that are read of one file; sysfs's own hold a page.
MAX_FILE = 1 << 20

#: Entries of a folder that are looked at.
MAX_ENTRIES = 20_000

#: Links that are followed on the way to a file.
MAX_LINKS = 16


class Tree(Protocol):
    """Files below a root; paths are relative to it, with ``/`` and without ``..``."""

    def read(self, path: str) -> bytes | None:
        """Return a file's content (at most `MAX_FILE` bytes), None if it cannot be read."""

    def entries(self, path: str) -> list[str]:
        """Return the names in a folder, sorted; none if there is no such folder."""

    def link(self, path: str) -> str | None:
        """Return what a symbolic link points at, as it stands there; None for anything else."""


class FolderTree:
    """A folder on disk.

    Parameters
    ----------
    root
        Nothing outside it is read, whatever links say.
    """

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self._root = os.path.realpath(root)

    def _inside(self, path: str) -> str | None:
        full = os.path.realpath(os.path.join(self._root, path))  # noqa: PTH118 - stays text
        within = full == self._root or full.startswith(self._root.rstrip("/") + "/")
        return full if within else None

    def read(self, path: str) -> bytes | None:
        """Return a file's content, None if it cannot be read."""
        try:
            full = self._inside(path)
            if full is None or not stat.S_ISREG(os.stat(full).st_mode):  # noqa: PTH116
                return None
            with Path(full).open("rb") as file:
                return file.read(MAX_FILE)
        except (OSError, ValueError):
            return None

    def entries(self, path: str) -> list[str]:
        """Return the names in a folder, sorted."""
        try:
            full = self._inside(path)
            return sorted(os.listdir(full))[:MAX_ENTRIES] if full is not None else []  # noqa: PTH208
        except (OSError, ValueError):
            return []

    def link(self, path: str) -> str | None:
        """Return what a symbolic link points at."""
        try:
            full = os.path.join(self._root, path)  # noqa: PTH118
            parent = self._inside(posixpath.dirname(path))
            return None if parent is None else os.readlink(full)  # noqa: PTH115
        except (OSError, ValueError):
            return None


class MappingTree:
    """Files of an archive or a capture.

    Parameters
    ----------
    files
        Content by path.
    links
        Target of each symbolic link by path.
    """

    def __init__(self, files: Mapping[str, bytes], links: Mapping[str, str]) -> None:
        self.files = files
        self.links = links
        below: dict[str, set[str]] = {}
        for path in (*files, *links):
            at = path
            while at:
                parent, _, name = at.rpartition("/")
                names = below.setdefault(parent, set())
                if name in names:
                    break
                names.add(name)
                at = parent
        self._names = below
        self._below = {parent: sorted(names)[:MAX_ENTRIES] for parent, names in below.items()}

    def _resolved(self, path: str) -> str | None:
        """Follow links in a path; None where they lead outside or round in circles."""
        parts = [part for part in path.split("/") if part not in ("", ".")]
        done: list[str] = []
        left = MAX_LINKS
        while parts:
            part = parts.pop(0)
            if part == "..":
                if not done:
                    return None
                done.pop()
                continue
            here = "/".join((*done, part))
            target = self.links.get(here)
            if target is None:
                done.append(part)
                continue
            left -= 1
            if left < 0 or len(target) > 4096:
                return None
            parts = [step for step in target.split("/") if step not in ("", ".")] + parts
            if target.startswith("/"):
                done = []
        return "/".join(done)

    def read(self, path: str) -> bytes | None:
        """Return a file's content, None if there is none."""
        found = self.files.get(path)
        if found is not None:
            return found
        parent, _, name = path.rpartition("/")
        names = self._names.get(parent)
        if names is not None and name not in names:
            return None  # most files that are asked for are not there
        real = self._resolved(path)
        return None if real is None else self.files.get(real)

    def entries(self, path: str) -> list[str]:
        """Return the names in a folder, sorted."""
        found = self._below.get(path)
        if found is None and (real := self._resolved(path)) is not None:
            found = self._below.get(real)
        return found or []

    def link(self, path: str) -> str | None:
        """Return what a symbolic link points at."""
        return self.links.get(path)


class SubTree:
    """A part of a tree as a tree of its own."""

    def __init__(self, tree: Tree, prefix: str) -> None:
        self._tree = tree
        self._prefix = prefix.strip("/")

    def _full(self, path: str) -> str:
        return f"{self._prefix}/{path}".strip("/")

    def read(self, path: str) -> bytes | None:
        """Return a file's content, None if there is none."""
        return self._tree.read(self._full(path))

    def entries(self, path: str) -> list[str]:
        """Return the names in a folder, sorted."""
        return self._tree.entries(self._full(path))

    def link(self, path: str) -> str | None:
        """Return what a symbolic link points at."""
        return self._tree.link(self._full(path))


def text_of(tree: Tree, path: str) -> str:
    """Return a small file as one stripped line of text, '' if there is none."""
    data = tree.read(path)
    return data[:4096].decode("utf-8", "replace").strip("\0 \t\r\n") if data else ""


def number_of(tree: Tree, path: str) -> int | None:
    """Return a file's number, decimal or ``0x...``; None if there is none."""
    text = text_of(tree, path)
    try:
        return int(text, 0) if 0 < len(text) < 20 else None
    except ValueError:
        return None


def name_linked(tree: Tree, path: str) -> str:
    """Return the last part of what a link points at, '' if it is none.

    A capture, which holds no links, has a file with that name in its place.
    """
    target = tree.link(path)
    if target is None:
        text = text_of(tree, path)
        target = text if "\n" not in text and len(text) < 4096 else ""
    return target.rstrip("/").rpartition("/")[2]
