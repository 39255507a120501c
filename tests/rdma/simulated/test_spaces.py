from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gdviz.rdma.simulated.spaces import AddressSpace


def test_lowest_first_and_rounded() -> None:
    space = AddressSpace(1000, 100, 10)
    assert space.take(11) == [(1000, 20)]
    assert space.take(10) == [(1020, 10)]
    assert space.used_bytes == 30


def test_pieces_when_scattered() -> None:
    space = AddressSpace(0, 40, 10)
    pieces = [space.take(10) for _ in range(4)]
    space.give(pieces[0])
    space.give(pieces[2])
    assert space.take(20, whole=True) is None
    assert space.take(20) == [(0, 10), (20, 10)]
    assert space.take(1) is None


def test_too_much_takes_nothing() -> None:
    space = AddressSpace(0, 40, 10)
    assert space.take(41) is None
    assert space.used_bytes == 0


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 300)), max_size=40))
def test_ranges_never_overlap(steps) -> None:
    space = AddressSpace(0, 1000, 10)
    held: list[list[tuple[int, int]]] = []
    for take, number in steps:
        if take:
            pieces = space.take(number)
            if pieces is not None:
                held.append(pieces)
        elif held:
            space.give(held.pop(number % len(held)))
        bytes_held = [
            byte for pieces in held for start, size in pieces for byte in range(start, start + size, 10)
        ]
        assert len(bytes_held) == len(set(bytes_held))
        assert space.used_bytes == len(bytes_held) * 10
    for pieces in held:
        space.give(pieces)
    assert space.take(1000) == [(0, 1000)]
