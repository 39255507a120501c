"""How perftest writes its results: the same columns, units and keys, so that two runs lie side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gdviz.session.bench import BandwidthRow, LatencyRow

#: perftest's line between the parts of its output.
LINE = "-" * 87

#: Bytes a second in perftest's units: its MB is 2^20 bytes, its Gb 10^9 bits.
UNITS = {"MB/sec": float(2**20), "Gb/sec": 1e9 / 8}

_LATENCY_HEAD = (
    " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]"
    "   99% percentile[usec]   99.9% percentile[usec]"
)
_LATENCY_HEAD_BY_DURATION = " #bytes        #iterations       t_avg[usec]    tps average"


def bandwidth_head(unit: str) -> str:
    """Return the head of a bandwidth table in ``MB/sec`` or ``Gb/sec``."""
    return f" #bytes     #iterations    BW peak[{unit}]    BW average[{unit}]   MsgRate[Mpps]"


def bandwidth_line(row: BandwidthRow, unit: str) -> str:
    """Return a row; a peak that was not looked for is 0, as perftest has it."""
    peak, average = _rates(row, unit)
    # perftest shows more of small figures in Gb/s.
    digits = 6 if unit == "Gb/sec" and average < 0.1 else 2
    return (
        f" {row.size_bytes:<7d}    {row.iterations:<10d}       {peak:<7.{digits}f}            "
        f"{average:<7.{digits}f}              {row.messages_per_s / 1e6:<7.6f}"
    ).rstrip()


def latency_head(by_duration: bool) -> str:
    """Return the head of a latency table."""
    return _LATENCY_HEAD_BY_DURATION if by_duration else _LATENCY_HEAD


def latency_line(row: LatencyRow, by_duration: bool) -> str:
    """Return a row."""
    figures = {name: f"{value * 1e6:<7.2f}" for name, value in _times(row).items()}
    if by_duration:
        return (
            f" {row.size_bytes:<7d}       {row.iterations:<10d}        {figures['t_avg']}        "
            f"{row.per_s:<7.2f}"
        ).rstrip()
    return (
        f" {row.size_bytes:<7d} {row.iterations:<10d}     {figures['t_min']}        {figures['t_max']}"
        f"      {figures['t_typical']}          {figures['t_avg']}        {figures['t_stdev']}"
        f"         {figures['percentile_99']}                {figures['percentile_99.9']}"
    ).rstrip()


def setup_lines(title: str, setup: Mapping[str, str]) -> list[str]:
    """Return what perftest prints before its table."""
    return [LINE, f"{title:^64}".rstrip(), *(f" {name:<16}: {value}" for name, value in setup.items()), LINE]


def bandwidth_result(row: BandwidthRow, unit: str) -> dict[str, Any]:
    """Return a row by the keys of perftest's JSON, and the unit, which that leaves out."""
    peak, average = _rates(row, unit)
    return {
        "MsgSize": row.size_bytes,
        "n_iterations": row.iterations,
        "BW_peak": round(peak, 6),
        "BW_average": round(average, 6),
        "MsgRate": round(row.messages_per_s / 1e6, 6),
        "BW_unit": unit,
    }


def latency_result(row: LatencyRow, by_duration: bool) -> dict[str, Any]:
    """Return a row by the keys of perftest's JSON; times are microseconds."""
    times = {name: round(value * 1e6, 3) for name, value in _times(row).items()}
    if by_duration:
        times = {"t_avg": times["t_avg"], "tps_average": round(row.per_s, 2)}
    return {"MsgSize": row.size_bytes, "n_iterations": row.iterations, **times}


def _rates(row: BandwidthRow, unit: str) -> tuple[float, float]:
    return (row.peak_bytes_per_s or 0.0) / UNITS[unit], row.average_bytes_per_s / UNITS[unit]


def _times(row: LatencyRow) -> dict[str, float]:
    return {
        "t_min": row.min_s,
        "t_max": row.max_s,
        "t_typical": row.typical_s,
        "t_avg": row.mean_s,
        "t_stdev": row.stdev_s,
        "percentile_99": row.p99_s,
        "percentile_99.9": row.p999_s,
    }
