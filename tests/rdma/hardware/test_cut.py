"""How staged messages are cut; both ends must come to the same."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdviz.rdma import Opcode
from gdviz.rdma.hardware.worker.cut import Cut
from gdviz.rdma.hardware.worker.notes import later
from gdviz.rdma.hardware.worker.work import Order


def order(size: int, bounce: int, **changes) -> Order:
    fields = {
        "opcode": Opcode.RDMA_WRITE,
        "size_bytes": size,
        "depth": 16,
        "count": 10,
        "duration_s": None,
        "local": 0,
        "local_key": 0,
        "local_bytes": 10 * size,
        "remote": 0,
        "remote_key": 0,
        "remote_bytes": 10 * size,
        "span_bytes": 10 * size,
        "window": 16,
        "staged": True,
        "bounce": ((0, 0, bounce), (0, 0, bounce)),
    }
    return Order(**(fields | changes))


sizes = st.integers(1, 10**6)


@given(size=sizes, bounce=sizes, lanes=st.integers(1, 4))
def test_pieces_cover_their_message_once(size, bounce, lanes) -> None:
    cut = Cut.of(order(size, max(bounce, lanes)), 0, lanes)
    covered = 0
    for number in range(min(cut.pieces, 50)):
        offset, length = cut.piece(number)
        assert offset == covered
        assert 1 <= length <= cut.slot_bytes
        covered += length
    if cut.pieces <= 50:
        assert covered == size


@given(size=sizes, bounce=sizes, lanes=st.integers(1, 4))
def test_slots_stay_inside_and_apart(size, bounce, lanes) -> None:
    whole = max(bounce, lanes)
    taken = []
    for lane in range(lanes):
        cut = Cut.of(order(size, whole), lane, lanes)
        taken += [(cut.slot(number), cut.slot(number) + cut.slot_bytes) for number in range(cut.slots)]
        assert cut.slot(cut.slots) == cut.slot(0)
    taken.sort()
    assert taken[0][0] >= 0
    assert taken[-1][1] <= whole
    assert all(earlier[1] <= later_[0] for earlier, later_ in pairwise(taken))


@pytest.mark.parametrize(("lanes", "limits"), [(1, [20]), (3, [8, 6, 6])])
def test_limits(lanes, limits) -> None:
    cuts = [Cut.of(order(8192, 2 * 4096 * lanes), number, lanes) for number in range(lanes)]
    assert [cut.limit for cut in cuts] == limits
    assert Cut.of(order(8192, 8192, count=None), 0, 1).limit is None


def test_large_messages_are_cut_so_that_copies_overlap() -> None:
    cut = Cut.of(order(2**20, 2**20), 0, 1)
    assert (cut.slots, cut.slot_bytes, cut.pieces) == (4, 2**18, 4)


@given(known=st.integers(0, 2**40), more=st.integers(0, 2**31))
def test_numbers_beyond_32_bits(known, more) -> None:
    assert later((known + more) & 0xFFFFFFFF, known) == known + more
