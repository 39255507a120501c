"""A histogram of latencies that is small, exact to 0.1 %, and can be merged and sent elsewhere.

Values are kept in nanoseconds and in the buckets of an HDR histogram with three significant digits, but
sparsely: a pair of arrays holds the buckets that are used, so that a histogram for each tick of a live
figure costs a few kB. The exchange format is HdrHistogram's own (`encode`, `decode`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gdviz.model.results import LatencySummary

if TYPE_CHECKING:
    from hdrh.histogram import HdrHistogram

#: Buckets of one power of two: 2 * 10^3 rounded up to a power of two (HdrHistogram, 3 digits).
_SUB_BUCKET_BITS = 11
_HIGHEST_NS = 24 * 3600 * 10**9


def _buckets(values_ns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the lowest value of each value's bucket."""
    # Values below 2^11 ns have a bucket each; above, the lower bits are cut off. frexp is exact here:
    # values stay far below 2^53.
    bits = np.frexp(values_ns.astype(np.float64))[1]
    shift = np.maximum(0, bits - _SUB_BUCKET_BITS).astype(np.int64)
    lowest: NDArray[np.int64] = (values_ns >> shift) << shift
    return lowest


class LatencyHistogram:
    """Counts of latencies. Everything that goes in and comes out is in seconds."""

    def __init__(self) -> None:
        self._values = np.empty(0, np.int64)
        self._counts = np.empty(0, np.int64)

    def record(self, latencies_s: ArrayLike, weight: float = 1.0) -> None:
        """Add latencies.

        Parameters
        ----------
        latencies_s
            One or many, in seconds; below 1 ns counts as 1 ns, above a day as a day.
        weight
            How many messages each stands for, at least 1; fractions are spread so that the sum is right
            to less than one message.
        """
        values = np.rint(np.atleast_1d(np.asarray(latencies_s, np.float64)) * 1e9)
        if not values.size:
            return
        clipped = np.clip(values, 1, _HIGHEST_NS).astype(np.int64)
        unique, counts = np.unique(_buckets(clipped), return_counts=True)
        if weight != 1.0:
            sums = np.floor(np.cumsum(counts) * weight + 1e-9).astype(np.int64)
            counts = np.diff(sums, prepend=0)
        self._add(unique, counts.astype(np.int64))

    def merge(self, other: LatencyHistogram) -> None:
        """Add all of another histogram."""
        self._add(other._values, other._counts)

    @classmethod
    def merged(cls, parts: Iterable[LatencyHistogram]) -> LatencyHistogram:
        """Return the sum of several."""
        whole = cls()
        for part in parts:
            whole.merge(part)
        return whole

    def _add(self, values: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
        together = np.concatenate([self._values, values])
        unique, inverse = np.unique(together, return_inverse=True)
        sums = np.zeros(unique.size, np.int64)
        np.add.at(sums, inverse, np.concatenate([self._counts, counts]))
        used = sums > 0
        self._values, self._counts = unique[used], sums[used]

    @property
    def count(self) -> int:
        """Number of messages."""
        return int(self._counts.sum())

    def percentile(self, q: float) -> float:
        """Return the latency in seconds that `q` percent of the messages do not exceed; nan if empty."""
        if not 0 <= q <= 100:
            raise ValueError(f"a percentile goes from 0 to 100, not {q}")
        if not self._values.size:
            return float("nan")
        sums = np.cumsum(self._counts)
        # Without the small slack, 99.9 % of 1000 would be message 1000 by rounding, not 999.
        wanted = max(1, int(np.ceil(q / 100 * sums[-1] - 1e-9)))
        return float(self._values[int(np.searchsorted(sums, wanted))]) / 1e9

    @property
    def p50(self) -> float:
        """Median in seconds."""
        return self.percentile(50)

    @property
    def p99(self) -> float:
        """99th percentile in seconds."""
        return self.percentile(99)

    @property
    def p999(self) -> float:
        """99.9th percentile in seconds."""
        return self.percentile(99.9)

    @property
    def mean(self) -> float:
        """Mean in seconds; nan if empty."""
        total = self._counts.sum()
        return (
            float((self._values * self._counts.astype(np.float64)).sum() / total / 1e9)
            if total
            else float("nan")
        )

    @property
    def max(self) -> float:
        """Longest in seconds; nan if empty."""
        return float(self._values[-1]) / 1e9 if self._values.size else float("nan")

    @property
    def min(self) -> float:
        """Shortest in seconds; nan if empty."""
        return float(self._values[0]) / 1e9 if self._values.size else float("nan")

    def summary(self) -> LatencySummary:
        """Return the usual figures in seconds."""
        return LatencySummary(self.p50, self.p99, self.p999, self.mean, self.max)

    def buckets(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return the buckets in use, in seconds and ascending, and their counts."""
        return self._values / 1e9, self._counts.copy()

    def encode(self) -> str:
        """Return the histogram in HdrHistogram's compressed base64 form (nanoseconds)."""
        histogram = _hdr()
        for value, count in zip(self._values.tolist(), self._counts.tolist(), strict=True):
            histogram.record_value(value, count)
        encoded: bytes = histogram.encode()
        return encoded.decode("ascii")

    @classmethod
    def decode(cls, text: str) -> LatencyHistogram:
        """Return a histogram from what `encode` gave."""
        histogram = _hdr()
        histogram.decode_and_add(text)
        self = cls()
        # The iterator gives the same object again and again: read each before the next.
        items = histogram.get_recorded_iterator()
        pairs = [(item.value_iterated_to, item.count_at_value_iterated_to) for item in items]
        if pairs:
            values, counts = np.array(pairs, np.int64).T
            self._add(_buckets(values), counts)
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LatencyHistogram):
            return NotImplemented
        same = np.array_equal(self._values, other._values)
        return same and np.array_equal(self._counts, other._counts)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        if not self.count:
            return "LatencyHistogram(empty)"
        return f"LatencyHistogram(count={self.count}, p50={self.p50:.3g} s, p99={self.p99:.3g} s)"


def _hdr() -> HdrHistogram:
    from hdrh.histogram import HdrHistogram

    return HdrHistogram(1, _HIGHEST_NS, 3)
