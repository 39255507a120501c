from __future__ import annotations

import math
from dataclasses import dataclass

import pytest

from gdviz.figures import PercentileChart
from gdviz.figures.charts import percentiles as pc
from gdviz.figures.text_size import text_width
from gdviz.model import DataPath


@dataclass
class Uniform:
    """Messages that took 1, 2, ... count microseconds: the q-th percentile is q % of count."""

    count: int

    def percentile(self, q: float) -> float:
        if not self.count:
            return math.nan
        return max(1, math.ceil(q / 100 * self.count - 1e-9)) * 1e-6


def test_the_axis_stretches_the_tail() -> None:
    columns = pc.columns(Uniform(1000), (50.0, 90.0, 99.0, 99.9))
    assert columns["x"] == pytest.approx([2, 10, 100, 1000, 1000])
    assert columns["y"] == pytest.approx([500e-6, 900e-6, 990e-6, 999e-6, 1000e-6])
    assert columns["percent"] == ["50 %", "90 %", "99 %", "99.9 %", "100 %"]


def test_a_curve_knows_no_more_than_its_messages() -> None:
    assert pc.columns(Uniform(1000), (99.99,))["x"] == [1000.0]  # only the slowest message
    assert not pc.known(99.99, 1000)
    assert pc.known(99.9, 1000)


def test_points_of_a_curve() -> None:
    for count in (2, 10, 1000, 14_000_000):
        some = pc.percents(count)
        assert some[0] == 0
        assert some == sorted(some)
        assert some[-1] == pytest.approx(100 * (1 - 1 / count))
        assert len(some) <= pc.STEPS_PER_HALF * (math.log2(count) + 1) + 1
    assert pc.percents(1) == [0.0]
    assert pc.percents(0) == []


def test_no_number_is_missing() -> None:
    for count in (0, 1, 2, 7, 12345):
        columns = pc.columns(Uniform(count) if count else None)
        assert all(math.isfinite(value) for name in ("x", "y") for value in columns[name])  # type: ignore[arg-type]


def test_ticks() -> None:
    assert pc.percent_labels(10_000) == {
        1.0: "0 %",
        10.0: "90 %",
        100.0: "99 %",
        1000.0: "99.9 %",
        10000.0: "99.99 %",
    }


def test_ticks_of_very_many_messages_have_room() -> None:
    for count in (10**7, 10**8, 10**10):
        ticks = pc.percent_labels(count)
        assert len(ticks) <= pc.MOST_TICKS + 1
        assert next(reversed(ticks.values())).startswith("99.99999")
    assert pc.percent_labels(10**8)[10.0**8] == "99.999999 %"


def test_the_title_says_of_which_messages() -> None:
    chart = PercentileChart()
    assert chart._title.text == "Latency by percentile, simulated"
    chart.update({DataPath.DIRECT: Uniform(10)}, title="Latency by percentile: 64 KiB, one in flight")
    assert chart._title.text == "Latency by percentile: 64 KiB, one in flight, simulated"
    assert str(chart).startswith("Latency by percentile: 64 KiB, one in flight\n")
    chart.update({DataPath.DIRECT: Uniform(10)}, title="<b>\n" * 100)
    assert "\n" not in chart._title.text
    assert text_width(chart._title.text, 14, bold=True) < 640


def test_update() -> None:
    chart = PercentileChart({DataPath.DIRECT: Uniform(1000), DataPath.STAGED: Uniform(0)})
    assert [item.visible for item in chart._entries] == [True, False]
    assert not chart._empty.visible
    assert chart._plot.yaxis[0].bounds == (0.0, 1e-3)
    assert chart.source[DataPath.DIRECT].data["y"][-1] == pytest.approx(1e-3)
    chart.update({})
    assert chart._empty.visible
    assert chart.source[DataPath.DIRECT].data["y"] == []


def test_text_twin() -> None:
    chart = PercentileChart({DataPath.DIRECT: Uniform(1000)})
    assert str(chart) == (
        "Latency by percentile\n"
        "           direct\n"
        "p50        500 µs\n"
        "p90        900 µs\n"
        "p99        990 µs\n"
        "p99.9      999 µs\n"
        "p99.99          –\n"
        "max       1.00 ms\n"
        "messages   1.00 k\n"
        "\n"
        "simulated"
    )
    assert str(PercentileChart()) == "Run a transfer to see how its latencies are spread"
