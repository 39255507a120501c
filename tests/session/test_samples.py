"""Rings of samples and the watchers' list."""

from __future__ import annotations

import numpy as np

from gdviz.session.events import Topic, Watchers
from gdviz.session.samples import History, Sample


def sample(time_s: float, p50_s: float | None = 1e-6) -> Sample:
    return Sample(1, time_s, 5e9, 1e6, p50_s, 2e-6, 3e-6, 0.5, {})


def test_a_ring_keeps_the_last_samples_in_order():
    history = History(capacity=3)
    for time in range(5):
        history.append(sample(float(time)))
    assert len(history) == 3
    assert history.seen == 5
    assert history.column("time_s").tolist() == [2.0, 3.0, 4.0]


def test_a_ring_that_is_not_full_gives_only_what_it_has():
    history = History(capacity=8)
    assert history.column("time_s").size == 0
    history.append(sample(1.0, p50_s=None))
    assert history.column("time_s").tolist() == [1.0]
    assert np.isnan(history.column("p50_s")[0])


def test_a_failing_watcher_harms_no_other():
    watchers = Watchers()
    seen: list[object] = []

    def broken(_news: object) -> None:
        raise ValueError("broken view")

    watchers.add(Topic.EVENTS, broken)
    remove = watchers.add(Topic.EVENTS, seen.append)
    watchers.tell(Topic.EVENTS, "one")
    remove()
    remove()
    watchers.tell(Topic.EVENTS, "two")
    assert seen == ["one"]
    assert [str(error) for error in watchers.failures] == ["broken view"] * 2
