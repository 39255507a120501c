from __future__ import annotations

import pytest

from gdviz.figures.charts.fit import COLUMNS, Fitted, fitted, fixed, in_words, line_count
from gdviz.figures.text_size import text_width

PARTS = ("post 702 ns", "doorbell 255 ns", "WQE fetch 660 ns", "wire 922 ns")


@pytest.mark.parametrize("room", [80, 130, 200, 300, 1000])
def test_no_line_is_wider_than_its_room(room: int) -> None:
    for most in (1, 2, 5):
        text = fitted(PARTS, " · ", 12, room, most)
        assert line_count(text) <= most
        assert all(text_width(line, 12) <= room for line in text.split("\n"))


def test_parts_are_kept_whole_and_in_order() -> None:
    text = fitted(PARTS, " · ", 12, 260, 3)
    assert [part for line in text.split("\n") for part in line.split(" · ")] == list(PARTS)


def test_what_is_too_much_ends_in_an_ellipsis() -> None:
    assert fitted(PARTS, " · ", 12, 260, 1).endswith("…")
    assert fitted(("a very long name without an end",), " ", 12, 60, 3).endswith("…")


def test_all_or_nothing() -> None:
    assert fitted(("wire",), "", 12, 100, 0) == "wire"
    assert fitted(("wire",), "", 12, 10, 0) == ""


def test_nothing() -> None:
    assert fitted((), " ", 12, 100, 2) == ""
    assert line_count("") == 0


def test_rows_have_all_columns() -> None:
    row = Fitted(PARTS, " · ", 12, 0.5, 10.0, 2).row(640)
    assert set(row) == set(COLUMNS) == set(fixed("x"))
    assert row["text"] == fitted(PARTS, " · ", 12, 310, 2)
    assert fixed("x")["parts"] == []  # the page leaves it alone


def test_where_a_sentence_may_be_broken() -> None:
    assert in_words("The NIC  writes.") == (("The", "NIC", "writes."), " ")
    assert in_words("on PCIe; the NIC uses it", "; ") == (("on PCIe;", "the NIC uses it"), " ")
    assert in_words("网卡写入") == (("网", "卡", "写", "入"), "")
