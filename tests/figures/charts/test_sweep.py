from __future__ import annotations

import pytest

from gdviz.figures import SweepCharts
from gdviz.figures.charts import sweep_columns as swept
from gdviz.figures.charts.sweep_columns import Point
from gdviz.model import DataPath
from tests.figures.charts.samples import CEILINGS, HOSTILE, LINK, PORT, ceiling, prediction

DIRECT, STAGED = DataPath.DIRECT, DataPath.STAGED


def test_columns_leave_out_what_no_log_axis_has() -> None:
    points = {
        DIRECT: [Point(2, 1e6, 3e-6, 4e-6), Point(4, 0.0, 3e-6, 4e-6)],
        STAGED: [Point(2, 1e5, 1e-5, 2e-5)],
    }
    columns = swept.columns(points)
    assert columns["path"] == ["direct", "staged"]
    assert columns["size"] == [2.0, 2.0]
    assert columns["bandwidth"] == [1e6, 1e5]
    assert columns["latency"] == [3e-6, 1e-5]
    assert columns["bandwidth_text"] == ["1.00 MB/s", "100 kB/s"]
    assert columns["p99_text"] == ["4.00 µs", "20.0 µs"]


def test_crossing_lies_on_both_lines() -> None:
    met = swept.crossing([1, 10, 100], [1, 10, 100], [100, 20, 4])
    assert met is not None
    x, y = met
    assert y == pytest.approx(x)  # on the first curve, y = x
    assert 10 < x < 20


@pytest.mark.parametrize(
    ("left", "right"),
    [([1, 2, 3], [2, 3, 4]), ([1, 2, 1], [2, 2, 2]), ([1, 1, 1], [1, 1, 1]), ([], [])],
)
def test_curves_that_only_touch_do_not_cross(left: list[float], right: list[float]) -> None:
    assert swept.crossing([1, 2, 3][: len(left)], left, right) is None


def test_crossing_in_a_point_of_both() -> None:
    assert swept.crossing([1, 2, 4], [1, 2, 4], [2, 2, 2]) == (2.0, 2.0)


def test_the_first_of_several_crossings_counts() -> None:
    assert swept.crossing([1, 100, 10000], [1, 100, 1], [100, 1, 100]) == (10.0, 10.0)


def sweep_of(direct: list[float], staged: list[float]) -> SweepCharts:
    sizes = [2**10, 2**12, 2**14]
    return SweepCharts(
        {
            path: tuple(
                prediction(size, path, bandwidth=rate) for size, rate in zip(sizes, rates, strict=True)
            )
            for path, rates in ((DIRECT, direct), (STAGED, staged))
        }
    )


def test_a_ring_marks_the_crossing() -> None:
    charts = sweep_of([1e9, 1e9, 1e9], [0.25e9, 0.5e9, 2e9])
    (source, item), (latency_source, latency_item) = charts._rings
    assert source.data == {"x": [pytest.approx(8192)], "y": [pytest.approx(1e9)]}
    assert item.visible
    assert item.label.value == "equal at 8 KiB"
    assert item in charts._bandwidth.legend[0].items
    assert latency_source.data == {"x": [], "y": []}
    assert not latency_item.visible


def test_without_a_crossing_nothing_is_marked() -> None:
    charts = sweep_of([1e9, 2e9, 3e9], [0.1e9, 0.2e9, 0.3e9])
    assert not any(item.visible for _source, item in charts._rings)


def test_ceilings_of_the_wire_and_the_link_at_the_largest_message() -> None:
    small = prediction(2, ceilings=(ceiling("rate", LINK, 0.01),))
    large = prediction(2**26)
    assert swept.swept_ceilings({DIRECT: (large, small)}) == CEILINGS[:2]
    assert swept.swept_ceilings({}) == ()


def test_ceilings_that_lie_close_share_a_label() -> None:
    assert swept.ceiling_labels(CEILINGS[:2], 50.0) == [
        (48.5e9, ""),
        (57e9, "PCIe: 57.0 GB/s\nNIC port: 48.5 GB/s"),
    ]
    far = (ceiling("port", PORT, 5.0), ceiling(HOSTILE, LINK, 50.0))
    assert swept.ceiling_labels(far, 50.0) == [
        (5e9, "NIC port: 5.00 GB/s"),
        (50e9, "<img src=x onerror=alert(1)>: 50.0 GB/s"),
    ]


def test_ends_of_a_log_axis() -> None:
    assert swept.log_ends([], 0.1) is None
    low, high = swept.log_ends([3.0, 500.0], 0.5) or (0, 0)
    assert low == 1.0
    assert high == pytest.approx(500.0**2)


def test_the_axes_are_fixed_and_hold_everything() -> None:
    charts = sweep_of([1e9, 2e9, 3e9], [0.1e9, 0.2e9, 0.3e9])
    plot = charts._bandwidth
    assert plot.y_range.start == 1e8
    assert plot.y_range.end > 57e9
    assert plot.x_range.start < 2 < 2**26 < plot.x_range.end
    assert plot.xaxis[0].major_label_overrides[2.0] == "2 B"


def test_points_come_one_by_one() -> None:
    charts = SweepCharts({}, simulated=False)
    assert charts._empty.visible
    charts.add(DIRECT, Point(64, 1e8, 3e-6, 4e-6))
    charts.add(STAGED, Point(64, 1e7, 1e-5, 2e-5))
    assert not charts._empty.visible
    assert charts.source.data["path"] == ["direct", "staged"]
    assert [item.visible for item in charts._entries] == [False, True, False, True]


def test_the_paths_differ_without_colour() -> None:
    charts = sweep_of([1e9, 2e9, 3e9], [0.1e9, 0.2e9, 0.3e9])
    glyphs = [made.glyph for made in charts._latency.renderers]
    dashes = {str(glyph.line_dash) for glyph in glyphs if type(glyph).__name__ == "Line"}
    markers = {glyph.marker for glyph in glyphs if hasattr(glyph, "marker")}
    assert len(dashes) == 2
    assert {"circle", "square"} <= markers


def test_text_twin() -> None:
    charts = SweepCharts(
        {DIRECT: (prediction(2**20),), STAGED: (prediction(2**20, STAGED, bandwidth=20e9, p50=2e-5),)},
        {DIRECT: [Point(2**20, 47e9, 5.5e-6, 7e-6)]},
    )
    assert str(charts) == (
        "model\n"
        " size     direct     staged  direct p50  staged p50\n"
        "1 MiB  48.0 GB/s  20.0 GB/s     5.00 µs     20.0 µs\n"
        "\n"
        "run, simulated\n"
        " size     direct  direct p50\n"
        "1 MiB  47.0 GB/s     5.50 µs\n"
        "\n"
        "port: 48.5 GB/s\n"
        "PCIe: 57.0 GB/s"
    )
    assert str(SweepCharts()) == "Run both paths to see the two curves"
