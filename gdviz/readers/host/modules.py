"""Loaded kernel modules: ``lsmod`` and ``/proc/modules``."""

from __future__ import annotations

from dataclasses import dataclass

KIND = "lsmod"
TITLE = "lsmod"


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
