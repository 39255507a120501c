from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdviz.figures.text_size import largest_size, plain, shorten, shorten_middle, text_width, wrap


def test_width_is_never_less_than_that_of_a_wide_face() -> None:
    # Advance widths of DejaVu Sans at 100 px, read from the face.
    assert text_width("mlx5_0", 100) >= 97.4 + 27.8 + 59.2 + 63.6 + 50.0 + 63.6 - 20
    assert text_width("GPU 0", 100, bold=True) >= 82.1 + 73.3 + 81.2 + 34.8 + 69.6 - 20
    assert text_width("网卡", 10) == 20
    assert text_width("a\nwider line", 10) == text_width("wider line", 10)


@given(st.text(max_size=60), st.floats(0, 200), st.booleans())
def test_shortened_text_fits(text: str, room: float, bold: bool) -> None:
    for cut in (shorten(text, 13, room, bold=bold), shorten_middle(text, 13, room, bold=bold)):
        assert text_width(cut, 13, bold=bold) <= room
        assert "\n" not in cut


@given(st.text(max_size=60), st.integers(1, 4))
def test_wrapped_text_fits(text: str, lines: int) -> None:
    cut = wrap(text, 13, 80, lines)
    assert len(cut) <= lines
    assert all(text_width(line, 13) <= 80 for line in cut)


def test_the_end_of_a_name_tells_devices_apart() -> None:
    assert shorten_middle("mlx5_bond_12", 12, 60) != shorten_middle("mlx5_bond_13", 12, 60)
    assert shorten_middle("mlx5_0", 12, 100) == "mlx5_0"


def test_no_control_characters_and_no_turned_direction() -> None:
    assert plain("a\x00b\u202ec\td\n") == "abc d"
    assert len(plain("x" * 10_000)) <= 400


@pytest.mark.parametrize(("room", "expected"), [(1000, 17), (1, 11)])
def test_largest_size(room: float, expected: int) -> None:
    assert largest_size([("GPU 0", room)], (17, 14, 11)) == expected
