"""What was measured of a transfer over time, in rings of fixed size.

Charts read views of these rings; nothing is ever read back from a chart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gdviz.model import Place
from gdviz.nodes import Report

#: The columns of a ring, one number a sample.
COLUMNS = ("time_s", "bandwidth_bytes_per_s", "messages_per_s", "p50_s", "p99_s", "p999_s", "cpu_share")


@dataclass(frozen=True, slots=True)
class Sample:
    """Means over one short interval of a transfer.

    Attributes
    ----------
    transfer
        Number of the transfer.
    time_s
        End of the interval, on the session's clock.
    p50_s, p99_s, p999_s
        Latency from posting to completion of the messages that completed in it; None if none did.
    cpu_share
        CPU time over wall time, both ends, one core counted as 1.
    loads
        Bytes a second through each place.
    """

    transfer: int
    time_s: float
    bandwidth_bytes_per_s: float
    messages_per_s: float
    p50_s: float | None
    p99_s: float | None
    p999_s: float | None
    cpu_share: float
    loads: Mapping[Place, float]


class History:
    """The last samples of a transfer.

    Parameters
    ----------
    capacity
        Samples kept; older ones are dropped.
    """

    def __init__(self, capacity: int = 4096) -> None:
        self._capacity = capacity
        # Most transfers are short: the ring grows to its capacity only when it is needed.
        self._ring = np.full((len(COLUMNS), min(64, capacity)), np.nan)
        self._count = 0

    def append(self, sample: Sample) -> None:
        """Add a sample."""
        width = self._ring.shape[1]
        if self._count == width < self._capacity:
            grown = np.full((len(COLUMNS), min(2 * width, self._capacity)), np.nan)
            grown[:, :width] = self._ring
            self._ring = grown
        values = [getattr(sample, column) for column in COLUMNS]
        self._ring[:, self._count % self._ring.shape[1]] = [np.nan if v is None else v for v in values]
        self._count += 1

    def __len__(self) -> int:
        """Return the number of samples kept."""
        return min(self._count, self._ring.shape[1])

    @property
    def seen(self) -> int:
        """Samples appended since the start, kept or not."""
        return self._count

    def column(self, name: str) -> NDArray[np.float64]:
        """Return one column, oldest first, shape (n,); unknown values are NaN."""
        row: NDArray[np.float64] = self._ring[COLUMNS.index(name)]
        if self._count <= len(row):
            return row[: self._count].copy()
        cut = self._count % len(row)
        return np.concatenate((row[cut:], row[:cut]))


def sample_of(report: Report) -> Sample:
    """Return what a report with an interval says of it."""
    interval = report.interval
    assert interval is not None
    seconds = interval.end_s - interval.start_s
    latency = interval.latency
    return Sample(
        transfer=report.transfer,
        time_s=interval.end_s,
        bandwidth_bytes_per_s=interval.bytes / seconds,
        messages_per_s=interval.messages / seconds,
        p50_s=latency.p50 if latency.count else None,
        p99_s=latency.p99 if latency.count else None,
        p999_s=latency.p999 if latency.count else None,
        cpu_share=interval.cpu_seconds / seconds,
        loads=interval.loads,
    )
