"""The kernel that runs: ``uname``, ``/proc/version``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gdviz.readers.reading import Reading
from gdviz.readers.text_lines import has_any, lines_with, open_lines, short_lines, transcript

KIND = "uname"
TITLE = "uname or /proc/version"

_RELEASE = r"(?P<release>[2-9]\.\d{1,3}(?:\.\d{1,4})?[A-Za-z0-9._+~-]{0,80})"
_LABEL = (
    r"(?:\S{0,3}\s*(?:uname -a|uname -r|kernel(?: version| release)?|linux kernel(?: version)?)\s*[:=]\s*)"
)
_FULL = re.compile(
    rf"(?i:^\s*{_LABEL}?)Linux (?P<host>[\w.-]{{1,255}}) {_RELEASE}"
    r"(?=\s.{0,300}(?:GNU/Linux|SMP|PREEMPT|#\d))"
)
_VERSION = re.compile(rf"(?i:^\s*{_LABEL}?)Linux version {_RELEASE}(?=\s|$)")
_LABELLED = re.compile(rf"^\s*{_LABEL}{_RELEASE}(?=[\s,;)]|$)", re.IGNORECASE)
#: A release alone in a file has to be longer than a version number of anything else.
_ALONE = re.compile(rf"^\s*(?=\d\.\d+\.\d+[-.+]){_RELEASE}\s*$")
_BARE = re.compile(rf"^\s*{_RELEASE}\s*$")
_NUMBERS = re.compile(r"\d+")
_WORDS = ("Linux ", "linux ", "LINUX ", "uname", "kernel", "Kernel", "KERNEL")


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel.

    Attributes
    ----------
    release
        Such as ``5.15.0-105-generic``.
    version
        Its leading numbers: ``(5, 15, 0)``.
    machine
        Such as ``x86_64``; empty where the text does not say.
    host
        The node's name, as ``uname -n`` prints it; empty where the text does not say.
    line
        Line of the file, from 1.
    """

    release: str
    version: tuple[int, ...]
    line: int
    machine: str = ""
    host: str = ""


def looks_like(text: str) -> bool:
    """Return whether a line names a kernel."""
    if has_any(text, _WORDS):
        return bool(_find(short_lines(text)))
    return len(text) < 200 and bool(_ALONE.match(text))


def read(data: bytes | str, *, name: str = "node", source: str = "") -> Reading:
    """Read the first kernel that a text names.

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


def kernel_from(release: str, line: int, *, machine: str = "", host: str = "") -> Kernel:
    """Return a kernel by its release.

    Examples
    --------
    >>> kernel_from("5.15.0-105-generic", 1).version
    (5, 15, 0)
    """
    leading = re.match(r"[\d.]*", release)
    numbers = tuple(int(part) for part in _NUMBERS.findall(leading[0] if leading else ""))
    return Kernel(release, numbers, line, machine, host)


def _find(lines: Sequence[str]) -> Kernel | None:
    for place in lines_with(lines, _WORDS):
        number, line = place + 1, lines[place]
        for pattern in (_VERSION, _FULL, _LABELLED):
            if match := pattern.match(line):
                found = match.groupdict()
                machine = found.get("machine") or next(
                    (word for word in line.split() if word in ("x86_64", "aarch64", "ppc64le")), ""
                )
                return kernel_from(found["release"], number, machine=machine, host=found.get("host") or "")
    return _answered(lines) or _alone(lines)


def _answered(lines: Sequence[str]) -> Kernel | None:
    for answer in transcript(lines):
        if "uname" in answer.command and answer.first:
            number, text = answer.first
            if match := _BARE.match(text):
                return kernel_from(match["release"], number)
    return None


def _alone(lines: Sequence[str]) -> Kernel | None:
    filled = [(number, line) for number, line in enumerate(lines[:50], 1) if line.strip()]
    if len(filled) == 1 and len(lines) <= 50 and (match := _ALONE.match(filled[0][1])):
        return kernel_from(match["release"], filled[0][0])
    return None
