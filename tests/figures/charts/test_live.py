from __future__ import annotations

import math

import pytest

from gdviz.figures import LiveCharts
from gdviz.figures.charts import live_columns as live
from gdviz.figures.text_size import text_width
from gdviz.figures.theme import colour
from gdviz.model import DataPath
from tests.figures.charts.samples import (
    CEILINGS,
    GPU,
    HOSTILE,
    LINK,
    NIC,
    PORT,
    WIRE,
    Sample,
    ceiling,
    prediction,
)


def test_columns_are_lists_in_the_charts_units() -> None:
    sample = Sample(1.5, loads={LINK: 3.0, NIC: 4.0})
    assert live.columns([sample], [NIC, WIRE, LINK], at_ms=17.0) == {
        "t": [1.5],
        "bandwidth": [40.0],
        "rate": [0.61],
        "p50": [pytest.approx(5.0)],
        "p99": [pytest.approx(7.0)],
        "p999": [pytest.approx(20.0)],
        "cpu": [50.0],
        "loads": [[4.0, 0.0, 3.0]],
        "at": [17.0],
    }


def test_a_latency_that_nobody_measured_is_a_gap() -> None:
    columns = live.columns([Sample(1.0, p50_s=None, p99_s=None, p999_s=None)])
    assert all(math.isnan(columns[name][0]) for name in ("p50", "p99", "p999"))
    assert columns["bandwidth"] == [40.0]


@pytest.mark.parametrize(
    ("t", "origin", "start"),
    [(0.0, 0.0, 0.0), (59.99, 0.0, 0.0), (60.0, 0.0, 60.0), (3 * 60 - 1e-12, 0.0, 180.0), (100, 13, 73)],
)
def test_pages(t: float, origin: float, start: float) -> None:
    assert live.page_start(t, 60.0, origin) == start


def test_the_page_flips_when_it_is_full() -> None:
    charts = LiveCharts(CEILINGS, window_s=10.0, simulated=True)
    charts.update([Sample(0.2), Sample(9.8)])
    assert charts.page_range == (0.0, 10.0)
    charts.update([Sample(10.0)])
    assert charts.page_range == (10.0, 20.0)
    charts.clear()
    assert charts.page_range == (0.0, 10.0)


def test_the_first_sample_starts_the_page() -> None:
    charts = LiveCharts(CEILINGS, window_s=60.0, simulated=True)
    charts.update([Sample(130.4)])
    assert charts.page_range == (130.0, 190.0)


def test_all_charts_share_source_and_page() -> None:
    charts = LiveCharts(CEILINGS, simulated=True)
    figures = list(charts._figures.charts.values())
    assert len({plot.x_range for plot in figures}) == 1
    keys = {made for item in charts._figures._legend.items for made in item.renderers}
    sources = {made.data_source for plot in figures for made in plot.renderers if made not in keys}
    assert sources == {charts.source}
    # A legend of what is streamed is built anew in the page with each row, which costs more than the charts.
    assert all(made.data_source is not charts.source for made in keys)
    assert {type(plot.y_range).__name__ for plot in figures} == {"Range1d"}


def test_old_samples_roll_over() -> None:
    charts = LiveCharts(CEILINGS, window_s=1.0, simulated=True)
    assert charts.rollover == 20
    for number in range(30):
        charts.update([Sample(number / 10)])
    assert charts.source.data["t"] == [number / 10 for number in range(10, 30)]
    assert all(type(column) is list for column in charts.source.data.values())


def test_nothing_new_changes_nothing() -> None:
    charts = LiveCharts(CEILINGS, simulated=True)
    charts.update([])
    assert charts.source.data["t"] == []
    assert charts._figures._empty.visible


def test_the_sentence_goes_with_the_first_sample() -> None:
    charts = LiveCharts(CEILINGS, simulated=True)
    assert charts._figures._empty.text == "Start a transfer to see it move"
    assert charts._figures._empty.visible
    charts.update([Sample(1.0)])
    assert not charts._figures._empty.visible
    charts.clear()
    assert charts._figures._empty.visible


def test_the_axis_of_bandwidth_ends_at_the_ceiling() -> None:
    charts = LiveCharts([ceiling("port", PORT, 50.0)], simulated=True)
    plot = charts._figures.charts["bandwidth"]
    assert plot.yaxis[0].bounds == (0.0, 50.0)
    assert plot.y_range.start == 0
    before = plot.y_range.end
    charts.update([Sample(number / 5) for number in range(20)])
    assert plot.y_range.end == before


def test_an_axis_widens_to_the_next_round_number() -> None:
    charts = LiveCharts([ceiling("port", PORT, 10.0)], simulated=True)
    charts.update([Sample(1.0, bandwidth_bytes_per_s=12e9, messages_per_s=2.2e6, cpu_share=1.3)])
    axes = {name: charts._figures.charts[name].yaxis[0].bounds[1] for name in ("bandwidth", "rate", "cpu")}
    assert axes == {"bandwidth": 15.0, "rate": 3.0, "cpu": 150.0}


def test_the_latency_axis_widens_by_decades() -> None:
    assert live.grown_decades(1.0, 1000.0, [5.0, 900.0]) == (1.0, 1000.0)
    assert live.grown_decades(1.0, 1000.0, [0.5, 2500.0, math.nan]) == (0.1, 10000.0)
    assert live.grown_decades(1.0, 1000.0, [math.nan]) == (1.0, 1000.0)


def test_a_full_queue_is_expected_to_wait() -> None:
    # 128 in flight at 740,000 a second wait 173 µs, though a message alone takes 5 µs.
    assert live.latency_decades(5.0, 10.0, 173.0) == (100.0, 10000.0)
    assert live.latency_decades(5.0, 10.0, 1.0) == (1.0, 100.0)


def test_expecting_starts_anew_in_the_colour_of_the_path() -> None:
    charts = LiveCharts(CEILINGS, simulated=True)
    charts.update([Sample(1.0)])
    charts.expect(prediction(path=DataPath.STAGED, bandwidth=20e9))
    assert charts.source.data["t"] == []
    lines = [made.glyph for made in charts._figures._dashed_by_path]
    assert [line.y for line in lines] == ["bandwidth", "rate"]
    assert all(line.line_color == colour("staged") and line.line_dash for line in lines)
    assert charts._figures._titles["bandwidth"].text == "Bandwidth, simulated"
    assert charts._figures._notes["bandwidth"].text == "model: 20.0 GB/s"
    assert charts._figures._notes["rate"].text == "model: 305 k/s"


def test_only_what_is_simulated_bears_the_word() -> None:
    assert "simulated" in str(LiveCharts(simulated=True))
    measured = LiveCharts(simulated=False)
    assert "simulated" not in str(measured)
    assert not any("simulated" in title.text for title in measured._figures._titles.values())


def test_ceilings_far_above_are_not_drawn() -> None:
    marks = live.ceiling_marks(CEILINGS, 100.0)
    assert [(mark.rate, mark.text) for mark in marks] == [
        (48.5, ""),
        (57.0, "NIC port 48.5 · PCIe 57.0 GB/s"),
    ]
    assert [mark.text for mark in live.ceiling_marks(CEILINGS, 200.0)] == [
        "NIC port 48.5 GB/s",
        "PCIe 57.0 GB/s",
    ]


def test_the_narrowest_ceiling_is_drawn_whatever_it_is() -> None:
    rate = ceiling("message rate", NIC, 0.05)
    assert live.ceiling_marks([*CEILINGS, rate], 100.0) == (live.CeilingMark(0.05, "message rate 50.0 MB/s"),)


def test_a_label_names_two_ceilings_at_most() -> None:
    near = [ceiling("copy", GPU, 45.0), ceiling("port", PORT, 46.0), ceiling("PCIe", LINK, 47.0)]
    assert [mark.text for mark in live.ceiling_marks(near, 100.0)] == [
        "",
        "copy 45.0 · NIC port 46.0 GB/s",
    ]


def test_labels_fit_the_narrowest_chart() -> None:
    narrow = ceiling("Latency (depth too small)", NIC, 48.0)
    (first, second) = live.ceiling_marks([narrow, CEILINGS[0]], 100.0)
    assert (first.text, second.text) == ("", "Latency (depth too small) 48.0 GB/s")
    for text in ("NIC port 48.6 · PCIe 52.0 GB/s", "CPU work of staging 377 kB/s"):
        assert text_width(text, 12) <= live.LABEL_ROOM_PX


def test_the_unit_of_a_shared_label_stands_once_if_it_is_the_same() -> None:
    assert live.shared_label("wire 999 MB/s", "PCIe 1.01 GB/s") == "wire 999 MB/s · PCIe 1.01 GB/s"


def test_titles_fit_and_the_four_are_not_high() -> None:
    charts = LiveCharts(CEILINGS, simulated=True, prediction=prediction())
    for title in charts._figures._titles.values():
        assert text_width(title.text, 13, bold=True) < 290
    assert sum(charts._figures.charts[name].frame_height for name in ("bandwidth", "latency")) < 240


def test_each_entry_of_the_legend_has_a_row_to_show() -> None:
    # Bokeh leaves the entry of a renderer without rows blank.
    for item in LiveCharts(simulated=True)._figures._legend.items:
        assert all(len(made.data_source.data["x"]) == 1 for made in item.renderers)


def test_no_ceilings() -> None:
    assert live.ceiling_marks([], 100.0) == ()


def test_hostile_names_become_plain_text() -> None:
    (mark,) = live.ceiling_marks([ceiling(HOSTILE, GPU, 50.0)], 100.0)
    assert mark.text == "<img src=x onerror=alert(1)> 50.0 GB/s"


def test_text_twin() -> None:
    charts = LiveCharts(CEILINGS[:2], simulated=True)
    charts.update([Sample(0.2), Sample(0.4, p50_s=None, p99_s=None, p999_s=None)])
    assert str(charts) == (
        "time, s  bandwidth  messages/s      p50      p99    p99.9  CPU, one core\n"
        "    0.2  40.0 GB/s       610 k  5.00 µs  7.00 µs  20.0 µs         50.0 %\n"
        "    0.4  40.0 GB/s       610 k        –        –        –         50.0 %\n"
        "\n"
        "ceiling\n"
        "port     48.5 GB/s\n"
        "PCIe     57.0 GB/s\n"
        "\n"
        "simulated"
    )
