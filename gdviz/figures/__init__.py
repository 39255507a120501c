"""Pictures: data to plain columns and rectangles, then to Bokeh models. No widget, no reading of files."""

from __future__ import annotations

from gdviz.figures.charts.live import LiveCharts
from gdviz.figures.charts.percentiles import PercentileChart
from gdviz.figures.charts.sweep import SweepCharts
from gdviz.figures.charts.timeline import SlowMotion
from gdviz.figures.charts.translation import TranslationPicture
from gdviz.figures.charts.waterfall import WaterfallChart
from gdviz.figures.pair_matrix import PairMatrix
from gdviz.figures.pair_matrix_layout import PairCell
from gdviz.figures.path_picture import PathPicture

__all__ = [
    "LiveCharts",
    "PairCell",
    "PairMatrix",
    "PathPicture",
    "PercentileChart",
    "SlowMotion",
    "SweepCharts",
    "TranslationPicture",
    "WaterfallChart",
]
