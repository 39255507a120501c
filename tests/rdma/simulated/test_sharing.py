from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdviz.rdma.simulated.sharing import Demand, fair_scales


def test_alone_is_all() -> None:
    assert fair_scales([Demand(50e9, {"port": 1.0})]) == [1.0]
    assert fair_scales([]) == []


def test_equal_parts() -> None:
    one = Demand(50e9, {"port": 1.0})
    assert fair_scales([one, one]) == pytest.approx([0.5, 0.5])


def test_small_ones_keep_theirs() -> None:
    small, big = Demand(10e9, {"port": 0.2}), Demand(50e9, {"port": 1.0})
    assert fair_scales([small, big, big]) == pytest.approx([1.0, 0.4, 0.4])


def test_what_one_cannot_use_goes_to_the_other() -> None:
    # The first meets the second on "x" and is held back on "y" by two others.
    held, free = Demand(30.0, {"x": 0.3, "y": 1.0}), Demand(100.0, {"x": 1.0})
    other = Demand(30.0, {"y": 1.0})
    scales = fair_scales([held, free, other, other])
    assert scales[0] == pytest.approx(1 / 3)
    assert scales[1] == pytest.approx(0.9)


_DEMANDS = st.lists(
    st.builds(
        Demand,
        st.floats(1e3, 1e11),
        st.dictionaries(st.sampled_from("abcd"), st.floats(0, 1), max_size=4),
    ),
    max_size=6,
)


@given(_DEMANDS)
def test_no_place_is_overfull_and_nobody_could_have_more(demands) -> None:
    scales = fair_scales(demands)
    used = {
        place: sum(d.shares.get(place, 0.0) * s for d, s in zip(demands, scales, strict=True))
        for place in "abcd"
    }
    assert all(share <= 1 + 1e-6 for share in used.values())
    for demand, scale in zip(demands, scales, strict=True):
        assert 0 < scale <= 1
        if scale < 1 - 1e-6:
            assert any(used[place] > 1 - 1e-6 for place, share in demand.shares.items() if share > 0)
