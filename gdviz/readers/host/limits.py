"""How much memory may be locked: ``ulimit``, ``/proc/*/limits``, ``prlimit``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gdviz.readers.reading import Reading
from gdviz.readers.text_lines import command_of, has_any, open_lines, short_lines, transcript

KIND = "ulimit"
TITLE = "ulimit"

#: Parts of a file's name with which a lone word (``unlimited``, ``65536``) is taken for ``ulimit -l``:
#: such a file has nothing else by which to know it.
HINTS = ("ulimit", "memlock", "rlimit", "limits")

_AMOUNT = r"(?P<amount>unlimited|infinity|-1|\d{1,20})"
_TABLE = re.compile(rf"^\s*max locked memory\s+\((?P<unit>k?bytes),\s*-l\)\s+{_AMOUNT}\s*$", re.IGNORECASE)
_PROC = re.compile(
    rf"^\s*max locked memory\s+{_AMOUNT}(?:\s+(?P<hard>unlimited|\d{{1,20}}))?\s+bytes\b", re.IGNORECASE
)
_PRLIMIT = re.compile(
    r"^\s*MEMLOCK\s+max locked[- ]in[- ]memory[a-z ]{0,40}\s+"
    rf"{_AMOUNT}\s+(?P<hard>unlimited|\d{{1,20}})\s+bytes\b"
)
_LABEL = re.compile(
    r"^\s*(?:ulimit -H?S?l|max locked memory|memlock(?: limit)?)\s*(?:\((?P<unit>k?bytes|KiB)\))?\s*[:=]\s*"
    rf"{_AMOUNT}\b",
    re.IGNORECASE,
)
_WORD = re.compile(rf"^\s*{_AMOUNT}\s*$")
_COMMAND = re.compile(r"\bulimit\s+-[A-Za-z]*l\b(?!\s*[\w-])")
_ANY_COMMAND = re.compile(r"\bulimit\s+-[A-Za-z]*[la]|/limits\b|\bprlimit\b")
_HOSTS = re.compile(r"\s(?:-w|--nodelist|-H|--host)[ =]?\s*([\w.,\[\]-]+)|\bssh\s+(?:-\S+\s+){0,8}([\w.@-]+)")
_WORDS = ("locked", "Locked", "LOCKED", "ulimit", "memlock", "MEMLOCK", "rlimit")


@dataclass(frozen=True, slots=True)
class Limits:
    """The limit of locked memory.

    Attributes
    ----------
    memlock_bytes
        The soft limit; None: unlimited.
    line
        Line of the file, from 1.
    hard_bytes
        The hard limit where the text gives it; None: unlimited or not given.
    hosts
        Hosts for which it holds, where the command in the file names them (``srun -w node-b``).
    others
        Other limits of the same file; `memlock_bytes` is the lowest.
    """

    memlock_bytes: int | None
    line: int
    hard_bytes: int | None = None
    hosts: tuple[str, ...] = ()
    others: tuple[Limits, ...] = ()


def looks_like(text: str) -> bool:
    """Return whether a line gives the limit; a lone word is none (see `HINTS`)."""
    return has_any(text, _WORDS) and bool(_find(short_lines(text)))


def read(data: bytes | str, *, name: str = "node", source: str = "") -> Reading:
    """Read the lowest limit of locked memory that a text gives.

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
    found = _find(lines) or _alone(lines)
    facts = None
    if found:
        found.sort(key=lambda limit: (limit.memlock_bytes is None, limit.memlock_bytes))
        facts = replace(found[0], others=tuple(found[1:]))
    return Reading(KIND, source, facts=facts, notices=odd, lines=lines)


def _find(lines: Sequence[str]) -> list[Limits]:
    found: list[Limits] = []
    hosts: tuple[str, ...] = ()
    for number, line in enumerate(lines, 1):
        command = command_of(line)
        if command is not None:
            hosts = _hosts(command)
            continue
        if not has_any(line, _WORDS):
            continue
        for pattern in (_TABLE, _PROC, _PRLIMIT, _LABEL):
            if match := pattern.match(line):
                parts = match.groupdict()
                in_bytes = pattern in (_PROC, _PRLIMIT) or (parts.get("unit") or "").lower() == "bytes"
                scale = 1 if in_bytes else 1024
                hard = parts.get("hard")
                found.append(
                    Limits(
                        _bytes(parts["amount"], scale), number, _bytes(hard, scale) if hard else None, hosts
                    )
                )
                break
    for answer in transcript(lines):
        if answer.command and _COMMAND.search(answer.command) and answer.first:
            number, text = answer.first
            if match := _WORD.match(text):
                found.append(Limits(_bytes(match["amount"], 1024), number, None, _hosts(answer.command)))
    return found


def _alone(lines: Sequence[str]) -> list[Limits]:
    filled = [(number, line) for number, line in enumerate(lines[:50], 1) if line.strip()]
    if len(filled) == 1 and (match := _WORD.match(filled[0][1])):
        return [Limits(_bytes(match["amount"], 1024), filled[0][0])]
    return []


def _bytes(amount: str, scale: int) -> int | None:
    return int(amount) * scale if amount.isdecimal() else None


def _hosts(command: str) -> tuple[str, ...]:
    if not _ANY_COMMAND.search(command):
        return ()
    match = _HOSTS.search(command)
    if not match:
        return ()
    named = match[1] or match[2].rpartition("@")[2]
    return tuple(host for host in named.split(",") if host)
