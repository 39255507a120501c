"""Tables of benchmarks, in one form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ResultRow:
    """One row. Bytes, seconds and bytes per second; None where the table has no such column.

    Attributes
    ----------
    bandwidth_bytes_per_s
        What one side moved (perftest's average, OSU's bandwidth, a copy's rate).
    peak_bytes_per_s
        perftest's peak.
    algbw_bytes_per_s, busbw_bytes_per_s
        nccl-tests' algorithm and bus bandwidth, out of place (in place where only that is there).
    latency_s
        Typical or median time; of a collective, its time.
    p99_s
        99th percentile.
    messages_per_s
        Message rate.
    label
        What the row is about where it is no size: ``GPU 0 <- GPU 1``.
    """

    size_bytes: int | None
    line: int
    bandwidth_bytes_per_s: float | None = None
    peak_bytes_per_s: float | None = None
    algbw_bytes_per_s: float | None = None
    busbw_bytes_per_s: float | None = None
    latency_s: float | None = None
    p99_s: float | None = None
    messages_per_s: float | None = None
    label: str = ""


@dataclass(frozen=True, slots=True)
class ResultDevice:
    """A GPU that a benchmark says it uses."""

    rank: int
    host: str
    gpu: int | None
    busid: str | None
    name: str
    line: int


@dataclass(frozen=True, slots=True)
class ResultTable:
    """One run of one benchmark.

    Attributes
    ----------
    tool
        ``perftest``, ``nccl-tests``, ``nvbandwidth``, ``gdrcopy`` or ``osu``.
    operation
        ``write bw``, ``read lat``; ``all_reduce``; ``device_to_device_memcpy_read_ce``; ``copybw``; ``bw``.
    setup
        What the tool prints of itself, by short names: ``device``, ``mtu``, ``qps``, ``tx_depth``,
        ``link_type``, ``gid_index``, ``relaxed_ordering``, ``use_cuda``, ``gpu_name``, ``gpu_busid``,
        ``command``, ``ranks``, ``hosts`` ...
    rows
        May be empty: a run that failed.
    devices
        GPUs by rank.
    errors
        Lines in which the tool says that it failed: (line, text).
    line
        Where the run begins.
    """

    tool: str
    operation: str
    line: int
    setup: Mapping[str, str] = field(default_factory=dict)
    rows: tuple[ResultRow, ...] = ()
    devices: tuple[ResultDevice, ...] = ()
    errors: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Results:
    """All tables of a text, in order."""

    tables: tuple[ResultTable, ...] = ()
