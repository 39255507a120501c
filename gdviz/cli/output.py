"""How every command prints: aligned text for people, one object for programs.

Strings of files are escaped before they reach the terminal.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence

import click


def printable(text: str) -> str:
    r"""Return text that is safe on a terminal: what is no printable character becomes an escape.

    Examples
    --------
    >>> print(printable("mlx5\x1b[31m_0"))
    mlx5\x1b[31m_0
    """
    return "".join(ch if ch.isprintable() else ascii(ch)[1:-1] for ch in text)


def print_json(value: object) -> None:
    """Print one JSON object."""
    # Everything outside ASCII is escaped already; DEL is the one control character in it that is not.
    click.echo(json.dumps(value, indent=2).replace("\x7f", "\\u007f"))


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows under a head, aligned; every cell is escaped."""
    table = [[printable(cell) for cell in row] for row in (head, *rows)]
    widths = [max(map(_columns, column)) for column in zip(*table, strict=True)]
    for row in table:
        cells = (cell + " " * (width - _columns(cell)) for cell, width in zip(row, widths, strict=True))
        click.echo("  ".join(cells).rstrip())


def _columns(text: str) -> int:
    """Columns on a terminal: East Asian wide characters take two."""
    return sum(2 if unicodedata.east_asian_width(ch) in "WF" else 1 for ch in text)


def gbps(bytes_per_s: float | None) -> float | None:
    """Return a rate in Gb/s; None stays None."""
    return None if bytes_per_s is None else round(bytes_per_s * 8 / 1e9, 3)
