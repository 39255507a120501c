"""What people note of a host: commands with their answers, ``label: value`` lines, remarks.

Such files (``env.txt``, a forum post) have no format. Known statements are picked out line by line and
the rest is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gdviz.readers.host.note_patterns import ANSWERS, COMMAND_WORDS, LINES, WORDS, WORDS_OF
from gdviz.readers.reading import Reading
from gdviz.readers.text_lines import Answer, command_of, has_any, open_lines, short_lines, transcript

KIND = "host_notes"
TITLE = "notes on a host"

#: Statements that are kept of one file.
MAX_STATEMENTS = 20_000


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that a line states.

    Attributes
    ----------
    kind
        What is stated, see `gdviz.readers.host.note_patterns.KINDS`.
    subject
        Of what: a path, a bus id, a device, a module, an attribute; may be empty.
    value
        What is said of it.
    line
        Line of the file, from 1.
    """

    kind: str
    subject: str
    value: str
    line: int


@dataclass(frozen=True, slots=True)
class HostNotes:
    """Statements in the file's order."""

    statements: tuple[Statement, ...]

    def of(self, kind: str, subject: str | None = None) -> tuple[Statement, ...]:
        """Return the statements of a kind, perhaps only those about one subject."""
        return tuple(
            statement
            for statement in self.statements
            if statement.kind == kind and subject in (None, statement.subject)
        )


def looks_like(text: str) -> bool:
    """Return whether a line states something that is known."""
    return (has_any(text, WORDS) or has_any(text, COMMAND_WORDS)) and next(
        _statements(short_lines(text), text), None
    ) is not None


def read(data: bytes | str, *, name: str = "node", source: str = "") -> Reading:
    """Read all statements.

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
    found = []
    for statement in _statements(lines, "\n".join(lines)):
        found.append(statement)
        if len(found) >= MAX_STATEMENTS:
            break
    return Reading(KIND, source, facts=HostNotes(tuple(found)), notices=odd, lines=lines)


def _statements(lines: Sequence[str], text: str) -> Iterator[Statement]:
    # A large log has few of the words, if any: only these are looked for line by line.
    words = [word for word in WORDS if word in text]
    for number, line in enumerate(lines if words else (), 1):
        if not has_any(line, words) or command_of(line) is not None:
            continue
        there = {word for word in words if word in line}
        for kind, pattern, value in LINES:
            if there.isdisjoint(WORDS_OF[kind]):
                continue
            for match in pattern.finditer(line):
                parts = match.groupdict()
                said = (parts.get("value") or value).strip()
                yield Statement(kind, (parts.get("subject") or "").strip(), said, number)
    if not has_any(text, COMMAND_WORDS):
        return
    answers = tuple(transcript(lines))
    yield from _without_peermem(answers)
    for answer in answers:
        if answer.command and answer.printed and has_any(answer.command, COMMAND_WORDS):
            yield from _answered(answer)


#: ``lsmod`` through a filter, and what it is filtered for.
_FILTERED = re.compile(r"\blsmod\b.{0,40}\|\s*(?:sudo )?(?:e|f|z)?grep\s+(?P<rest>[^|>;&]{1,200})")
_PEERMEM = "nvidia_peermem"


def _without_peermem(answers: Sequence[Answer]) -> Iterator[Statement]:
    """Go through the lists of modules that were filtered for the peer-memory module and do not have it.

    A text in which no command has an answer tells what to type, not what came out.
    """
    if not any(answer.printed for answer in answers if answer.command):
        return
    for answer in answers:
        asked = _FILTERED.search(answer.command)
        if asked is None or " -v" in f" {asked['rest']}":
            continue
        words = [word for word in re.split(r"[\s'\"|\\()]+", asked["rest"]) if word and word[0] != "-"]
        printed = [text for _number, text in answer.printed if text.strip()]
        if not any(word.replace("-", "_") in _PEERMEM for word in words) or has_any(
            "\n".join(printed), ("peermem", "peer_mem")
        ):
            continue
        if printed in ([], ["0"]) or any(re.match(r"nvidia\s+\d", text) for text in printed):
            said = "0" if printed == ["0"] else "no nvidia_peermem"
            yield Statement("peermem-absent", "", said, answer.line)


def _answered(answer: Answer) -> Iterator[Statement]:
    for kind, command, line in ANSWERS:
        asked = command.search(answer.command)
        if asked is None:
            continue
        subject = (asked.groupdict().get("subject") or "").strip()
        for number, text in answer.printed:
            if match := line.match(text):
                inner = (match.groupdict().get("subject") or "").strip()
                where = f"{subject.rstrip('/')}/{inner}" if inner and subject else inner or subject
                yield Statement(kind, where, (match.groupdict().get("value") or "present").strip(), number)
