"""Outlines of boxes: each kind has its own shape, so that no kind is told by colour alone."""

from __future__ import annotations

import math

from gdviz.figures.shapes import Box, BoxKind, Rect

Outline = tuple[list[float], list[float]]
"""x and y of the corners; not-a-number parts one polygon from the next."""

#: Steps of a rounded corner.
_STEPS = 4


def rounded(rect: Rect, radius: float) -> Outline:
    """Return a rectangle with round corners."""
    left, top, right, bottom = rect
    radius = min(radius, (right - left) / 2, (bottom - top) / 2)
    corners = (
        (right - radius, top + radius, -math.pi / 2),
        (right - radius, bottom - radius, 0.0),
        (left + radius, bottom - radius, math.pi / 2),
        (left + radius, top + radius, math.pi),
    )
    xs, ys = [], []
    for x, y, start in corners:
        for step in range(_STEPS + 1):
            angle = start + step / _STEPS * math.pi / 2
            xs.append(round(x + radius * math.cos(angle), 2))
            ys.append(round(y + radius * math.sin(angle), 2))
    return xs, ys


def polygon(*points: tuple[float, float]) -> Outline:
    """Return a polygon."""
    return [x for x, _ in points], [y for _, y in points]


def rectangle(rect: Rect) -> Outline:
    """Return a plain rectangle."""
    left, top, right, bottom = rect
    return polygon((left, top), (right, top), (right, bottom), (left, bottom))


def together(parts: list[Outline]) -> Outline:
    """Join polygons into one outline of several parts."""
    xs: list[float] = []
    ys: list[float] = []
    for i, (part_xs, part_ys) in enumerate(parts):
        if i:
            xs.append(math.nan)
            ys.append(math.nan)
        xs += part_xs
        ys += part_ys
    return xs, ys


def box_outline(box: Box) -> Outline:
    """Return the outline of a box: chips round, switches pointed, bands square, the wire a pill."""
    left, top, right, bottom = box.rect
    if box.kind is BoxKind.SWITCH:
        point = min(8.0, box.width / 4)
        middle = (top + bottom) / 2
        return polygon(
            (left + point, top),
            (right - point, top),
            (right, middle),
            (right - point, bottom),
            (left + point, bottom),
            (left, middle),
        )
    if box.kind is BoxKind.DEVICE:
        cut = 8.0
        return polygon((left, top), (right - cut, top), (right, top + cut), (right, bottom), (left, bottom))
    radius = {
        BoxKind.GPU: 5.0,
        BoxKind.NIC: 5.0,
        BoxKind.GROUP: 8.0,
        BoxKind.FABRIC: box.height / 2,
    }.get(box.kind, 2.0)
    return rounded(box.rect, radius)


def box_marks(box: Box, flipped: bool, port_x: float | None) -> Outline | None:
    """Return what marks a box's kind beside its outline: a GPU's pins, a NIC's port, memory's contacts."""
    left, top, right, bottom = box.rect
    if box.kind is BoxKind.GPU:
        pins = []
        for i in range(4):
            y = top + box.height * (i + 1) / 5
            pins += [
                rectangle((left - 2.6, y - 1.5, left, y + 1.5)),
                rectangle((right, y - 1.5, right + 2.6, y + 1.5)),
            ]
        return together(pins)
    if box.kind is BoxKind.NIC and port_x is not None:
        edge, out = (top, -1.0) if flipped else (bottom, 1.0)
        return polygon(
            (port_x - 12, edge),
            (port_x + 12, edge),
            (port_x + 8, edge + 5 * out),
            (port_x - 8, edge + 5 * out),
        )
    if box.kind is BoxKind.MEMORY:
        edge, out = (bottom, -1.0) if flipped else (top, 1.0)
        teeth = []
        x = left + 6.0
        while x + 5 < right - 2:
            far, near = sorted((edge, edge + 3.5 * out))
            teeth.append(rectangle((x, far, x + 5, near)))
            x += 11.0
        return together(teeth)
    if box.kind is BoxKind.GROUP:
        x, y = right - 11.0, (bottom - 11.0 if flipped else top + 11.0)
        a, b = 5.5, 1.2
        return polygon(
            *((x - b, y - a), (x + b, y - a), (x + b, y - b), (x + a, y - b), (x + a, y + b), (x + b, y + b)),
            *((x + b, y + a), (x - b, y + a), (x - b, y + b), (x - a, y + b), (x - a, y - b), (x - b, y - b)),
        )
    return None
