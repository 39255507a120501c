"""The model's uncertain constants, fitted to what was measured, and judged where nothing was fitted."""

from __future__ import annotations

from gdviz.model.calibration.fitting import UNCERTAIN, calibrate
from gdviz.model.calibration.measured import Measured, sweep_points
from gdviz.model.calibration.results import Calibration, Fit

__all__ = ["UNCERTAIN", "Calibration", "Fit", "Measured", "calibrate", "sweep_points"]
