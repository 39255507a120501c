from __future__ import annotations

import numpy as np
import pytest

from gdviz.errors import GdvizError
from gdviz.model import DataPath, Op, Workload, flow

CASES = [
    (path, size, depth, qps)
    for path in DataPath
    for size, depth, qps in ((8, 64, 1), (65536, 64, 4), (1 << 20, 4, 1), (65536, 1, 1), (4096, 2, 1))
]


@pytest.mark.parametrize(("path", "size", "depth", "qps"), CASES)
def test_flow_reaches_what_is_predicted(pair, path, size, depth, qps):
    running = flow(*pair, Workload(Op.WRITE, path, size, depth, qps))
    running.take(2000)
    batch = running.take(20_000)
    seconds = batch.completed_s[-1] - batch.completed_s[0]
    rate = (len(batch.completed_s) - 1) / seconds
    assert rate == pytest.approx(running.prediction.messages_per_s, rel=0.02)
    # Little's law: what is in flight is the rate times the time each takes.
    assert rate * batch.latency_s.mean() == pytest.approx(depth * qps, rel=0.02)


@pytest.mark.parametrize("depth", [1, 4, 64])
def test_completions_ascend_and_go_on(pair, depth):
    running = flow(*pair, Workload(size_bytes=4096, depth=depth))
    first, second = running.take(700), running.take(900)
    times = np.concatenate([first.completed_s, second.completed_s])
    assert (np.diff(times) >= 0).all()
    assert (np.concatenate([first.latency_s, second.latency_s]) > 0).all()
    assert first.completed_s.shape == first.latency_s.shape == (700,)


def test_the_first_message_takes_its_own_time(pair):
    running = flow(*pair, Workload(size_bytes=4096, depth=64))
    assert running.take(1).completed_s[0] == pytest.approx(running.prediction.latency.p50, rel=0.5)


def test_same_seed_same_messages(pair):
    one, same, other = (flow(*pair, Workload(), seed=seed).take(300) for seed in (1, 1, 2))
    assert (one.completed_s == same.completed_s).all()
    assert (one.completed_s != other.completed_s).any()


def test_cpu_time_of_a_message(pair):
    direct, staged = (flow(*pair, Workload(path=path)) for path in DataPath)
    assert staged.cpu_seconds_per_message > 50 * direct.cpu_seconds_per_message
    share = direct.prediction.messages_per_s * direct.cpu_seconds_per_message
    assert share == pytest.approx(direct.prediction.cpu_share)


def test_nothing_and_less_than_nothing(pair):
    running = flow(*pair, Workload())
    assert running.take(0).completed_s.size == 0
    with pytest.raises(GdvizError):
        running.take(-1)


def test_long_takes_go_in_passes(pair):
    whole = flow(*pair, Workload(size_bytes=8)).take(70_000)
    assert whole.completed_s.shape == (70_000,)
    assert (np.diff(whole.completed_s) >= 0).all()
