from __future__ import annotations

import itertools
import math

import pytest

from gdviz.figures.charts import axes


@pytest.mark.parametrize(
    ("value", "end"),
    [(0.0, 1.0), (1.0, 1.0), (1.01, 1.5), (48.5, 50.0), (0.0003, 0.0003), (9.7, 10.0), (7.2e6, 8e6)],
)
def test_nice_end(value: float, end: float) -> None:
    assert axes.nice_end(value) == end


@pytest.mark.parametrize("end", [1e-7, 0.000674, 0.9, 48.5, 57.1, 100.0, 150.0, 3.2e6])
def test_linear_ticks_are_few_round_and_inside(end: float) -> None:
    ticks = axes.linear_ticks(end)
    assert ticks[0] == 0
    assert 2 <= len(ticks) <= 6
    assert end * 0.6 < ticks[-1] <= end * (1 + 1e-9)
    steps = {round(b - a, 12) for a, b in itertools.pairwise(ticks)}
    assert max(steps) - min(steps) < 1e-6 * end


def test_no_room_for_ticks() -> None:
    assert axes.linear_ticks(0.0) == [0.0]


def test_decades() -> None:
    assert axes.decades(3.1, 250) == [1.0, 10.0, 100.0, 1000.0]
    assert axes.decades(1e-6, 1e-3) == [1e-6, 1e-5, 1e-4, 1e-3]
    assert axes.decades(10, 10) == [10.0, 100.0]
    assert axes.decades_within(1e5, 9.9e7) == [1e5, 1e6, 1e7]


def test_thin_keeps_the_last() -> None:
    assert axes.thin([1.0, 2.0, 3.0, 4.0], 2) == [2.0, 4.0]
    assert axes.thin([1.0, 2.0], 5) == [1.0, 2.0]


def test_ticks_are_written_as_people_write_them() -> None:
    assert axes.labels([0, 10, 0.25], axes.rate_label, 1e9) == {0: "0", 10: "10 GB/s", 0.25: "250 MB/s"}
    assert axes.labels([0.000674, 15], axes.count_label, 1e6) == {0.000674: "674", 15: "15 M"}
    assert axes.labels([1.0, 1000.0], axes.time_label, 1e-6) == {1.0: "1 µs", 1000.0: "1 ms"}
    assert axes.share_label(1.25) == "125 %"


def test_size_axis() -> None:
    assert list(axes.size_labels().values()) == ["2 B", "32 B", "1 KiB", "32 KiB", "1 MiB", "64 MiB"]
    assert all(math.log2(size).is_integer() for size in axes.SIZE_TICKS)
