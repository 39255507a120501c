"""What perftest's tables tell the model: points, and the wire and the ordering they were measured with."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from gdviz.errors import GdvizError, ReaderError
from gdviz.machine import LinkLayer
from gdviz.messages import _
from gdviz.model import DataPath, Endpoint, Fabric, Measured, Op, Workload
from gdviz.readers import open_path
from gdviz.readers.results import Results, ResultTable

_LAYERS = {"ib": LinkLayer.INFINIBAND, "infiniband": LinkLayer.INFINIBAND, "ethernet": LinkLayer.ETHERNET}


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """What a file of perftest's tells.

    Attributes
    ----------
    points
        All rows of all tables that can be compared.
    mtu_bytes, link_layer
        Of the wire; None where the tables do not say.
    strict_ordering
        Whether perftest says that it ran without PCIe relaxed ordering.
    """

    points: tuple[Measured, ...]
    mtu_bytes: int | None = None
    link_layer: LinkLayer | None = None
    strict_ordering: bool = False

    def fabric(self, local: Endpoint, remote: Endpoint) -> Fabric:
        """Return the usual wire between two ends, with what the tables say of it."""
        usual = Fabric.between(local.nic_part, remote.nic_part)
        return replace(
            usual,
            mtu_bytes=self.mtu_bytes or usual.mtu_bytes,
            link_layer=self.link_layer or usual.link_layer,
        )


def measured_in(file: str | os.PathLike[str], path: DataPath = DataPath.DIRECT) -> MeasuredRun:
    """Return what a file's perftest tables tell.

    Parameters
    ----------
    path
        By which path the figures were reached.

    Raises
    ------
    ReaderError
        The file cannot be read, or holds no table of perftest that can be compared.
    GdvizError
        Its tables were measured in different ways, or a table's sizes do not ascend.
    """
    source = repr(os.fspath(file))[:200]
    tables = [
        table
        for reading in open_path(file).readings
        if isinstance(reading.facts, Results)
        for table in reading.facts.tables
        if table.tool == "perftest" and table.rows
    ]
    if not tables:
        raise ReaderError(
            _("{file} holds no table of perftest.").format(file=source),
            _("Run ib_write_bw -a (or ib_read_bw, ib_write_lat ...) and give its output."),
        )
    usable = [table for table in tables if _one_direction(table)]
    points = tuple(point for table in usable for point in _points(table, path, source))
    if not points:
        raise ReaderError(
            _("{file} holds no perftest table of one reliable connection's one direction.").format(
                file=source
            ),
            _("Run it without -b, and with -c RC."),
        )
    mtu, layer, order = (_agreed(usable, name, source) for name in ("mtu", "link_type", "relaxed_ordering"))
    return MeasuredRun(
        points,
        int(mtu) if mtu and mtu.isdecimal() and len(mtu) < 6 else None,
        _LAYERS.get((layer or "").lower()),
        (order or "").lower() == "off",
    )


def _one_direction(table: ResultTable) -> bool:
    # The model is of reliable connections; "-b" prints the sum of both directions.
    reliable = table.setup.get("connection", "RC").upper() in {"RC", "XRC", "DC"}
    return reliable and "bidirectional" not in table.setup


def _agreed(tables: Sequence[ResultTable], name: str, source: str) -> str | None:
    told = {table.setup[name].lower(): table.line for table in tables if name in table.setup}
    if len(told) > 1:
        raise GdvizError(
            _("The tables of {file} differ in {name}: {values}.").format(
                file=source,
                name=name,
                values=", ".join(
                    _("{value} (line {line})").format(value=value[:40], line=line)
                    for value, line in told.items()
                ),
            ),
            _("Give one file for each."),
        )
    return next(iter(told), None)


def _points(table: ResultTable, path: DataPath, source: str) -> Iterator[Measured]:
    op = next((op for op in Op if op.value in table.operation), Op.WRITE)
    depth, qps = _whole(table, "tx_depth", 128), _whole(table, "qps", 1)
    largest = 0
    for row in table.rows:
        if row.size_bytes is None or (row.bandwidth_bytes_per_s is None and row.latency_s is None):
            continue
        if row.size_bytes < largest:
            raise GdvizError(
                _("{file}, line {line}: the sizes do not ascend, {after} comes after {before}.").format(
                    file=source, line=row.line, after=row.size_bytes, before=largest
                ),
                _("Give the table of one run."),
            )
        largest = row.size_bytes
        try:
            work = Workload(op, path, row.size_bytes, depth, qps)
        except GdvizError:
            continue
        # perftest halves the round trip of WRITE and SEND; a READ comes back by itself.
        there, back = (None, row.latency_s) if op is Op.READ else (row.latency_s, None)
        yield Measured(work, row.bandwidth_bytes_per_s or None, back, there)


def _whole(table: ResultTable, name: str, usual: int) -> int:
    text = str(table.setup.get(name, ""))
    return int(text) if text.isdecimal() and len(text) < 6 and int(text) > 0 else usual
