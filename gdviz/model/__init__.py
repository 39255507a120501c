"""Predicted performance: how long a message takes, what bandwidth is reached, and what limits it."""

from __future__ import annotations

from gdviz.model.breakdown import breakdown
from gdviz.model.calibration import Calibration, Measured, calibrate
from gdviz.model.constants import DEFAULTS, FITTED, Constants
from gdviz.model.flow import Batch, Flow
from gdviz.model.predict import SIZES, flow, predict, sweep, timeline
from gdviz.model.results import (
    Ceiling,
    LatencySummary,
    Place,
    PlaceKind,
    Prediction,
    Side,
    Stage,
)
from gdviz.model.sharing import Transfer, predict_together
from gdviz.model.workload import DataPath, Endpoint, Fabric, Op, Workload

__all__ = [
    "DEFAULTS",
    "FITTED",
    "SIZES",
    "Batch",
    "Calibration",
    "Ceiling",
    "Constants",
    "DataPath",
    "Endpoint",
    "Fabric",
    "Flow",
    "LatencySummary",
    "Measured",
    "Op",
    "Place",
    "PlaceKind",
    "Prediction",
    "Side",
    "Stage",
    "Transfer",
    "Workload",
    "breakdown",
    "calibrate",
    "flow",
    "predict",
    "predict_together",
    "sweep",
    "timeline",
]
