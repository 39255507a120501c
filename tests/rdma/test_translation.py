from __future__ import annotations

from gdviz.rdma import Extent, Translation

PAGES = Translation(
    "dma-buf",
    4096,
    (Extent(0x10000, 0x0, 0x9000, None, 8192), Extent(0x12000, 0x8000, 0x20000, 0x100, 4096)),
)


def test_rows_follow_extents() -> None:
    assert PAGES.pages == 3
    assert [(r.virtual_address, r.page_address, r.bus_address, r.iova) for r in PAGES.rows()] == [
        (0x10000, 0x0, 0x9000, None),
        (0x11000, 0x1000, 0xA000, None),
        (0x12000, 0x8000, 0x20000, 0x100),
    ]


def test_some_rows() -> None:
    rows = list(PAGES.rows())
    assert list(PAGES.rows(1, 1)) == rows[1:2]
    assert list(PAGES.rows(1)) == rows[1:]
    assert list(PAGES.rows(0, 2)) == rows[:2]
    assert list(PAGES.rows(5)) == []
