"""Sizes, rates and durations as people write them.

Inside gdviz they are bytes, bytes per second and seconds; the unit is in the name. Binary prefixes
(KiB, MiB) are powers of 1024, decimal ones (kB, MB) powers of 1000; ``Gb/s`` is bits, ``GB/s`` bytes.
"""

from __future__ import annotations

import math
import operator
import re
from numbers import Real

from gdviz.errors import QuantityError
from gdviz.messages import _

_NUMBER = re.compile(
    r"^\s*([0-9]+(?:[_ ][0-9]{3})*(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+)\s*(\S.*?)?\s*$"
)
_DECIMAL = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
_BINARY = {"Ki": 2**10, "ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50}
_SIZE_UNIT = re.compile(r"^([kKMGTP]i?|)(?:B|bytes?)?$")
_RATE_UNIT = re.compile(r"^([kKMGTP]i?|)(B|b|bit|bits)(?:/s|ps)$")
_SECONDS = {
    "s": 1.0,
    "sec": 1.0,
    "ms": 1e-3,
    "us": 1e-6,
    "µs": 1e-6,
    "μs": 1e-6,
    "ns": 1e-9,
    "min": 60.0,
    "h": 3600.0,
}

#: Bare ``64k`` and ``64M`` mean what RDMA tools mean by them: powers of 1024.
_BARE = {"k": 2**10, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "P": 2**50}


def _split(text: str, what: str, example: str) -> tuple[float, str]:
    match = _NUMBER.match(text) if len(text) < 100 else None
    if not match:
        raise QuantityError(
            _("{text!r} is not a {what}.").format(text=text[:40], what=what),
            _("Write it like {example}.").format(example=example),
        )
    return float(match[1].replace("_", "").replace(" ", "")), match[2] or ""


def _number(value: object, what: str) -> float | None:
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    number = float(value)
    if not math.isfinite(number) or number < 0:
        raise QuantityError(_("A {what} cannot be {value}.").format(what=what, value=value))
    return number


def _finite(number: float, value: object, what: str) -> float:
    if not math.isfinite(number):
        raise QuantityError(_("{value} is too large for a {what}.").format(value=value, what=what))
    return number


def parse_size(value: str | int) -> int:
    """Return a number of bytes from ``'64 MiB'``, ``'4 kB'``, ``'64k'`` or a plain number.

    Parameters
    ----------
    value
        Text with or without a unit (no unit: bytes), or a whole number of bytes.

    Returns
    -------
    int
        Bytes.

    Raises
    ------
    QuantityError
        Not a size, negative, or not a whole number of bytes.

    Examples
    --------
    >>> parse_size("64 MiB"), parse_size("4k"), parse_size("2 B")
    (67108864, 4096, 2)
    """
    number = _number(value, _("size"))
    scale = 1
    if number is None:
        number, unit = _split(str(value), _("size"), "'64 MiB'")
        match = _SIZE_UNIT.match(unit)
        if not match:
            raise QuantityError(
                _("{unit!r} is not a unit of size.").format(unit=unit[:20]),
                _("Use B, KiB, MiB, GiB, kB, MB or GB."),
            )
        prefix = match[1]
        bare = unit == prefix
        scale = _BINARY.get(prefix) or (_BARE.get(prefix) if bare else None) or _DECIMAL[prefix]
    size = _finite(number * scale, value, _("size"))
    if size != int(size):
        raise QuantityError(_("{value} is not a whole number of bytes.").format(value=value))
    return int(size)


def parse_rate(value: str | float) -> float:
    """Return bytes per second from ``'400 Gb/s'``, ``'50 GB/s'`` or a plain number.

    Raises
    ------
    QuantityError
        Not a rate.

    Examples
    --------
    >>> parse_rate("400 Gb/s")
    50000000000.0
    """
    number = _number(value, _("rate"))
    if number is not None:
        return number
    number, unit = _split(str(value), _("rate"), "'400 Gb/s'")
    match = _RATE_UNIT.match(unit)
    if not match:
        raise QuantityError(
            _("{unit!r} is not a unit of rate.").format(unit=unit[:20]), _("Use Gb/s or GB/s.")
        )
    scale = _BINARY.get(match[1]) or _DECIMAL[match[1]]
    return _finite(number * scale / (1 if match[2] == "B" else 8), value, _("rate"))


def parse_duration(value: str | float) -> float:
    """Return seconds from ``'5 s'``, ``'200 ms'``, ``'3 us'`` or a plain number of seconds.

    Raises
    ------
    QuantityError
        Not a duration.

    Examples
    --------
    >>> parse_duration("200 ms")
    0.2
    """
    number = _number(value, _("duration"))
    if number is not None:
        return number
    number, unit = _split(str(value), _("duration"), "'5 s'")
    if unit and unit not in _SECONDS:
        raise QuantityError(
            _("{unit!r} is not a unit of time.").format(unit=unit[:20]),
            _("Use s, ms, us, ns, min or h."),
        )
    return _finite(number * _SECONDS.get(unit, 1.0), value, _("duration"))


def whole_number(value: object, what: str, *, least: int = 0, most: int = 2**63 - 1) -> int:
    """Return a whole number as an ``int``, NumPy's own kinds too.

    Parameters
    ----------
    value
        What somebody passed.
    what
        Name of the parameter, for the sentence.
    least, most
        The range that it must be in.

    Raises
    ------
    QuantityError
        It is no whole number, or out of range.

    Examples
    --------
    >>> whole_number(3, "count")
    3
    """
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise QuantityError(
            _("{what} must be a whole number, not {value}.").format(what=what, value=repr(value)[:60])
        ) from None
    if not least <= number <= most:
        raise QuantityError(
            _("{what} cannot be {value}.").format(
                what=what, value=f"{number:.6g}" if abs(number) >= 1e18 else number
            ),
            _("It goes from {least} to {most}.").format(least=least, most=most),
        )
    return number


def three_digits(number: float) -> str:
    """Return `number` with three significant digits, without an exponent where people need none.

    Examples
    --------
    >>> three_digits(48.472), three_digits(392.15), three_digits(0.114)
    ('48.5', '392', '0.114')
    """
    if number == 0:
        return "0"
    if not math.isfinite(number):
        return str(number)
    digits = max(0, 2 - math.floor(math.log10(abs(number))))
    rounded = round(number, digits)
    if abs(rounded) >= 10 ** (3 - digits) and digits:
        digits -= 1
    return f"{rounded:.{digits}f}"


def _scaled(value: float, units: tuple[tuple[float, str], ...]) -> str:
    if math.isnan(value):
        return _("unknown")
    for scale, unit in units:
        # 999.6 of a unit is printed as 1.00 of the next one.
        if float(three_digits(abs(value) / scale)) >= 1:
            return f"{three_digits(value / scale)} {unit}"
    scale, unit = units[-1]
    return f"{three_digits(value / scale)} {unit}"


def format_size(size_bytes: float) -> str:
    """Return bytes as people write them: exact binary multiples, else three digits.

    Examples
    --------
    >>> format_size(67108864), format_size(1536), format_size(2)
    ('64 MiB', '1.50 KiB', '2 B')
    """
    for scale, unit in ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if abs(size_bytes) >= scale:
            if size_bytes % scale == 0:
                return f"{int(size_bytes // scale)} {unit}"
            return f"{three_digits(size_bytes / scale)} {unit}"
    return f"{size_bytes:.0f} B"


def format_rate(rate_bytes_per_s: float) -> str:
    """Return bytes per second as ``'48.5 GB/s'``."""
    units = ((1e12, "TB/s"), (1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s"))
    return _scaled(rate_bytes_per_s, units)


def format_bits(rate_bytes_per_s: float) -> str:
    """Return bytes per second in bits, as networks are named: ``'400 Gb/s'``."""
    units = ((1e12, "Tb/s"), (1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s"), (1.0, "b/s"))
    return _scaled(rate_bytes_per_s * 8, units)


def format_duration(seconds: float) -> str:
    """Return seconds as ``'6.84 µs'``."""
    return _scaled(seconds, ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")))


def format_count(number: float, unit: str = "") -> str:
    """Return a count with a decimal prefix: ``'14.2 M'`` and, with a unit, ``'14.2 Mmsg/s'``."""
    units = ((1e9, "G" + unit), (1e6, "M" + unit), (1e3, "k" + unit), (1.0, unit))
    return _scaled(number, units).strip()
