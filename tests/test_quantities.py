from __future__ import annotations

import doctest
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdviz import quantities
from gdviz.errors import QuantityError
from gdviz.quantities import (
    format_bits,
    format_count,
    format_duration,
    format_rate,
    format_size,
    parse_duration,
    parse_rate,
    parse_size,
    three_digits,
)


def test_the_examples_in_the_docstrings() -> None:
    result = doctest.testmod(quantities)
    assert result.attempted >= 5
    assert result.failed == 0


@pytest.mark.parametrize(
    ("text", "size"),
    [
        *(("0", 0), ("2 B", 2), ("2 bytes", 2), ("4k", 4096), ("4 K", 4096), ("64M", 64 * 2**20)),
        *(("64 MiB", 64 * 2**20), ("64MiB", 64 * 2**20), ("1 kiB", 1024), ("4 kB", 4000), ("4 KB", 4000)),
        *(("1.5 KiB", 1536), (".5 KiB", 512), ("1e3", 1000), ("1_000 B", 1000), ("1 000 B", 1000)),
        *((" 80 GiB ", 80 * 2**30), ("2 TiB", 2**41), ("1 PB", 10**15)),
        *((4096, 4096), (4096.0, 4096), (np.int64(7), 7)),
    ],
)
def test_sizes(text: str | int, size: int) -> None:
    parsed = parse_size(text)
    assert parsed == size
    assert type(parsed) is int


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "MiB", "64 MiBs", "64 Mb", "-1", "1.2.3", "0.3 B", "64 MiB/s", "1e400", "nan", "inf", "½"),
        *("1" * 200, "0x10", -1, 0.5, math.nan, math.inf, True, None),
    ],
)
def test_what_is_no_size(text: object) -> None:
    with pytest.raises(QuantityError):
        parse_size(text)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        *(("400 Gb/s", 50e9), ("400Gbps", 50e9), ("50 GB/s", 50e9), ("1 GiB/s", 2.0**30), ("8 b/s", 1.0)),
        *(("100 Gbit/s", 12.5e9), (5, 5.0)),
    ],
)
def test_rates(text: str | float, rate: float) -> None:
    assert parse_rate(text) == pytest.approx(rate)


@pytest.mark.parametrize("text", ["400", "400 G", "400 GB", "fast", "1e400 B/s", -1.0])
def test_what_is_no_rate(text: str | float) -> None:
    with pytest.raises(QuantityError):
        parse_rate(text)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("5 s", 5.0),
        ("200 ms", 0.2),
        ("3 us", 3e-6),
        ("3 µs", 3e-6),
        ("3 μs", 3e-6),
        ("2 min", 120.0),
        ("7", 7.0),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "5 d", "soon", "1e400 s", -2])
def test_what_is_no_duration(text: str | int) -> None:
    with pytest.raises(QuantityError):
        parse_duration(text)


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (9.996, "10.0"), (99.96, "100"), (999.6, "1000"), (0.001234, "0.00123"), (-48.47, "-48.5")],
)
def test_three_digits(number: float, text: str) -> None:
    assert three_digits(number) == text


def test_formats() -> None:
    assert format_rate(50e9) == "50.0 GB/s"
    assert format_rate(999.7e6) == "1.00 GB/s"
    assert format_rate(0) == "0 B/s"
    assert format_bits(50e9) == "400 Gb/s"
    assert format_duration(6.84e-6) == "6.84 µs"
    assert format_duration(2e-12) == "0.00200 ns"
    assert format_count(14.2e6, "msg/s") == "14.2 Mmsg/s"
    assert format_count(3) == "3.00"
    assert format_size(1.5 * 2**40) == "1.50 TiB"


@given(st.integers(0, 2**50))
def test_a_printed_size_is_read_again(size: int) -> None:
    text = format_size(size)
    if "." not in text and size < 2**53:
        assert abs(parse_size(text) - size) <= size * 0.005
    else:
        number, unit = text.split()
        scale = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}[unit]
        assert float(number) * scale == pytest.approx(size, rel=0.01)


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    for parse in (parse_size, parse_rate, parse_duration):
        try:
            value = parse(text)
        except QuantityError:
            continue
        assert value >= 0
        assert math.isfinite(value)


@pytest.mark.parametrize("value", [True, 1.0, None, "3", float("nan"), np.float32(2), b"3", -1, 11])
def test_what_is_no_whole_number_in_range_is_refused(value: object) -> None:
    with pytest.raises(QuantityError, match="depth"):
        quantities.whole_number(value, "depth", most=10)


def test_numpys_whole_numbers_become_plain_ones() -> None:
    assert type(quantities.whole_number(np.int8(3), "depth")) is int
