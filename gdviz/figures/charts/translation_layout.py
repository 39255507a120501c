"""Where everything stands in the picture of a memory region: boxes, lines and words. No Bokeh."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

from gdviz.figures.charts.fit import COLUMNS, NARROW_PX, Fitted, fixed, in_words
from gdviz.figures.text_size import plain
from gdviz.messages import _, ngettext
from gdviz.quantities import format_size

#: Pages drawn before the count of the rest; the last page stands below it if it is known.
FIRST_PAGES = 4

#: Pixels of the drawing: heights are as they are, what lies across stretches with the page from here.
WIDTH_PX, HEAD_PX, COLUMN_HEAD_PX, ROW_PX, BOX_PX = 960, 40, 60, 34, 24

#: The part of its column that a box takes: the widest addresses need it where four columns are narrow.
BOX_SHARE = 0.77

#: What surrounds the frame, in pixels.
MARGIN_PX = 12


#: What stands between the parts of a line.
JOINT = "  ·  "


class Page(Protocol):
    """What the picture reads of a page; addresses are numbers, None where they cannot be known."""

    @property
    def virtual_address(self) -> int:
        """In the process."""

    @property
    def page_bytes(self) -> int:
        """Size of the page."""

    @property
    def page_address(self) -> int | None:
        """In the GPU's or the host's physical memory."""

    @property
    def bus_address(self) -> int | None:
        """On PCIe."""

    @property
    def iova(self) -> int | None:
        """What the NIC uses where the IOMMU translates."""


@dataclass(frozen=True, slots=True)
class Region:
    """What the picture says of the memory region itself.

    Attributes
    ----------
    how
        What pinned the pages: ``dma-buf``, ``nvidia-peermem`` or ``host pages``.
    total_pages
        Pages in all; None if the rows are all.
    access
        The access flags, for people.
    """

    how: str = ""
    page_bytes: int = 0
    total_pages: int | None = None
    lkey: int | None = None
    rkey: int | None = None
    access: str = ""

    @property
    def host(self) -> bool:
        """Whether it lies in host memory."""
        return self.how == "host pages"

    def parts(self, pages: int) -> tuple[str, ...]:
        """Return all of it as short parts."""
        parts = [f"lkey {self.lkey:#x}" if self.lkey is not None else ""]
        parts.append(f"rkey {self.rkey:#x}" if self.rkey is not None else "")
        parts.append(plain(self.access))
        count = ngettext("{count} page of {size}", "{count} pages of {size}", pages)
        parts.append(count.format(count=f"{pages:,}", size=format_size(self.page_bytes)))
        parts.append(plain(self.how))
        return tuple(part for part in parts if part)

    def text(self, pages: int) -> str:
        """Return all of it on one line."""
        return JOINT.join(self.parts(pages))


def what_to_do() -> str:
    """Return what a picture without a region says."""
    return _("Register a buffer to see how the NIC finds its pages")


@dataclass(frozen=True, slots=True)
class Space:
    """An address space: a column of the picture."""

    field: str
    kind: str
    name: str
    below: str


def spaces_of(rows: Sequence[Page], region: Region) -> tuple[Space, ...]:
    """Return the columns, from the program's address to the one that the NIC uses."""
    memory = "host" if region.host else "gpu"
    translated = any(page.iova is not None for page in rows)
    bus = _("on PCIe") if region.host else _("in the GPU's BAR1")
    spaces = [
        Space("virtual_address", memory, _("virtual address"), _("what programs use")),
        Space(
            "page_address",
            memory,
            _("host page") if region.host else _("GPU page"),
            _("in host memory") if region.host else _("in the GPU's own memory"),
        ),
        Space(
            "bus_address",
            "bus",
            _("bus address"),
            bus if translated else _("{where}; the NIC uses it").format(where=bus),
        ),
    ]
    if translated:
        spaces.append(
            Space("iova", "iova", _("I/O virtual address"), _("the NIC uses it; the IOMMU translates"))
        )
    return tuple(spaces)


def shown_pages(rows: Sequence[Page], region: Region) -> tuple[list[tuple[int, Page]], int]:
    """Return the pages to draw with their numbers, and how many are not drawn."""
    total = region.total_pages or len(rows)
    numbered = list(enumerate(rows))
    if total <= FIRST_PAGES + 2 and len(rows) >= total:
        return numbered, 0
    drawn = numbered[:FIRST_PAGES]
    if len(rows) >= total:
        drawn.append(numbered[total - 1])
    return drawn, total - len(drawn)


def slots(drawn: Sequence[tuple[int, Page]], rest: int, field: str) -> list[int]:
    """Return the row in which each drawn page stands in a column: in the order of its addresses.

    The row after the first ones belongs to the count of the rest. A page without an address keeps its row.
    """
    places = [n if not rest or n < FIRST_PAGES else n + 1 for n in range(len(drawn))]
    addresses = [getattr(page, field) for _number, page in drawn]
    known = [index for index, address in enumerate(addresses) if address is not None]
    found = list(places)
    free = [places[index] for index in known]
    for place, index in zip(free, sorted(known, key=lambda index: addresses[index]), strict=True):
        found[index] = place
    return found


def column_x(number: int, count: int) -> float:
    """Return the middle of a column in pixels."""
    return WIDTH_PX * (number + 0.5) / count


def box_width(count: int) -> float:
    """Return the width of a box in one of so many columns, in pixels."""
    return WIDTH_PX / count * BOX_SHARE


def slot_y(slot: int) -> float:
    """Return the middle of a row of boxes in pixels from the top."""
    return HEAD_PX + COLUMN_HEAD_PX + ROW_PX * (slot + 0.5)


def picture_height(rows: Sequence[Page], region: Region) -> int:
    """Return the height of the drawing in pixels."""
    if not rows:
        return 60
    drawn, rest = shown_pages(rows, region)
    return HEAD_PX + COLUMN_HEAD_PX + ROW_PX * (len(drawn) + (1 if rest else 0)) + 6


def address_text(address: int | None) -> str:
    """Return an address in hexadecimal."""
    return f"{address:#x}" if address is not None else _("not known")


def rest_text(rest: int) -> str:
    """Return how many pages are not drawn."""
    return ngettext("… {count} more", "… {count} more", rest).format(count=f"{rest:,}")


def boxes(rows: Sequence[Page], region: Region) -> dict[str, list[Any]]:
    """Return a box for each drawn page in each address space, as columns."""
    names = ("x", "y", "width", "text", "kind", "what", "number", "span")
    out: dict[str, list[Any]] = {name: [] for name in names}
    drawn, rest = shown_pages(rows, region) if rows else ([], 0)
    spaces = spaces_of(rows, region)
    for column, space in enumerate(spaces):
        for (number, page), slot in zip(drawn, slots(drawn, rest, space.field), strict=True):
            address = getattr(page, space.field)
            last = address_text(address + page.page_bytes - 1) if address is not None else ""
            text = address_text(address)
            row = (
                column_x(column, len(spaces)), slot_y(slot), box_width(len(spaces)), text,
                space.kind, space.name, f"{number:,}", f"{text} – {last}" if last else text,
            )  # fmt: skip
            for name, cell in zip(names, row, strict=True):
                out[name].append(cell)
    return out


def lines(rows: Sequence[Page], region: Region) -> dict[str, list[float]]:
    """Return the lines from each page's box to its box in the next column."""
    out: dict[str, list[float]] = {"x0": [], "y0": [], "x1": [], "y1": []}
    drawn, rest = shown_pages(rows, region) if rows else ([], 0)
    spaces = spaces_of(rows, region)
    half = box_width(len(spaces)) / 2
    for column, (left, right) in enumerate(pairwise(spaces)):
        ends = zip(slots(drawn, rest, left.field), slots(drawn, rest, right.field), strict=True)
        for start, end in ends:
            out["x0"].append(column_x(column, len(spaces)) + half)
            out["y0"].append(slot_y(start))
            out["x1"].append(column_x(column + 1, len(spaces)) - half - 6)
            out["y1"].append(slot_y(end))
    return out


def captions(rows: Sequence[Page], region: Region, width_px: float = NARROW_PX) -> dict[str, list[Any]]:
    """Return the words around the boxes with their places, set for a picture of `width_px`.

    The page sets them anew for the width that it has; see `gdviz.figures.charts.fit`.
    """
    out: dict[str, list[Any]] = {name: [] for name in ("x", "y", "kind", *COLUMNS)}

    def put(x: float, y: float, kind: str, cells: Mapping[str, Any]) -> None:
        for name, cell in {"x": x, "y": y, "kind": kind, **cells}.items():
            out[name].append(cell)

    frame_px = width_px - MARGIN_PX
    if not rows:
        put(0.0, 30.0, "head", fixed(what_to_do()))
        return out
    drawn, rest = shown_pages(rows, region)
    spaces = spaces_of(rows, region)
    said = Fitted(region.parts(region.total_pages or len(rows)), JOINT, 13, 1.0, 4.0, 2)
    put(0.0, HEAD_PX / 2 - 2, "head", said.row(frame_px))
    for column, space in enumerate(spaces):
        x = column_x(column, len(spaces))
        put(x, HEAD_PX + 12, "column", fixed(space.name))
        parts, joint = in_words(space.below, "; ")
        below = Fitted(parts, joint, 12, 1.0 / len(spaces), 8.0, 2)
        put(x, HEAD_PX + 37, "below", below.row(frame_px))
        if rest:
            put(x, slot_y(min(FIRST_PAGES, len(drawn))), "below", fixed(rest_text(rest)))
    return out
