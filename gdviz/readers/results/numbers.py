"""Numbers of tables: rates in the units that benchmarks print."""

from __future__ import annotations

import math
import re

_NUMBER = re.compile(r"^[+-]?(?:\d{1,18}(?:\.\d{0,18})?|\.\d{1,18})(?:[eE][+-]?\d{1,3})?$")

#: perftest's MB/sec is MiB a second unless --report_gbits is given.
MIB, GIGABIT, GIGABYTE, MEGABYTE = 2.0**20, 1e9 / 8, 1e9, 1e6


def number(text: str) -> float | None:
    """Return a finite number, None for anything else.

    Examples
    --------
    >>> number("12.5"), number("N/A"), number("1e999")
    (12.5, None, None)
    """
    if not _NUMBER.match(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def whole(text: str) -> int | None:
    """Return a whole number that is not negative, None for anything else."""
    return int(text) if text.isdecimal() and text.isascii() and len(text) < 19 else None


def times(text: str | None, unit: float) -> float | None:
    """Return a number in a unit, None where there is none."""
    value = None if text is None else number(text)
    return None if value is None else value * unit
