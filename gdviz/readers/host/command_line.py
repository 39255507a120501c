"""The kernel's command line: ``/proc/cmdline``, GRUB's settings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gdviz.readers.reading import Reading
from gdviz.readers.text_lines import has_any, open_lines, short_lines, transcript

KIND = "cmdline"
TITLE = "kernel command line"

_LABEL = re.compile(
    r"^\s*(?:cat\s+)?(?:/proc/cmdline|(?:kernel )?(?:cmdline|command line)|boot args)"
    r"\s*[:=]\s*(?P<rest>\S.*)$",
    re.IGNORECASE,
)
_GRUB = re.compile(r"^\s*GRUB_CMDLINE_LINUX(?:_DEFAULT)?=(?P<quote>[\"']?)(?P<rest>.*?)(?P=quote)\s*$")
_BOOT = re.compile(r"^\s*(?:BOOT_IMAGE=|initrd=|root=)\S*(?:\s|$)")
_TELLING = re.compile(
    r"(?:^|\s)(?:root=|iommu(?:\.\w+)?=|intel_iommu=|amd_iommu=|console=|initrd=|BOOT_IMAGE=|pci=|rootfstype=)"
)
_WORD = re.compile(r"^[A-Za-z_][\w.,-]*(?:=\S*)?$|^--$")
_WORDS = (*("cmdline", "CMDLINE", "ommand line", "boot args", "BOOT_IMAGE=", "root=", "iommu=", "console="),)


@dataclass(frozen=True, slots=True)
class KernelCommandLine:
    """What the boot loader told the kernel.

    Attributes
    ----------
    arguments
        Word by word, such as ``iommu=pt``.
    line
        Line of the file, from 1.
    running
        Whether a kernel was started with it; False for what GRUB is set to for the next start.
    """

    arguments: tuple[str, ...]
    line: int
    running: bool = True

    def get(self, name: str) -> str | None:
        """Return the value of an argument (the last one counts), '' for a bare word, None if missing."""
        for argument in reversed(self.arguments):
            key, _, value = argument.partition("=")
            if key == name:
                return value
        return None


def looks_like(text: str) -> bool:
    """Return whether a line is a kernel's command line."""
    return has_any(text, _WORDS) and _find(short_lines(text)) is not None


def read(data: bytes | str, *, name: str = "node", source: str = "") -> Reading:
    """Read the command line of the running kernel, else the one that GRUB is set to.

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


def command_line_from(text: str, line: int, *, running: bool = True) -> KernelCommandLine:
    """Return a command line word by word.

    Examples
    --------
    >>> command_line_from("ro iommu=pt", 1).get("iommu")
    'pt'
    """
    return KernelCommandLine(tuple(text.split()), line, running)


def _find(lines: Sequence[str]) -> KernelCommandLine | None:
    filled = [(number, line) for number, line in enumerate(lines, 1) if has_any(line, _WORDS)]
    if not filled:
        return None
    for answer in transcript(lines):
        if "/proc/cmdline" in answer.command and "grep" not in answer.command and answer.first:
            number, text = answer.first
            if "No such file" not in text:
                return command_line_from(text, number)
    configured = None
    for number, line in filled:
        if match := _LABEL.match(line):
            if _is_command_line(match["rest"]):
                return command_line_from(match["rest"], number)
        elif match := _GRUB.match(line):
            words = match["rest"]
            joined = (*(configured.arguments if configured else ()), *words.split())
            configured = KernelCommandLine(joined, configured.line if configured else number, running=False)
        elif _BOOT.match(line) and _is_command_line(line):
            return command_line_from(line, number)
    if configured is not None:
        return configured
    alone = [line for line in lines[:20] if line.strip()]
    if len(alone) == 1 and len(lines) <= 20 and _is_command_line(alone[0]):
        return command_line_from(alone[0], filled[0][0])
    return None


def _is_command_line(text: str) -> bool:
    words = text.split()
    good = sum(1 for word in words if _WORD.match(word))
    return bool(_TELLING.search(text)) and good * 10 >= len(words) * 8
