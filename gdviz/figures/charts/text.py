"""Text twins: plain tables, aligned, for terminals, tests and screen readers."""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import east_asian_width

from gdviz.figures.text_size import plain


def width_of(text: str) -> int:
    """Return the columns that `text` takes in a terminal (Chinese signs take two)."""
    return sum(2 if east_asian_width(sign) in "WF" else 1 for sign in text)


def _pad(text: str, width: int, *, right: bool) -> str:
    room = " " * (width - width_of(text))
    return room + text if right else text + room


def table(headings: Sequence[str], rows: Sequence[Sequence[object]], *, left: int = 1) -> str:
    """Return rows as an aligned table.

    Parameters
    ----------
    headings
        One a column.
    rows
        Cells; what is not text yet becomes text by ``str``.
    left
        How many columns, from the first on, are aligned to the left; the others, numbers, to the right.

    Examples
    --------
    >>> print(table(("stage", "time"), [("post", "50.0 ns"), ("wire", "1.31 µs")]))
    stage     time
    post   50.0 ns
    wire   1.31 µs
    """
    lines = [[plain(str(cell)) for cell in row] for row in (headings, *rows)]
    widths = [max(width_of(line[column]) for line in lines) for column in range(len(headings))]
    return "\n".join(
        "  ".join(
            _pad(cell, widths[column], right=column >= left) for column, cell in enumerate(line)
        ).rstrip()
        for line in lines
    )
