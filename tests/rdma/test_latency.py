from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdviz.rdma import LatencyHistogram


def histogram(values, weight: float = 1.0) -> LatencyHistogram:
    made = LatencyHistogram()
    made.record(values, weight)
    return made


def test_empty() -> None:
    made = histogram([])
    assert made.count == 0
    assert all(math.isnan(value) for value in (made.p50, made.mean, made.min, made.max))
    assert "empty" in repr(made)


def test_small_values_are_exact() -> None:
    made = histogram([1e-9, 2e-9, 2.047e-6])
    assert (made.min, made.p50, made.max) == (1e-9, 2e-9, 2.047e-6)


def test_percentiles() -> None:
    made = histogram(np.arange(1, 1001) * 1e-9)
    assert made.count == 1000
    assert made.p50 == pytest.approx(500e-9)
    assert made.p99 == pytest.approx(990e-9)
    assert made.p999 == pytest.approx(999e-9)
    assert made.percentile(100) == made.max == pytest.approx(1000e-9)
    assert made.mean == pytest.approx(500.5e-9)
    with pytest.raises(ValueError, match="percentile"):
        made.percentile(101)


@given(st.lists(st.floats(1e-9, 1000), min_size=1, max_size=50))
def test_buckets_are_narrow(values) -> None:
    made = histogram(values)
    assert made.count == len(values)
    assert made.max == pytest.approx(max(values), rel=1.1e-3, abs=1e-9)
    assert made.min == pytest.approx(min(values), rel=1.1e-3, abs=1e-9)


@given(st.lists(st.floats(1e-9, 10), min_size=1, max_size=50), st.floats(1, 1e4))
def test_weights_add_up(values, weight) -> None:
    assert histogram(values, weight).count == pytest.approx(len(values) * weight, abs=1)


@given(st.lists(st.floats(1e-9, 10), max_size=20), st.lists(st.floats(1e-9, 10), max_size=20))
def test_merge_is_recording_both(left, right) -> None:
    assert LatencyHistogram.merged([histogram(left), histogram(right)]) == histogram(left + right)


@pytest.mark.parametrize("values", [[], [3e-6] * 5, [1e-9, 2.5e-6, 17.3e-6, 4.0, 0.123456]])
def test_encode_decode(values) -> None:
    made = histogram(values)
    assert LatencyHistogram.decode(made.encode()) == made


def test_agrees_with_hdrhistogram() -> None:
    from hdrh.histogram import HdrHistogram

    values = np.random.default_rng(5).lognormal(np.log(5e-6), 1.0, 2000)
    made, reference = histogram(values), HdrHistogram.decode(histogram(values).encode())
    assert reference.get_total_count() == made.count
    for q in (50, 90, 99, 99.9):
        assert reference.get_value_at_percentile(q) == pytest.approx(made.percentile(q) * 1e9, rel=1.1e-3)
