from __future__ import annotations

import pytest

from gdviz.figures import WaterfallChart
from gdviz.figures.charts.portions import portions
from gdviz.figures.charts.waterfall import LINE_PX, layout, pieces, stage_names
from gdviz.figures.text_size import text_width
from gdviz.model import DataPath, Side
from tests.figures.charts.samples import GPU, HOSTILE, WIRE, prediction, stage

DIRECT = (stage("post", 0, 1, cpu=True), stage("wire", 1, 4, moves_bytes=True), stage("poll", 4, 4.01))
STAGED = (
    stage("copy", 0, 6, name="copy", cpu=True),
    stage("wire", 6, 9),
    stage("copy", 9, 20, name="copy", side=Side.REMOTE, text="The far copy."),
)


def test_pieces_in_one_scale() -> None:
    columns = pieces({DataPath.DIRECT: portions(DIRECT), DataPath.STAGED: portions(STAGED)})
    assert columns["kind"] == ["direct cpu", "direct", "direct", "staged cpu", "staged", "staged"]
    assert columns["left"] == pytest.approx([0, 0.05, 0.2, 0, 0.3, 0.45])
    assert columns["right"] == pytest.approx([0.05, 0.2, 0.2005, 0.3, 0.45, 1.0])
    assert columns["own"][0] == "1.00 µs, 24.9 %"
    assert columns["active"][4] == "6.00 µs – 9.00 µs"
    assert columns["text"][5] == "The far copy."
    assert columns["line_alpha"][2] == 0  # thinner than its edge would be


def test_one_name_for_two_ends_gets_the_side() -> None:
    assert list(stage_names(portions(STAGED)).values()) == ["copy", "wire", "copy, remote"]


def test_labels_stand_above_pieces_that_are_wide_enough() -> None:
    height, tops, texts = layout(
        {DataPath.DIRECT: portions(DIRECT), DataPath.STAGED: portions(STAGED)}, 400.0
    )
    labels = [text for text, kind in zip(texts["text"], texts["kind"], strict=True) if kind == "label"]
    assert labels == ["", "wire", "", "copy", "wire", "copy, remote"]
    lists = [text for text, kind in zip(texts["text"], texts["kind"], strict=True) if kind == "list"]
    assert lists[0] == "post 1.00 µs  ·  wire 3.00 µs  ·  poll 10.0 ns"
    assert tops[DataPath.DIRECT] < tops[DataPath.STAGED] < height
    assert max(texts["y"]) < height


MANY = tuple(stage(f"s{number}", number, number + 1, name=f"copy launch {number}") for number in range(14))


@pytest.mark.parametrize("width", [640.0, 960.0, 1150.0])
def test_lists_fit_and_the_height_holds_them(width: float) -> None:
    height, tops, texts = layout({path: portions(MANY) for path in DataPath}, width)
    lists = [row for row, kind in enumerate(texts["kind"]) if kind == "list"]
    for row in lists:
        lines = texts["text"][row].split("\n")
        assert all(text_width(line, 12) <= width - 20 for line in lines)
        assert sum(line.count("copy launch") for line in lines) == 14
        assert texts["y"][row] + LINE_PX * len(lines) < height
    first, second = (texts["y"][row] for row in lists)
    assert first + LINE_PX * (texts["text"][lists[0]].count("\n") + 1) < tops[DataPath.STAGED] < second


def test_the_axis_never_changes() -> None:
    chart = WaterfallChart({DataPath.DIRECT: DIRECT})
    ends = chart._plot.x_range.start, chart._plot.x_range.end
    assert chart._plot.xaxis[0].major_label_overrides[0.0] == "0"
    chart.update({DataPath.DIRECT: (stage("long", 0, 3000),)})
    assert (chart._plot.x_range.start, chart._plot.x_range.end) == ends
    assert "3 ms" in chart._plot.xaxis[0].major_label_overrides.values()


def test_a_prediction_says_which_stage_is_narrow() -> None:
    read = stage("read", 0, 100, moves_bytes=True, places=(GPU,))
    wire = stage("wire", 1, 101, moves_bytes=True, places=(WIRE,))
    message = prediction(stages=(read, wire), capacities={GPU: 57e9, WIRE: 48e9})
    chart = WaterfallChart({DataPath.DIRECT: message})
    assert chart.source.data["own"] == ["1.00 µs, 0.990 %", "100 µs, 99.0 %"]
    chart.update({DataPath.DIRECT: (read, wire)})
    assert chart.source.data["own"] == ["100 µs, 99.0 %", "1.00 µs, 0.990 %"]


def test_empty() -> None:
    chart = WaterfallChart()
    assert chart._texts.data["text"] == ["Choose a message to see where its time goes"]
    assert str(chart) == "Choose a message to see where its time goes"
    assert chart.source.data["left"] == []
    assert not chart._key.visible


def test_hostile_names() -> None:
    chart = WaterfallChart({DataPath.DIRECT: (stage("x", 0, 1, name=HOSTILE, text=HOSTILE),)})
    assert chart.source.data["name"] == ["<img src=x onerror=alert(1)>"]
    assert chart.source.data["text"] == ["<img src=x onerror=alert(1)>"]


def test_text_twin() -> None:
    assert str(WaterfallChart({DataPath.STAGED: STAGED})) == (
        "staged: 20.0 µs, a CPU involved for 6.00 µs\n"
        "stage         CPU     time   share\n"
        "copy          yes  6.00 µs  30.0 %\n"
        "wire               3.00 µs  15.0 %\n"
        "copy, remote       11.0 µs  55.0 %\n"
        "\n"
        "simulated"
    )
