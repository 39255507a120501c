"""What ``modinfo`` says of a kernel module."""

from __future__ import annotations

from dataclasses import dataclass

KIND = "modinfo"
TITLE = "modinfo"


@dataclass(frozen=True, slots=True)
class ModuleInfo:
    """A module as it lies on disk.

    Attributes
    ----------
    name
        With underscores; empty where the text does not say.
    version, license, vermagic, filename, depends
        The fields of ``modinfo``; empty where missing.
    line
        Line on which it begins.
    lines
        Line of each field by its name.
    """

    name: str
    line: int
    version: str = ""
    license: str = ""
    vermagic: str = ""
    filename: str = ""
    depends: tuple[str, ...] = ()
    lines: tuple[tuple[str, int], ...] = ()

    def line_of(self, field: str) -> int:
        """Return the line of a field, or that on which the module begins."""
        return dict(self.lines).get(field, self.line)


@dataclass(frozen=True, slots=True)
class ModuleInfos:
    """All modules of a file."""

    modules: tuple[ModuleInfo, ...]
