"""Lines of plain text: what the readers of listings, logs and transcripts share."""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gdviz.machine import Notice
from gdviz.readers.source import to_text

#: Longest line that is looked at; the rest of a longer one is ignored. A kernel's command line is the
#: longest that counts.
MAX_LINE = 4096

#: ``$ cmd``, ``user@host:~$ cmd``, ``[root@host ~]# cmd``. A bare ``#`` is a remark as often as a prompt.
_PROMPT = re.compile(
    r"^\s{0,8}(?:\$|\[?[\w.-]{1,64}@[\w.-]{1,64}(?:[:\s][^$#\]\n]{0,120})?\]?\s?[$#])\s+(?P<command>\S.*)$"
)

_INDENT = re.compile(r"^[ \t]*")


def split_lines(text: str) -> list[str]:
    r"""Return the lines of a text as editors count them: only ``\n``, ``\r\n`` and ``\r`` end one."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return lines


def short_lines(text: str) -> list[str]:
    """Return the lines of a text, each cut after `MAX_LINE` characters."""
    lines = split_lines(text)
    if len(text) > MAX_LINE:
        lines = [line[:MAX_LINE] if len(line) > MAX_LINE else line for line in lines]
    return lines


def open_lines(data: bytes | str) -> tuple[tuple[str, ...], tuple[Notice, ...]]:
    """Return the lines of a file's content, each cut, and what was odd in decoding it."""
    text, notices = to_text(data)
    return tuple(short_lines(text)), notices


def has_any(text: str, words: Sequence[str]) -> bool:
    """Return whether one of some words is in a text; many times faster than a pattern of them."""
    return any(word in text for word in words)


def lines_with(lines: Sequence[str], words: Sequence[str]) -> list[int]:
    """Return the positions, from 0, of lines that hold one of some words.

    The words are looked for in all lines at once: listings have tens of thousands of lines, and few hits.
    """
    text = "\n".join(lines)
    starts = [0, *itertools.accumulate(len(line) + 1 for line in lines)]
    found: set[int] = set()
    for word in words:
        at = text.find(word)
        while at >= 0:
            line = bisect.bisect_right(starts, at) - 1
            found.add(line)
            at = text.find(word, starts[line + 1])
    return sorted(found)


def command_of(line: str) -> str | None:
    """Return the command after a shell's prompt, None for a line that has no prompt.

    Examples
    --------
    >>> command_of("$ uname -r"), command_of("[root@a ~]# lsmod"), command_of("# a remark")
    ('uname -r', 'lsmod', None)
    """
    if "$" not in line[:260] and "@" not in line[:80]:
        return None
    match = _PROMPT.match(line[:MAX_LINE])
    return match["command"].rstrip() if match else None


def dedented(lines: Sequence[str]) -> tuple[str, ...]:
    """Return lines without the white space that all of them begin with."""
    margin: str | None = None
    for line in lines:
        if line.strip():
            indent = _INDENT.match(line)
            space = indent[0] if indent else ""
            margin = space if margin is None else _common(margin, space)
            if not margin:
                return tuple(lines)
    width = len(margin or "")
    return tuple(line[width:] if line.strip() else line for line in lines)


def _common(left: str, right: str) -> str:
    length = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        length += 1
    return left[:length]


@dataclass(frozen=True, slots=True)
class Answer:
    """A command of a transcript with what it printed.

    Attributes
    ----------
    command
        The command; empty for what stands above the first prompt.
    line
        Its line, from 1; 0 where there is no command.
    printed
        The lines below it up to the next prompt, each with its number.
    """

    command: str
    line: int
    printed: tuple[tuple[int, str], ...]

    @property
    def first(self) -> tuple[int, str] | None:
        """The first line that is not blank."""
        return next(((number, text) for number, text in self.printed if text.strip()), None)


def transcript(lines: Sequence[str]) -> Iterator[Answer]:
    """Go through the commands of a terminal's transcript; a text without prompts is one answer."""
    command, start = "", 0
    printed: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        found = command_of(line)
        if found is None:
            printed.append((number, line))
            continue
        if command or printed:
            yield Answer(command, start, tuple(printed))
        command, start, printed = found, number, []
    if command or printed:
        yield Answer(command, start, tuple(printed))
