"""What holds for every chart: both looks, readable type, fixed ranges, safe words, and Bokeh's own checks."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import Any

import pytest
from bokeh.core.validation import check_integrity
from bokeh.models import DataRange1d, HoverTool
from bokeh.plotting import figure

from gdviz.figures import LiveCharts, PercentileChart, SlowMotion, SweepCharts, WaterfallChart
from gdviz.figures.charts import TranslationPicture
from gdviz.figures.theme import ROLES, TAG, use_look
from gdviz.model import DataPath
from tests.figures.charts.samples import CEILINGS, Sample, prediction, stage

STAGES = (stage("post", 0, 1, cpu=True), stage("wire", 1, 4))


def _live() -> LiveCharts:
    charts = LiveCharts(simulated=True, prediction=prediction(ceilings=CEILINGS))
    charts.update([Sample(1.0)])
    return charts


CHARTS: dict[str, Callable[[], Any]] = {
    "live": _live,
    "live, empty": lambda: LiveCharts(simulated=False),
    "sweep": lambda: SweepCharts({path: (prediction(64, path), prediction(128, path)) for path in DataPath}),
    "sweep, empty": SweepCharts,
    "waterfall": lambda: WaterfallChart({DataPath.DIRECT: STAGES}),
    "waterfall, empty": WaterfallChart,
    "percentiles": PercentileChart,
    "slow motion": lambda: SlowMotion(STAGES, "One write"),
    "translation": TranslationPicture,
}


@pytest.fixture(scope="module", params=CHARTS.values(), ids=CHARTS.keys())
def chart(request: pytest.FixtureRequest) -> Any:
    return request.param()


def test_bokeh_has_nothing_to_say(chart: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        issues = check_integrity(chart.root.references())
    assert issues.error == []
    assert issues.warning == []


def test_type_is_large_enough(chart: Any) -> None:
    for model in chart.root.references():
        for name in model.properties():
            if name.endswith("text_font_size") and not name.startswith(("group_", "title_text")):
                size = getattr(model, name)
                size = size if isinstance(size, str) else getattr(size, "value", None)
                if size and size != "16px" and not re.fullmatch(r"1[1-9]px", size):
                    raise AssertionError(f"{type(model).__name__}.{name} is {size}")


def test_both_looks(chart: Any) -> None:
    painted = [m for m in chart.root.references() if any(isinstance(t, dict) and TAG in t for t in m.tags)]
    assert painted
    use_look(chart.root, "dark")
    dark = set(ROLES["dark"].values())
    seen = [
        getattr(model, name)
        for model in painted
        for name in next(tag[TAG]["dark"] for tag in model.tags if isinstance(tag, dict))
    ]
    use_look(chart.root, "light")
    assert {getattr(value, "value", value) for value in seen} <= dark


def test_ranges_are_fixed(chart: Any) -> None:
    assert not [model for model in chart.root.references() if isinstance(model, DataRange1d)]


def test_tooltips_escape(chart: Any) -> None:
    for model in chart.root.references():
        if isinstance(model, HoverTool):
            assert "@" in model.tooltips
            assert "{safe}" not in model.tooltips


def test_it_stretches(chart: Any) -> None:
    assert chart.root.sizing_mode == "stretch_width"


def test_numbers_only(chart: Any) -> None:
    for model in chart.root.references():
        if isinstance(model, figure):
            for end in (model.x_range.start, model.x_range.end, model.y_range.start, model.y_range.end):
                assert end == end
                assert abs(end) < float("inf")
