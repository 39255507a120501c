"""What ``modinfo`` says of a kernel module."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gdviz.readers.reading import Reading
from gdviz.readers.text_lines import command_of, has_any, open_lines

KIND = "modinfo"
TITLE = "modinfo"

_FIELD = re.compile(
    r"^(?P<key>filename|version|license|description|author|srcversion|alias|depends|retpoline|name|vermagic|parm"
    r"|sig_id|signer|sig_key|sig_hashalgo|signature|supported|firmware|intree|softdep|import_ns):\s*(?P<value>.*)$"
)
_FILE = re.compile(r"(?m)^filename:\s+\S")
_OF_FILE = re.compile(r"([\w-]+)\.ko(?:\.\w+)?$")
_OF_COMMAND = re.compile(r"\bmodinfo\s+([\w-]+)")
_KEPT = ("name", "version", "license", "vermagic", "filename", "depends")


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


def looks_like(text: str) -> bool:
    """Return whether the fields of ``modinfo`` are there."""
    if not has_any(text, ("filename:", "vermagic:")):
        return False
    if _FILE.search(text):
        return True
    return re.search(r"(?m)^vermagic:\s+\d", text) is not None


def read(data: bytes | str, *, name: str = "node", source: str = "") -> Reading:
    """Read all modules.

    Parameters
    ----------
    data
        The file's content.
    name
        Not used.
    source
        Where it was read.
    """
    lines, odd = open_lines(data)
    found: list[dict[str, tuple[str, int]]] = []
    asked = ""
    for number, line in enumerate(lines, 1):
        if (command := command_of(line)) is not None:
            match = _OF_COMMAND.search(command)
            asked = match[1] if match else ""
            if match:
                found.append({"asked": (asked, number)})
            continue
        match = _FIELD.match(line)
        if not match or match["key"] not in _KEPT:
            continue
        key = match["key"]
        if not found or (key == "filename" and key in found[-1]) or (key in found[-1] and key != "depends"):
            found.append({})
        found[-1].setdefault(key, (match["value"].strip(), number))
    modules = tuple(_module(fields) for fields in found if set(fields) - {"asked"})
    return Reading(KIND, source, facts=ModuleInfos(modules), notices=odd, lines=lines)


def _module(fields: dict[str, tuple[str, int]]) -> ModuleInfo:
    text = {key: value for key, (value, _line) in fields.items()}
    of_file = _OF_FILE.search(text.get("filename", ""))
    name = text.get("name") or (of_file[1] if of_file else "") or text.get("asked", "")
    told = {key: line for key, (_value, line) in fields.items() if key != "asked"}
    return ModuleInfo(
        name.replace("-", "_"),
        min(told.values()),
        text.get("version", ""),
        text.get("license", ""),
        text.get("vermagic", ""),
        text.get("filename", ""),
        tuple(part for part in text.get("depends", "").split(",") if part),
        tuple(told.items()),
    )
