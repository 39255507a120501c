"""Charts of transfers: live, swept over sizes, one message's time, latencies, and registration."""

from __future__ import annotations

from gdviz.figures.charts.live import LiveCharts
from gdviz.figures.charts.percentiles import PercentileChart
from gdviz.figures.charts.sweep import SweepCharts
from gdviz.figures.charts.timeline import SlowMotion
from gdviz.figures.charts.translation import TranslationPicture
from gdviz.figures.charts.waterfall import WaterfallChart

__all__ = [
    "LiveCharts",
    "PercentileChart",
    "SlowMotion",
    "SweepCharts",
    "TranslationPicture",
    "WaterfallChart",
]
