"""Calibrate the model to what was measured: from benchmark tables, or from points that are there already."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace

from gdviz.doctor.measured_run import measured_in
from gdviz.model import DEFAULTS, Calibration, Constants, DataPath, Endpoint, Fabric, Measured
from gdviz.model.calibration import UNCERTAIN
from gdviz.model.calibration import calibrate as fit_constants


def calibrate(
    measured: str | os.PathLike[str] | Iterable[Measured],
    local: Endpoint,
    remote: Endpoint,
    *,
    path: DataPath = DataPath.DIRECT,
    fit: Sequence[str] = UNCERTAIN,
    fabric: Fabric | None = None,
    constants: Constants = DEFAULTS,
) -> Calibration:
    """Fit the model's uncertain constants to a measured sweep.

    Parameters
    ----------
    measured
        A file with perftest tables (text or JSON), or points.
    local, remote
        Where it was measured.
    fabric
        The wire; without one the usual, with the MTU and the link layer that the file's tables print.
    path
        By which path the file's figures were reached; perftest itself goes direct.
    fit
        Names of constants.
    constants
        Where to start.

    Returns
    -------
    Calibration
        Every other size was held out; ``held_out`` says how well these come out.

    Raises
    ------
    ReaderError
        The file cannot be read, or holds no table of perftest.
    GdvizError
        Too few points, a name that cannot be fitted, figures in other units, tables that were measured in
        different ways.
    """
    if isinstance(measured, str | os.PathLike):
        run = measured_in(measured, path)
        points = run.points
        fabric = fabric or run.fabric(local, remote)
        constants = replace(constants, relaxed_ordering=False) if run.strict_ordering else constants
    else:
        points = tuple(measured)
    return fit_constants(points, local, remote, fit=fit, fabric=fabric, constants=constants)
