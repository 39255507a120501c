"""Benchmarks of a node: what they moved, how fast, and what they could not register."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gdviz.doctor.evidence.node import CaseEvidence, NodeEvidence
from gdviz.machine import normal_bus_id
from gdviz.readers import Evidence, Reading
from gdviz.readers.results import ResultRow, Results, ResultTable


@dataclass(frozen=True, slots=True)
class Run:
    """A benchmark's table.

    Attributes
    ----------
    tool, operation
        Such as ``perftest`` and ``write bw``, ``nccl-tests`` and ``all_reduce``, ``osu`` and ``bw``.
    device
        RDMA device; empty if not printed.
    on_gpu
        Whether GPU memory was used; None if it cannot be told.
    gpu_index
        The GPU, if printed.
    best_bytes_per_s, best_size_bytes
        The best row: bus bandwidth for collectives.
    hosts
        Hosts that took part; None if the table does not name them.
    gpu_name, gpu_busid
        The (first) GPU, if printed.
    """

    tool: str
    operation: str
    device: str
    on_gpu: bool | None
    gpu_index: int | None
    best_bytes_per_s: float | None
    best_size_bytes: int | None
    evidence: Evidence
    heading: Evidence
    table: ResultTable
    reading: Reading
    hosts: int | None = None
    gpu_name: str = ""
    gpu_busid: str | None = None


def runs(node: NodeEvidence) -> Iterator[Run]:
    """Go through the benchmarks among a node's files and the job's."""
    for reading in (*node.readings, *node.job):
        yield from runs_of(reading)


def case_runs(case: CaseEvidence) -> Iterator[Run]:
    """Go through all benchmarks of a case, each once."""
    for reading in case.readings:
        yield from runs_of(reading)


def runs_of(reading: Reading) -> Iterator[Run]:
    """Go through the tables of a reading."""
    if isinstance(reading.facts, Results):
        for table in reading.facts.tables:
            yield _run(reading, table)


def _run(reading: Reading, table: ResultTable) -> Run:
    best: ResultRow | None = None
    for row in table.rows:
        if _rate(row) is not None and (best is None or (_rate(row) or 0.0) > (_rate(best) or 0.0)):
            best = row
    heading = reading.cite(table.line)
    setup = table.setup
    gpu = setup.get("use_cuda", setup.get("use_rocm", ""))
    hosts = {device.host for device in table.devices}
    names = [device.name for device in table.devices if device.name]
    return Run(
        table.tool,
        table.operation,
        setup.get("device", ""),
        _on_gpu(table),
        int(gpu) if gpu.isdecimal() and len(gpu) < 4 else None,
        _rate(best) if best is not None else None,
        best.size_bytes if best is not None else None,
        reading.cite(best.line) if best is not None else heading,
        heading,
        table,
        reading,
        len(hosts) or None,
        names[0] if names else setup.get("gpu_name", ""),
        normal_bus_id(setup.get("gpu_busid", "") + ".0") if setup.get("gpu_busid") else None,
    )


def _rate(row: ResultRow) -> float | None:
    return row.busbw_bytes_per_s if row.busbw_bytes_per_s is not None else row.bandwidth_bytes_per_s


def _on_gpu(table: ResultTable) -> bool | None:
    if table.tool == "nccl-tests":
        return True
    if table.tool == "perftest":
        return "use_cuda" in table.setup or "use_rocm" in table.setup or "gpu_name" in table.setup
    if table.tool in ("osu", "ucx_perftest"):
        said = " ".join(f"{key} {value}" for key, value in table.setup.items()).lower()
        return "device" in said or "cuda" in said or "d d" in said
    return None


def gpu_runs(node: NodeEvidence) -> list[Run]:
    """Return perftest's runs that moved GPU memory."""
    return [
        run
        for run in runs(node)
        if run.tool == "perftest" and run.on_gpu and run.best_bytes_per_s is not None
    ]
