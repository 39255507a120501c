"""What is thinned keeps its extremes and its end."""

from __future__ import annotations

from gdviz.session import Sample
from gdviz.widgets.pump import thinned


def samples(values: list[float]) -> list[Sample]:
    return [Sample(1, float(i), v, 1.0, None, None, None, 0.0, {}) for i, v in enumerate(values)]


def test_few_samples_stay_as_they_are():
    few = samples([1.0, 2.0, 3.0])
    assert thinned(few, 40) is few


def test_a_single_dip_and_a_single_peak_survive():
    values = [10.0] * 1000
    values[333], values[777] = 1.0, 99.0
    kept = thinned(samples(values), 40)
    assert len(kept) <= 41
    bandwidths = [sample.bandwidth_bytes_per_s for sample in kept]
    assert min(bandwidths) == 1.0
    assert max(bandwidths) == 99.0
    times = [sample.time_s for sample in kept]
    assert times == sorted(times)
    assert times[-1] == 999.0
