"""Finds /sys in a folder or archive, whatever part of it was copied and wherever it lies."""

from __future__ import annotations

import re

from gdviz.readers.sysfs.tree import Tree

_BUS_ID = re.compile(r"^[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]$")


class PlacedTree:
    """A tree that is seen at a deeper place: a copy of ``/sys/class/infiniband`` as a host's root.

    Parameters
    ----------
    tree
        What was copied.
    place
        Where it lies in a host's root, such as ``sys/class/infiniband``.
    """

    def __init__(self, tree: Tree, place: str) -> None:
        self._tree = tree
        self._place = place

    def _below(self, path: str) -> str | None:
        if path == self._place:
            return ""
        return path[len(self._place) + 1 :] if path.startswith(self._place + "/") else None

    def read(self, path: str) -> bytes | None:
        """Return a file's content, None if there is none."""
        below = self._below(path)
        return self._tree.read(below) if below else None

    def entries(self, path: str) -> list[str]:
        """Return the names in a folder, sorted."""
        below = self._below(path)
        if below is not None:
            return self._tree.entries(below)
        prefix = f"{path}/" if path else ""
        return [self._place[len(prefix) :].split("/")[0]] if self._place.startswith(prefix) else []

    def link(self, path: str) -> str | None:
        """Return what a symbolic link points at."""
        below = self._below(path)
        return self._tree.link(below) if below else None


def root_with_sys(tree: Tree) -> Tree | None:
    """Return a tree with ``sys`` in its root, None if this one holds nothing of ``/sys``.

    Parameters
    ----------
    tree
        A host's root, or a copy of ``/sys``, of ``/sys/class/infiniband`` or of ``/sys/bus/pci/devices``.
    """
    if _is_sys(tree, "sys/"):
        return tree
    if _is_sys(tree, ""):
        return PlacedTree(tree, "sys")
    names = tree.entries("")[:64]
    if any(_BUS_ID.match(name) and tree.entries(name) for name in names):
        return PlacedTree(tree, "sys/bus/pci/devices")
    for name in names:
        ports = tree.entries(f"{name}/ports")
        if ports and {"state", "rate", "link_layer"} & set(tree.entries(f"{name}/ports/{ports[0]}")):
            return PlacedTree(tree, "sys/class/infiniband")
    return None


def _is_sys(tree: Tree, prefix: str) -> bool:
    if any(name.startswith("pci") or name == "system" for name in tree.entries(f"{prefix}devices")):
        return True
    return bool(tree.entries(f"{prefix}bus/pci/devices") or tree.entries(f"{prefix}class/infiniband"))
