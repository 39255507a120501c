"""The geometry of a path picture: boxes, links and rectangles, in pixels at the picture's own width.

x goes right and y goes down. Nothing here knows Bokeh.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from enum import StrEnum

Point = tuple[float, float]
Rect = tuple[float, float, float, float]
"""left, top, right, bottom; top is the smaller y."""


class BoxKind(StrEnum):
    """What a box stands for."""

    MEMORY = "memory"
    CPU = "cpu"
    PORT = "port"
    SWITCH = "switch"
    GPU = "gpu"
    NIC = "nic"
    DEVICE = "device"
    GROUP = "group"
    FABRIC = "fabric"


class LinkKind(StrEnum):
    """What a link is."""

    PCIE = "PCIe"
    INTERNAL = "internal"
    SOCKETS = "sockets"
    MEMORY = "memory"
    NVLINK = "NVLink"
    PORT = "port"


@dataclass(frozen=True, slots=True)
class Box:
    """A part, or a group of parts, of one node.

    Attributes
    ----------
    node
        0 for the upper node, 1 for the lower one.
    part
        Id of the part; for host memory, of its CPU; for a group, of the switch (or CPU) that it folds.
    lines
        What is written on it, the name first.
    """

    node: int
    part: str
    kind: BoxKind
    rect: Rect
    lines: tuple[str, ...] = ()

    @property
    def centre(self) -> Point:
        """The middle of the box."""
        left, top, right, bottom = self.rect
        return (left + right) / 2, (top + bottom) / 2

    @property
    def width(self) -> float:
        """Pixels from left to right."""
        return self.rect[2] - self.rect[0]

    @property
    def height(self) -> float:
        """Pixels from top to bottom."""
        return self.rect[3] - self.rect[1]


@dataclass(frozen=True, slots=True)
class Link:
    """A link between two boxes, along horizontal and vertical lines.

    Attributes
    ----------
    of
        Id of the part whose uplink it is; of the CPU for memory; ``'cpu0-cpu1'`` between sockets; of the NIC
        for a port.
    bytes_per_s
        What it carries one way; None if unknown.
    """

    node: int
    of: str
    kind: LinkKind
    points: tuple[Point, ...]
    bytes_per_s: float | None = None
    degraded: bool = False


def overlap(one: Rect, other: Rect, margin: float = 0.0) -> bool:
    """Whether two rectangles overlap, or come nearer than `margin`."""
    return (
        one[0] < other[2] + margin
        and other[0] < one[2] + margin
        and one[1] < other[3] + margin
        and other[1] < one[3] + margin
    )


def inside(inner: Rect, outer: Rect, slack: float = 0.0) -> bool:
    """Whether one rectangle lies in another."""
    return (
        inner[0] >= outer[0] - slack
        and inner[1] >= outer[1] - slack
        and inner[2] <= outer[2] + slack
        and inner[3] <= outer[3] + slack
    )


def bar(start: Point, end: Point, thickness: float, before: float = 0.0, after: float = 0.0) -> Rect:
    """Return the rectangle of a horizontal or vertical line, lengthened at its ends."""
    (x0, y0), (x1, y1) = start, end
    half = thickness / 2
    if abs(x1 - x0) >= abs(y1 - y0):
        if x1 >= x0:
            return x0 - before, y0 - half, x1 + after, y0 + half
        return x1 - after, y0 - half, x0 + before, y0 + half
    if y1 >= y0:
        return x0 - half, y0 - before, x0 + half, y1 + after
    return x0 - half, y1 - after, x0 + half, y0 + before


def bars(points: tuple[Point, ...], thickness: float) -> list[Rect]:
    """Return the rectangles of a line with corners filled."""
    steps = [(a, b) for a, b in itertools.pairwise(points) if a != b]
    last = len(steps) - 1
    return [
        bar(a, b, thickness, thickness / 2 if i else 0.0, thickness / 2 if i < last else 0.0)
        for i, (a, b) in enumerate(steps)
    ]


def dashes(points: tuple[Point, ...], thickness: float, dash: float = 7.0, gap: float = 4.0) -> list[Rect]:
    """Return the rectangles of a dashed line."""
    found: list[Rect] = []
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        length = abs(x1 - x0) + abs(y1 - y0)
        if not length:
            continue
        dx, dy = (x1 - x0) / length, (y1 - y0) / length
        at = 0.0
        while at < length:
            end = min(length, at + dash)
            found.append(bar((x0 + dx * at, y0 + dy * at), (x0 + dx * end, y0 + dy * end), thickness))
            at = end + gap
    return found


def thickness_px(bytes_per_s: float | None) -> float:
    """Return how thick a link of that capacity is drawn: logarithmic, 3 to 11 pixels.

    Examples
    --------
    >>> [round(thickness_px(rate), 1) for rate in (None, 1e9, 16e9, 64e9, 256e9)]
    [3.0, 3.0, 6.2, 7.8, 9.4]
    """
    if not bytes_per_s or bytes_per_s <= 0:
        return 3.0
    return min(11.0, max(3.0, 3.0 + 0.8 * math.log2(bytes_per_s / 1e9)))


def tube_px(bytes_per_s: float | None) -> float:
    """Return how thick a link is drawn while a path is lit on it."""
    return thickness_px(bytes_per_s) * 0.7 + 3.5
