"""Calibrate the model to what was measured: from benchmark tables, or from points that are there already."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from gdviz.errors import GdvizError, ReaderError
from gdviz.messages import _
from gdviz.model import DEFAULTS, Calibration, Constants, DataPath, Endpoint, Fabric, Measured, Op, Workload
from gdviz.model.calibration import UNCERTAIN
from gdviz.model.calibration import calibrate as fit_constants
from gdviz.readers import open_path
from gdviz.readers.results import Results, ResultTable


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
    local, remote, fabric
        Where it was measured.
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
        Too few points, or a name that cannot be fitted.
    """
    points = points_of(measured, path) if isinstance(measured, str | os.PathLike) else tuple(measured)
    return fit_constants(points, local, remote, fit=fit, fabric=fabric, constants=constants)


def points_of(file: str | os.PathLike[str], path: DataPath = DataPath.DIRECT) -> tuple[Measured, ...]:
    """Return the points of all perftest tables of a file.

    Raises
    ------
    ReaderError
        The file cannot be read, or holds no table of perftest.
    """
    found = tuple(
        point
        for reading in open_path(file).readings
        if isinstance(reading.facts, Results)
        for table in reading.facts.tables
        if table.tool == "perftest"
        for point in _points(table, path)
    )
    if not found:
        raise ReaderError(
            _("{file} holds no table of perftest.").format(file=repr(os.fspath(file))[:200]),
            _("Run ib_write_bw -a (or ib_read_bw, ib_write_lat ...) and give its output."),
        )
    return found


def _points(table: ResultTable, path: DataPath) -> Iterator[Measured]:
    op = next((op for op in Op if op.value in table.operation), Op.WRITE)
    depth, qps = _whole(table, "tx_depth", 128), _whole(table, "qps", 1)
    for row in table.rows:
        if row.size_bytes is None or (row.bandwidth_bytes_per_s is None and row.latency_s is None):
            continue
        try:
            work = Workload(op, path, row.size_bytes, depth, qps)
        except GdvizError:
            continue
        latency = row.latency_s
        if latency is not None and op is not Op.READ:
            latency *= (
                2  # perftest halves the round trip of WRITE and SEND; the model counts to the completion
            )
        yield Measured(work, row.bandwidth_bytes_per_s or None, latency)


def _whole(table: ResultTable, name: str, usual: int) -> int:
    text = str(table.setup.get(name, ""))
    return int(text) if text.isdecimal() and len(text) < 6 and int(text) > 0 else usual
