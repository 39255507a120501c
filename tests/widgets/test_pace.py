"""Updates slow down when the page does not answer, and come back when it does."""

from __future__ import annotations

from gdviz.widgets.live import SLOWEST_RATE_HZ, Pace


class Hands:
    """A clock's hands that the test moves."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


def test_a_page_that_answers_keeps_the_rate():
    hands = Hands()
    pace = Pace(5.0, hands)
    for _ in range(50):
        pace.sent()
        hands.time += 0.2
        pace.answered()
    assert pace.interval_s == 0.2


def test_a_page_that_lags_gets_half_as_many_until_it_answers():
    hands = Hands()
    pace = Pace(8.0, hands)
    pace.sent()
    hands.time = 2.5
    pace.sent()
    assert pace.rate_hz == 4.0
    hands.time = 3.0
    pace.sent()
    assert pace.rate_hz == 4.0, "patience starts anew after each halving"
    hands.time = 5.0
    pace.sent()
    assert pace.rate_hz == 2.0
    for _ in range(20):
        pace.answered()
    assert pace.rate_hz == 8.0


def test_the_rate_has_a_floor():
    hands = Hands()
    pace = Pace(5.0, hands)
    for _ in range(40):
        hands.time += 3.0
        pace.sent()
    assert pace.rate_hz == SLOWEST_RATE_HZ
