"""What a reader gives: machines, facts and notices, with the lines that establish them."""

from __future__ import annotations

from dataclasses import dataclass, field

from gdviz.machine import Machine, Notice

#: Characters of a line that an `Evidence` quotes.
MAX_QUOTED = 300


@dataclass(frozen=True, slots=True)
class Evidence:
    """The place in a file that establishes a statement.

    Attributes
    ----------
    file
        Path of the file, as the person gave it.
    line
        Its line, from 1; None where the statement rests on the file as a whole.
    text
        What stands there, at most `MAX_QUOTED` characters; never HTML.
    """

    file: str
    line: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What one format found in one file.

    Attributes
    ----------
    kind
        The format, see `gdviz.readers.FORMATS`.
    source
        Path of the file; empty where there was none.
    machines
        The machines it describes.
    facts
        What the format says besides: a frozen dataclass of its reader, each datum with its line.
    notices
        What could not be read or is odd, by line.
    truncated
        Whether the text ends in the middle.
    lines
        The text by line, for quoting; not compared.
    """

    kind: str
    source: str = ""
    machines: tuple[Machine, ...] = ()
    facts: object | None = None
    notices: tuple[Notice, ...] = ()
    truncated: bool = False
    lines: tuple[str, ...] = field(default=(), compare=False, repr=False)

    def cite(self, line: int | None, text: str | None = None) -> Evidence:
        """Return a line of the file as evidence.

        Parameters
        ----------
        line
            From 1; None for the file as a whole.
        text
            What to quote instead of the line.
        """
        if text is None:
            known = line is not None and 0 < line <= len(self.lines)
            text = self.lines[line - 1] if known and line is not None else ""
        text = text.strip()
        return Evidence(self.source, line, text if len(text) <= MAX_QUOTED else text[:MAX_QUOTED] + "...")
