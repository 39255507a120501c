"""Benchmarks of a node: what they moved, how fast, and what they could not register."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gdviz.doctor.evidence.node import CaseEvidence, NodeEvidence
from gdviz.readers import Evidence, Reading
from gdviz.readers.results import ResultTable

#: perftest's operations by its programs.
_PERFTEST = re.compile(r"\bib_(write|read|send|atomic)_(bw|lat)\b")


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
    raise NotImplementedError


def gpu_runs(node: NodeEvidence) -> list[Run]:
    """Return perftest's runs that moved GPU memory."""
    return [
        run
        for run in runs(node)
        if run.tool == "perftest" and run.on_gpu and run.best_bytes_per_s is not None
    ]
