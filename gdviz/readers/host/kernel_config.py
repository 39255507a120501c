"""The kernel's configuration: ``/boot/config-*``, ``/proc/config.gz`` unpacked, or grepped lines of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from gdviz.readers.reading import Reading
from gdviz.readers.text_lines import open_lines, short_lines

KIND = "kernel_config"
TITLE = "kernel configuration"

#: Options from which on a file counts as whole: an excerpt has a handful, a distribution's thousands.
_MANY = 500

_SET = re.compile(
    r"^\s*(?:[\w./+~-]{1,200}[:-])?(?:\d+:)?(?P<name>CONFIG_[A-Za-z0-9_]{1,80})=(?P<value>.*?)\s*$"
)
_UNSET = re.compile(
    r"^\s*(?:[\w./+~-]{1,200}:)?(?:\d+:)?#?\s*(?P<name>CONFIG_[A-Za-z0-9_]{1,80}) (?:is|are) not set\b"
)
_HINT = re.compile(r"CONFIG_[A-Z0-9_]{1,80}(?:=| is not set| are not set)")


@dataclass(frozen=True, slots=True)
class ConfigOption:
    """An option of the kernel.

    Attributes
    ----------
    value
        ``y``, ``m``, a number or text; ``n`` for ``# ... is not set``.
    line
        Line of the file, from 1.
    """

    value: str
    line: int


@dataclass(frozen=True, slots=True)
class KernelConfig:
    """Options by name.

    Attributes
    ----------
    options
        Such as ``CONFIG_PCI_P2PDMA``.
    whole
        Whether it is a whole configuration (it is long), so that an option that is not there is not set.
    line
        Line on which it begins.
    """

    options: Mapping[str, ConfigOption]
    whole: bool
    line: int

    def get(self, name: str) -> ConfigOption | None:
        """Return an option, None where the file does not name it."""
        return self.options.get(name)


def looks_like(text: str) -> bool:
    """Return whether a line sets an option, or says that it is not set."""
    if not _HINT.search(text):
        return False
    return any(_SET.match(line) or _UNSET.match(line) for line in short_lines(text) if "CONFIG_" in line)


def read(data: bytes | str, *, name: str = "node", source: str = "") -> Reading:
    """Read all options.

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
    options: dict[str, ConfigOption] = {}
    for number, line in enumerate(lines, 1):
        if "CONFIG_" not in line:
            continue
        if match := _UNSET.match(line):
            options[match["name"]] = ConfigOption("n", number)
        elif match := _SET.match(line):
            options[match["name"]] = ConfigOption(match["value"].strip("\"'"), number)
    begin = min((option.line for option in options.values()), default=1)
    facts = KernelConfig(options, len(options) >= _MANY, begin)
    return Reading(KIND, source, facts=facts, notices=odd, lines=lines)
