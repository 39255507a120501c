"""Labels that stand beside a lit path, on a ground of their own, where they cover nothing that matters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from gdviz.figures.route import Leg
from gdviz.figures.shapes import Point, Rect, inside, overlap
from gdviz.figures.text_size import MIN_PX, SMALL_PX, text_width

#: Round the text, with a border and without.
PAD_X, PAD_X_PLAIN, PAD_Y = 6.0, 1.0, 2.0


@dataclass(frozen=True, slots=True)
class Chip:
    """A label on a ground, centred at (x, y).

    Attributes
    ----------
    edge
        Role of its border; ``none`` for a plain ground.
    """

    x: float
    y: float
    text: str
    size: int
    role: str
    edge: str = "none"
    bold: bool = False

    @property
    def rect(self) -> Rect:
        """The pixels that it takes at most."""
        width, height = chip_size(self.text, self.size, self.bold, self.edge)
        return self.x - width / 2, self.y - height / 2, self.x + width / 2, self.y + height / 2


def chip_size(text: str, size: int, bold: bool = False, edge: str = "none") -> tuple[float, float]:
    """Return (width, height) of a chip in pixels."""
    pad = PAD_X_PLAIN if edge == "none" else PAD_X
    width = text_width(text, size, bold=bold) + 2 * pad
    return width, size * 1.2 * (text.count("\n") + 1) + 2 * (1.0 if edge == "none" else PAD_Y)


def place_chip(
    legs: Sequence[Leg],
    tube: float,
    texts: Sequence[str],
    obstacles: Iterable[Rect],
    area: Rect,
    *,
    avoid: Iterable[Rect] = (),
    sizes: Sequence[int] = (SMALL_PX, MIN_PX),
    role: str = "ink",
    edge: str = "none",
    bold: bool = False,
) -> Chip | None:
    """Return a chip beside one of some legs that touches no obstacle, or None if there is no room.

    Parameters
    ----------
    tube
        How thick the legs are drawn.
    texts
        The label in the wordings to try, best first.
    obstacles
        Rectangles to keep clear of.
    area
        Where chips may stand.
    avoid
        Rectangles to keep clear of if there is a place that does.
    """
    walls, rather_not = list(obstacles), list(avoid)
    second: Chip | None = None
    for text, size in ((text, size) for text in texts for size in sizes):
        width, height = chip_size(text, size, bold, edge)
        for leg in legs:
            for x, y in _spots(leg, tube, width, height):
                rect = (x - width / 2, y - height / 2, x + width / 2, y + height / 2)
                if not inside(rect, area) or any(overlap(rect, wall) for wall in walls):
                    continue
                chip = Chip(x, y, text, size, role, edge, bold)
                if not any(overlap(rect, link) for link in rather_not):
                    return chip
                second = second or chip
    return second


def _spots(leg: Leg, tube: float, width: float, height: float) -> Iterator[Point]:
    """Go through places beside a leg, nearest first: right and left of uprights, over and under levels."""
    steps = sorted(
        zip(leg.points, leg.points[1:], strict=False),
        key=lambda step: -abs(step[1][1] - step[0][1]),
    )
    for extra in (1.0, 6.0, 14.0):
        for (x0, y0), (x1, y1) in steps:
            level = abs(x1 - x0) > abs(y1 - y0)
            for share in (0.5, 0.35, 0.65, 0.2, 0.8, 0.05, 0.95, *((-0.35, 1.35) if level else ())):
                x, y = x0 + (x1 - x0) * share, y0 + (y1 - y0) * share
                if abs(y1 - y0) >= abs(x1 - x0):
                    away = tube / 2 + width / 2 + extra
                    yield x + away, y
                    yield x - away, y
                else:
                    away = tube / 2 + height / 2 + extra
                    yield x, y - away
                    yield x, y + away
