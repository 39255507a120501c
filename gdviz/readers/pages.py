"""One text to its readings, also where several formats are pasted together.

A Markdown page or a forum post holds listings in fences, a terminal's transcript holds them between
prompts. Each such block goes to every format that knows it, with as many empty lines before it as
stand above it in the page, so that line numbers stay the page's own.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gdviz.readers.formats import Format, Scope
from gdviz.readers.reading import Reading
from gdviz.readers.text_lines import command_of, dedented, split_lines

#: Blocks into which a page is cut at most, and lines of padding that they may cost together.
MAX_BLOCKS = 400
MAX_PADDING = 20_000_000

#: Characters at either end of a large text by which formats that pick lines know it: a job prints its
#: environment before millions of lines of log, not among them.
MAX_END = 2 * 2**20

#: Characters of a text that may be one word and nothing else.
_WORD = 200

_FENCE = re.compile(r"^(?P<quote>[\s>]{0,12})(?P<mark>`{3,}|~{3,})(?P<rest>[^`]*)$")
_PRE = re.compile(r"^\s*<(?P<close>/?)(?:pre|code)\b[^>]*>\s*$", re.IGNORECASE)
_LITERAL = re.compile(
    r"^\s*(?:\.\. (?:code-block|sourcecode|highlight|literalinclude|parsed-literal)::.*|.*::)\s*$"
)
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")


@dataclass(frozen=True, slots=True)
class Block:
    """Lines of a page that belong together; `start` counts from 0."""

    start: int
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """The block alone."""
        return "\n".join(self.lines)

    @property
    def printed(self) -> Block:
        """What stands below the command that a terminal's transcript begins with."""
        if self.lines and command_of(self.lines[0]) is not None:
            return Block(self.start + 1, self.lines[1:])
        return self

    @property
    def padded(self) -> str:
        """The block with an empty line for each line above it."""
        text = self.text
        if self.start and (match := _DECLARATION.match(text)):
            # An XML declaration is only legal at the very start of a text.
            text = re.sub(r"[^\n]", " ", match[0]) + text[match.end() :]
        return "\n" * self.start + text


def read_page(
    data: bytes | str, text: str, formats: Sequence[Format], *, name: str, source: str
) -> tuple[Reading, ...]:
    """Return what all formats find in a text; nothing if none knows it.

    Parameters
    ----------
    data, text
        The file's content as it was read, and as text.
    formats
        Who may read it.
    name, source
        Name for machines, and the file's path.
    """
    if document := _document(data, text, formats, name=name, source=source):
        return (document,)
    lines = tuple(split_lines(text))
    blocks = cut(lines)
    by_block = [known for known in formats if known.scope is not Scope.LINES]
    found: list[Reading] = []
    for block in blocks:
        whole = len(blocks) == 1
        found += _read(data if whole else None, block, by_block, name=name, source=source)
    if not found and len(blocks) > 1:
        listings = [known for known in formats if known.scope is Scope.BLOCK]
        found += _read(data, Block(0, lines), listings, name=name, source=source)
    pickers = [known for known in formats if known.scope is Scope.LINES]
    found += _read(data, Block(0, lines), pickers, name=name, source=source, text=text)
    if not found and len(text) < _WORD and len(text.split()) == 1:
        hinted = [known for known in formats if any(hint in name.lower() for hint in known.hints)]
        found += [known.read(data, name=name, source=source) for known in hinted[:1]]
    return tuple(replace(reading, lines=lines) for reading in found)


def _document(
    data: bytes | str, text: str, formats: Sequence[Format], *, name: str, source: str
) -> Reading | None:
    for known in formats:
        if known.scope is Scope.DOCUMENT and known.looks_like(text):
            return known.read(data, name=name, source=source)
    return None


def _read(
    data: bytes | str | None,
    block: Block,
    formats: Sequence[Format],
    *,
    name: str,
    source: str,
    text: str | None = None,
) -> list[Reading]:
    alone = block.text if text is None else text
    if not alone.strip():
        return []
    if len(alone) > 2 * MAX_END:  # what a long log is, its ends tell
        alone = f"{alone[:MAX_END]}\n{alone[-MAX_END:]}"
    printed = block.printed
    document = "" if printed is block and data is not None else printed.text
    found = []
    for known in formats:
        if known.scope is Scope.DOCUMENT:
            # A document in one piece was looked for before the page was cut.
            if document and known.looks_like(document):
                return [known.read(printed.padded, name=name, source=source)]
        elif known.looks_like(alone):
            content = data if data is not None else block.padded
            found.append(known.read(content, name=name, source=source))
    return found


def cut(lines: Sequence[str]) -> list[Block]:
    """Cut a page at its fences, literal blocks and prompts; a plain file is one block."""
    blocks = [part for block in _fenced(lines) for part in _at_prompts(block)]
    blocks = [block for block in blocks if any(line.strip() for line in block.lines)]
    if len(blocks) < 2 or len(blocks) > MAX_BLOCKS or sum(block.start for block in blocks) > MAX_PADDING:
        return [Block(0, tuple(lines))]
    return blocks


def _fenced(lines: Sequence[str]) -> list[Block]:
    blocks: list[Block] = []
    begin = 0
    closer = ""

    def close(end: int, *, literal: bool) -> None:
        if end > begin:
            part = lines[begin:end]
            blocks.append(Block(begin, tuple(dedented(part) if literal else part)))

    number = 0
    while number < len(lines):
        line = lines[number]
        fence = _FENCE.match(line) if "```" in line or "~~~" in line else None
        pre = _PRE.match(line) if "<" in line else None
        if closer:
            if (fence and fence["mark"].startswith(closer)) or (pre and closer == "pre" and pre["close"]):
                close(number, literal=True)
                begin, closer = number + 1, ""
        elif fence:
            close(number, literal=False)
            begin, closer = number + 1, fence["mark"]
        elif pre and not pre["close"]:
            close(number, literal=False)
            begin, closer = number + 1, "pre"
        elif "::" in line and _LITERAL.match(line) and (end := _literal_end(lines, number)):
            close(number + 1, literal=False)
            begin = number + 1
            close(end, literal=True)
            begin = number = end
            continue
        number += 1
    close(len(lines), literal=bool(closer))
    return blocks


def _literal_end(lines: Sequence[str], number: int) -> int:
    """Return the line after reStructuredText's indented block below a ``::``, 0 if there is none."""
    margin = len(lines[number]) - len(lines[number].lstrip())
    end = last = number + 1
    while end < len(lines):
        line = lines[end]
        if line.strip():
            if len(line) - len(line.lstrip()) <= margin:
                break
            last = end + 1
        end += 1
    return last if last > number + 1 else 0


def _at_prompts(block: Block) -> list[Block]:
    borders = [number for number, line in enumerate(block.lines) if command_of(line) is not None]
    if not borders:
        return [block]
    edges = sorted({0, *borders, len(block.lines)})
    return [Block(block.start + first, block.lines[first:last]) for first, last in itertools.pairwise(edges)]
