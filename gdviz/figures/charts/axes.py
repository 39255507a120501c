"""Where the ticks of the charts' fixed axes stand and what they say: pure arithmetic.

Bokeh's own tickers would write 0.0003 or 4.000e+6; people read '300' and '4 M'.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from gdviz.quantities import format_count, format_duration, format_rate, format_size

#: Ticks of a message size axis from 2 B to 64 MiB.
SIZE_TICKS = (2, 32, 2**10, 2**15, 2**20, 2**26)


def nice_end(value: float) -> float:
    """Return the next of 1, 1.5, 2, 3, 5, 8 times a power of ten that is not below `value`.

    Examples
    --------
    >>> nice_end(14.2), nice_end(0.0003), nice_end(50)
    (15.0, 0.0003, 50.0)
    """
    if not value > 0:
        return 1.0
    power: float = 10.0 ** math.floor(math.log10(value))
    for step in (1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 10.0):
        if value <= step * power * (1 + 1e-9):
            return float(f"{step * power:.6g}")
    return 10.0 * power


def linear_ticks(end: float, most: int = 5) -> list[float]:
    """Return at most `most` round steps between zero and `end`, zero first.

    Examples
    --------
    >>> linear_ticks(48.5)
    [0.0, 10.0, 20.0, 30.0, 40.0]
    """
    if not end > 0:
        return [0.0]
    power = 10.0 ** math.floor(math.log10(end / most))
    step = next(s * power for s in (1, 2, 2.5, 5, 10, 20) if end / (s * power) < most)
    return [float(f"{index * step:.9g}") for index in range(int(end / step * (1 + 1e-9)) + 1)]


def decades(low: float, high: float) -> list[float]:
    """Return the powers of ten from the one at or below `low` to the one at or above `high`."""
    first = math.floor(math.log10(low) + 1e-9)
    last = math.ceil(math.log10(high) - 1e-9)
    return [float(f"1e{power}") for power in range(first, max(last, first + 1) + 1)]


def decades_within(low: float, high: float) -> list[float]:
    """Return the powers of ten from `low` to `high`, both included."""
    return [tick for tick in decades(low, high) if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]


def thin(ticks: Sequence[float], most: int) -> list[float]:
    """Return every n-th of `ticks`, the last one among them, so that at most `most` stay."""
    step = max(1, math.ceil(len(ticks) / most))
    return list(ticks[::-1][::step][::-1])


def _short(text: str) -> str:
    """Take the digits from a quantity that a round tick does not need: '10.0 µs' to '10 µs'."""
    number, _, unit = text.partition(" ")
    if "." in number:
        number = number.rstrip("0").rstrip(".")
    return f"{number} {unit}".strip()


def rate_label(rate_bytes_per_s: float) -> str:
    """Return a tick of bandwidth: '10 GB/s'."""
    return _short(format_rate(rate_bytes_per_s)) if rate_bytes_per_s else "0"


def count_label(count: float) -> str:
    """Return a tick of a count: '15 M', '300'."""
    return _short(format_count(count)) if count else "0"


def time_label(seconds: float) -> str:
    """Return a tick of time: '10 µs'."""
    return _short(format_duration(seconds)) if seconds else "0"


def share_label(share: float) -> str:
    """Return a tick of a share: '25 %'."""
    return f"{share * 100:.6g} %"


def labels(ticks: Iterable[float], label: Callable[[float], str], unit: float = 1.0) -> dict[float, str]:
    """Return tick to text, for an axis whose numbers are in `unit` of what `label` takes.

    Examples
    --------
    >>> labels([0, 10.0], rate_label, unit=1e9)
    {0: '0', 10.0: '10 GB/s'}
    """
    return {tick: label(tick * unit) for tick in ticks}


def share_ticks(end_s: float, most: int = 8) -> dict[float, str]:
    """Return ticks of time on an axis on which `end_s` is 1.

    Examples
    --------
    >>> share_ticks(20e-6, most=3)
    {0.0: '0', 0.5: '10 µs', 1.0: '20 µs'}
    """
    return {float(f"{tick / end_s:.9g}"): time_label(tick) for tick in linear_ticks(end_s, most)}


def size_labels() -> dict[float, str]:
    """Return the ticks of a message size axis as people write them."""
    return {float(size): format_size(size) for size in SIZE_TICKS}
