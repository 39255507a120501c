from __future__ import annotations

import numpy as np
import pytest

from gdviz.machine import reference_machine
from gdviz.model import Endpoint, Workload, flow
from gdviz.rdma.simulated.stream import SAMPLE_MESSAGES, Stream

A, B = reference_machine("hgx-h100", "a"), reference_machine("hgx-h100", "b")


def stream(size_bytes: int = 8, *, depth: int = 128, exact: bool = False) -> Stream:
    left, right = (Endpoint(m, "mlx5_0", gpu=m.gpus[0].id) for m in (A, B))
    return Stream(flow(left, right, Workload(size_bytes=size_bytes, depth=depth)), exact=exact)


def test_every_message_by_time() -> None:
    one, other = stream(), stream()
    together = one.advance(400e-6)
    pieces = [other.advance(at) for at in (100e-6, 100e-6, 173e-6, 400e-6)]
    assert together.messages > 1000
    # The flow's random numbers fall otherwise where it is asked in pieces.
    assert sum(piece.messages for piece in pieces) == pytest.approx(together.messages, rel=0.01)
    assert pieces[1].messages == 0
    latency = np.concatenate([piece.latency_s for piece in pieces])
    assert latency.mean() == pytest.approx(together.latency_s.mean(), rel=0.02)
    assert together.last_s == 400e-6


def test_a_limit_ends_at_its_last_message() -> None:
    one = stream()
    taken = one.advance(1.0, 10)
    assert taken.messages == 10
    assert taken.latency_s.size == 10
    assert 0 < taken.last_s < 1e-3
    assert one.time_s == taken.last_s


def test_samples_above_the_budget() -> None:
    taken = stream().advance(1.0)
    assert taken.latency_s.size == SAMPLE_MESSAGES < taken.messages
    exact = stream(exact=True).advance(0.01)
    assert exact.latency_s.size == exact.messages
    assert taken.messages == pytest.approx(exact.messages * 100, rel=0.02)


def test_sampling_is_not_faster_than_the_ceiling() -> None:
    one = stream(65536)
    rate = one._flow.prediction.messages_per_s
    taken = [one.advance(0.05 * number) for number in range(1, 21)]
    assert sum(t.messages for t in taken) <= rate * 1.0 + 1


def test_a_sampled_limit() -> None:
    taken = stream().advance(1.0, 1_000_000)
    assert taken.messages == 1_000_000
    assert taken.last_s == pytest.approx(1e6 / stream()._flow.prediction.messages_per_s, rel=0.02)


def test_closing_keeps_what_was_posted() -> None:
    one = stream()
    one.advance(50e-6)
    pending = one.close(128)
    assert 1 <= pending <= 128
    assert one.end_s > 50e-6
    rest = one.advance(one.end_s)
    assert rest.messages == pending
    assert one.pending == 0
    assert one.advance(1.0).messages == 0


def test_closing_drops_what_was_drawn_ahead() -> None:
    one = stream(depth=4)
    one.advance(50e-6)
    one._more(100)
    assert 1 <= one.close(4) <= 4


def test_closing_within_a_count() -> None:
    one = stream()
    one.advance(50e-6)
    assert one.close(128, 3) == 3
