"""NVIDIA's kernel driver, its version and whether it is the open one: ``/proc/driver/nvidia/version``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gdviz.readers.reading import Reading
from gdviz.readers.text_lines import has_any, open_lines, short_lines, transcript

KIND = "nvidia_driver"
TITLE = "NVIDIA driver version"

_BANNER = re.compile(
    r"(?:NVRM version:|NVRM: loading)\s*NVIDIA UNIX\s+(?P<open>Open )?(?:\S+ )?Kernel Module(?:\s+for \S+)?"
    r"\s+(?P<version>\d{2,4}\.\d{1,3}(?:\.\d{1,3})?)"
)
_LABEL = re.compile(
    r"^\s*\S{0,2}\s*(?:nvidia[ -])?(?:kernel )?driver(?: version)?\s*[:=]?\s+"
    r"(?P<version>\d{3}\.\d{1,3}(?:\.\d{1,3})?)\b(?P<rest>.*)$",
    re.IGNORECASE,
)
_SMI = re.compile(r"NVIDIA-SMI\s.{0,60}Driver Version:\s*(?P<version>\d{3}\.\d{1,3}(?:\.\d{1,3})?)")
_LICENCE = re.compile(r"\bmodinfo\b.*\blicen[sc]e\b.*\bnvidia\b|\bmodinfo\b.*\bnvidia\b.*\blicen[sc]e\b")
_VERSION_FILE = re.compile(r"/sys/module/nvidia/version\b")
_VERSION = re.compile(r"^\s*(?P<version>\d{3}\.\d{1,3}(?:\.\d{1,3})?)\s*$")
_OPEN = re.compile(r"\bopen\b|\bnvidia-open\b", re.IGNORECASE)
_CLOSED = re.compile(r"\b(?:closed|proprietary)\b", re.IGNORECASE)
_WORDS = ("NVRM", "river", "RIVER", "modinfo", "NVIDIA-SMI", "/sys/module/nvidia/version")


@dataclass(frozen=True, slots=True)
class NvidiaDriver:
    """The driver that is loaded.

    Attributes
    ----------
    version
        Such as ``550.127.05``; empty where the text does not say.
    is_open
        Whether these are the open kernel modules; None where the text does not say.
    line
        Line of the file, from 1.
    """

    version: str
    is_open: bool | None
    line: int


def looks_like(text: str) -> bool:
    """Return whether a line names NVIDIA's driver with its version, or its licence."""
    return has_any(text, _WORDS) and _find(short_lines(text)) is not None


def read(data: bytes | str, *, name: str = "node", source: str = "") -> Reading:
    """Read the driver's version and whether its kernel modules are the open ones.

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
    return Reading(KIND, source, facts=_find(lines), notices=odd, lines=lines)


def is_open_licence(text: str) -> bool | None:
    """Return whether ``modinfo -F license nvidia`` printed the open modules' licence; None if neither."""
    text = text.strip()
    return False if text == "NVIDIA" else True if "GPL" in text else None


def _find(lines: Sequence[str]) -> NvidiaDriver | None:
    found: NvidiaDriver | None = None
    for number, line in enumerate(lines, 1):
        if "NVRM" in line and (match := _BANNER.search(line)):
            # The module's own banner settles both.
            return NvidiaDriver(match["version"], match["open"] is not None, number)
        if found is None and "river" in line:
            if match := _SMI.search(line):
                found = NvidiaDriver(match["version"], None, number)
            elif match := _LABEL.match(line):
                found = NvidiaDriver(match["version"], _said(match["rest"]), number)
    for answer in transcript(lines):
        if not answer.first or not answer.command:
            continue
        number, text = answer.first
        if _LICENCE.search(answer.command) and (is_open := is_open_licence(text)) is not None:
            found = replace(found, is_open=is_open) if found else NvidiaDriver("", is_open, number)
        elif _VERSION_FILE.search(answer.command) and (match := _VERSION.match(text)) and found is None:
            found = NvidiaDriver(match["version"], None, number)
    return found


def _said(rest: str) -> bool | None:
    if _CLOSED.search(rest):
        return False
    return True if _OPEN.search(rest) else None
