from __future__ import annotations

from dataclasses import dataclass

from gdviz.figures.charts import TranslationPicture
from gdviz.figures.charts.translation_layout import (
    BOX_PX,
    WIDTH_PX,
    Region,
    box_width,
    boxes,
    captions,
    lines,
    picture_height,
    shown_pages,
    slots,
    spaces_of,
)
from tests.figures.charts.samples import HOSTILE


@dataclass
class Row:
    virtual_address: int
    page_bytes: int = 0x10000
    page_address: int | None = None
    bus_address: int | None = None
    iova: int | None = None


def rows(count: int) -> list[Row]:
    return [
        Row(0x7F0000000000 + n * 0x10000, 0x10000, 0x200000 + n * 0x10000, 0x38000000000 + n * 0x10000)
        for n in range(count)
    ]


GPU = Region("dma-buf", 0x10000, 1024, 0x1A, 0x1B, "local write")


def test_few_pages_are_drawn_and_the_rest_counted() -> None:
    drawn, rest = shown_pages(rows(64), GPU)
    assert [number for number, _page in drawn] == [0, 1, 2, 3]
    assert rest == 1020
    drawn, rest = shown_pages(rows(64), Region(page_bytes=0x10000))
    assert [number for number, _page in drawn] == [0, 1, 2, 3, 63]
    assert rest == 59
    assert shown_pages(rows(6), Region())[1] == 0
    assert shown_pages([], Region()) == ([], 0)


def test_columns_follow_the_address_spaces() -> None:
    assert [space.name for space in spaces_of(rows(1), GPU)] == ["virtual address", "GPU page", "bus address"]
    translated = [Row(0, iova=4096)]
    assert [space.name for space in spaces_of(translated, Region("host pages"))] == [
        "virtual address",
        "host page",
        "bus address",
        "I/O virtual address",
    ]


def test_scattered_pages_cross() -> None:
    pages = [
        Row(0x1000, page_address=0x9000),
        Row(0x2000, page_address=0x3000),
        Row(0x3000, page_address=None),
    ]
    drawn = list(enumerate(pages))
    assert slots(drawn, 0, "virtual_address") == [0, 1, 2]
    assert slots(drawn, 0, "page_address") == [1, 0, 2]


def test_boxes_lie_apart_and_inside() -> None:
    translated = [Row(n, bus_address=n, iova=n) for n in range(70)]
    columns = boxes(translated, Region("host pages"))
    height = picture_height(translated, Region("host pages"))
    found = list(zip(columns["x"], columns["y"], strict=True))
    for n, (x, y) in enumerate(found):
        assert box_width(4) / 2 <= x <= WIDTH_PX - box_width(4) / 2
        assert y + BOX_PX / 2 <= height
        for other_x, other_y in found[:n]:
            assert abs(x - other_x) >= box_width(4) or abs(y - other_y) >= BOX_PX
    counted = captions(translated, Region("host pages"))
    rest = [y for y, text in zip(counted["y"], counted["text"], strict=True) if text == "… 65 more"]
    assert len(rest) == 4
    assert all(abs(y - other) >= BOX_PX / 2 + 6 for y in rest for other in columns["y"])


def test_lines_join_neighbouring_columns() -> None:
    joined = lines(rows(3), GPU)
    assert len(joined["x0"]) == 2 * 3
    assert all(left < right for left, right in zip(joined["x0"], joined["x1"], strict=True))
    assert joined["y0"] == joined["y1"]  # contiguous pages: no line crosses


def test_words_above() -> None:
    texts = captions(rows(64), GPU)["text"]
    assert texts[0] == "lkey 0x1a  ·  rkey 0x1b  ·  local write  ·  1,024 pages of 64 KiB  ·  dma-buf"
    assert "in the GPU's BAR1;\nthe NIC uses it" in texts
    assert "in the GPU's BAR1; the NIC uses it" in captions(rows(64), GPU, 1150)["text"]


def test_empty_says_what_to_do() -> None:
    picture = TranslationPicture((), how="", page_bytes=0, title="")
    assert picture._texts.data["text"] == ["Register a buffer to see how the NIC finds its pages"]
    assert picture.source.data["x"] == []
    picture.update(rows(2), how="dma-buf", page_bytes=0x10000, title="GPU 0")
    assert len(picture.source.data["x"]) == 6
    picture.update((), how="", page_bytes=0, title="")
    assert picture.source.data["x"] == []


def test_hostile_strings() -> None:
    picture = TranslationPicture(rows(1), how=HOSTILE, page_bytes=4096, title=HOSTILE * 20, access=HOSTILE)
    assert "\n" not in picture._title.text
    assert len(picture._title.text) < 140
    assert all("\x07" not in text for text in picture._texts.data["text"])


def test_text_twin() -> None:
    picture = TranslationPicture(
        rows(64), how="dma-buf", page_bytes=0x10000, title="GPU 0", total_pages=1024, lkey=1, rkey=2
    )
    assert str(picture) == (
        "GPU 0, simulated\n"
        "lkey 0x1  ·  rkey 0x2  ·  1,024 pages of 64 KiB  ·  dma-buf\n"
        "\n"
        "page          virtual address  GPU page    bus address\n"
        "0              0x7f0000000000  0x200000  0x38000000000\n"
        "1              0x7f0000010000  0x210000  0x38000010000\n"
        "2              0x7f0000020000  0x220000  0x38000020000\n"
        "3              0x7f0000030000  0x230000  0x38000030000\n"
        "… 1,020 more"
    )
    one = TranslationPicture(
        [Row(0x1000, 4096)], how="host pages", page_bytes=4096, title="x", simulated=False
    )
    assert "not known" in str(one)
    assert "simulated" not in str(one)
