"""The model's uncertain constants, fitted to what was measured, and judged where nothing was fitted."""

from __future__ import annotations

from gdviz.model.calibration.fitting import UNCERTAIN, calibrate
from gdviz.model.calibration.measured import Measured, sweep_points
from gdviz.model.calibration.results import Calibration, Fit
from gdviz.model.calibration.saved import constants_of, saved_values

__all__ = [
    "UNCERTAIN",
    "Calibration",
    "Fit",
    "Measured",
    "calibrate",
    "constants_of",
    "saved_values",
    "sweep_points",
]
