from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gdviz.model.engine import Visit, Window, in_turn, starts, tandem


def draw(rng, servers, count):
    return [Visit(rng.exponential(1.0, count), rng.exponential(3.0, count)) for _ in range(servers)]


def naive(visits, tail, window):
    """One message after the other, as the rule says it."""
    free, done, posted, last = [-np.inf] * len(visits), [], [], 0.0
    for i in range(len(tail)):
        now = done[i - window] if i >= window else 0.0
        posted.append(now)
        for server, visit in enumerate(visits):
            now = max(now, free[server])
            free[server] = now + visit.occupancy_s[i]
            now += visit.delay_s[i]
        last = max(last, now + tail[i])
        done.append(last)
    return np.array(posted), np.array(done)


@pytest.mark.parametrize("window", [1, 2, 7, 11, 12, 64, 200, 1000])
def test_window_is_the_naive_loop(window):
    rng = np.random.default_rng(window)
    visits, tail = draw(rng, 3, 500), rng.exponential(0.5, 500)
    posted, completed, _begun = Window(3, window).run(visits, tail)
    expected = naive(visits, tail, window)
    np.testing.assert_allclose(posted, expected[0], rtol=1e-9)
    np.testing.assert_allclose(completed, expected[1], rtol=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 80), st.lists(st.integers(1, 90), min_size=1, max_size=6), st.integers(0, 2**32 - 1))
def test_taking_in_pieces_is_taking_at_once(window, pieces, seed):
    rng = np.random.default_rng(seed)
    count = sum(pieces)
    visits, tail = draw(rng, 2, count), rng.exponential(0.5, count)
    once = Window(2, window).run(visits, tail)[1]
    engine, at, parts = Window(2, window), 0, []
    for piece in pieces:
        cut = slice(at, at + piece)
        some = [Visit(visit.occupancy_s[cut], visit.delay_s[cut]) for visit in visits]
        parts.append(engine.run(some, tail[cut])[1])
        at += piece
    np.testing.assert_allclose(np.concatenate(parts), once, rtol=1e-12)


def test_tandem_is_the_naive_loop_without_a_window():
    rng = np.random.default_rng(4)
    visits = draw(rng, 8, 300)
    _begun, left = tandem(np.zeros(300), visits)
    # Without a window nothing holds completions in order.
    free, expected = [-np.inf] * 8, []
    for i in range(300):
        now = 0.0
        for server, visit in enumerate(visits):
            now = max(now, free[server])
            free[server] = now + visit.occupancy_s[i]
            now += visit.delay_s[i]
        expected.append(now)
    # Servers take messages in the order in which they come by number, as a queue pair does.
    np.testing.assert_allclose(left, expected, rtol=1e-9)


def test_a_server_waits_for_what_it_is_busy_with():
    found = starts(np.array([0.0, 0.0, 10.0]), np.array([2.0, 3.0, 1.0]), free_s=1.0)
    assert found.tolist() == [1.0, 3.0, 10.0]
    assert starts(np.empty(0), np.empty(0)).size == 0


def test_one_at_a_time_is_the_sum_of_the_times():
    assert in_turn(np.array([1.0, 2.0, 3.0]), np.array([5.0, 0.0, 0.0])).tolist() == [5.0, 7.0, 10.0]


def test_a_window_of_one_is_one_at_a_time():
    rng = np.random.default_rng(2)
    delays = rng.exponential(3.0, 200)
    visits = [Visit(delays * 0.5, delays)]
    completed = Window(1, 1).run(visits, np.zeros(200))[1]
    np.testing.assert_allclose(completed, in_turn(delays, delays * 0.5), rtol=1e-12)
