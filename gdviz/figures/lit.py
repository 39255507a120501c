"""A lit path: its tubes, fills and marks as plain columns, ready for Bokeh.

Each straight piece of a leg is a row. A tube is as thick as its link's capacity says; inside, a core as
thick as its share in use. The browser recomputes cores and marks by the same rules (js/path_live.js).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from gdviz.figures.route import Leg
from gdviz.figures.shapes import Rect, bar, tube_px
from gdviz.messages import _
from gdviz.model.results import Place
from gdviz.quantities import format_rate

#: Pixels from mark to mark along a path.
MARK_SPACING = 36.0
#: Pixels that a tube's wall is thick.
WALL = 1.8
#: How much of a lit path still shows while only some of its places are highlighted.
DIMMED = 0.22

#: What a tooltip says of a link's load; the browser fills it in too.
IN_USE = _("{percent} % of {rate} in use")

Columns = dict[str, list[Any]]


@dataclass(frozen=True)
class Lit:
    """A path to be lit.

    Attributes
    ----------
    legs
        In the direction of the bytes.
    role
        Colour: ``direct`` or ``staged``.
    names
        What each leg's link is called, for tooltips.
    capacities
        Bytes a second that each leg carries; None if unknown.
    ends
        (node, part id) of the GPUs and NICs on it.
    inner
        (node, part id) of the switches that it runs over.
    """

    legs: tuple[Leg, ...] = ()
    role: str = "direct"
    names: tuple[str, ...] = ()
    capacities: tuple[float | None, ...] = ()
    ends: tuple[tuple[int, str], ...] = ()
    inner: tuple[tuple[int, str], ...] = ()

    @property
    def places(self) -> tuple[Place, ...]:
        """The place of each leg, in order."""
        return tuple(leg.place for leg in self.legs)

    def joined_with(self, other: Lit) -> Lit:
        """Return both paths as one picture; they keep this one's colour."""
        return Lit(
            self.legs + other.legs,
            self.role,
            self.names + other.names,
            self.capacities + other.capacities,
            self.ends + other.ends,
            self.inner + other.inner,
        )


@dataclass(frozen=True, slots=True)
class Piece:
    """A straight piece of a leg.

    Attributes
    ----------
    before, after
        Whether it must be lengthened by half its thickness, to fill a corner.
    """

    segment: int
    start: tuple[float, float]
    end: tuple[float, float]
    before: bool
    after: bool

    def rect(self, thickness: float, grown: float = 0.0) -> Rect:
        """Return its rectangle at a thickness; `grown` widens it all round where it goes on."""
        whole = thickness + 2 * grown
        half = whole / 2
        return bar(self.start, self.end, whole, half if self.before else 0.0, half if self.after else 0.0)


def pieces(legs: Sequence[Leg]) -> list[Piece]:
    """Cut legs into straight pieces."""
    found: list[Piece] = []
    for segment, leg in enumerate(legs):
        steps = list(zip(leg.points, leg.points[1:], strict=False))
        goes_on = segment + 1 < len(legs) and legs[segment + 1].joined
        for i, (start, end) in enumerate(steps):
            before = i > 0 or leg.joined
            after = i < len(steps) - 1 or goes_on
            found.append(Piece(segment, start, end, before, after))
    return found


def core_px(tube: float, share: float) -> float:
    """Return how thick a tube's core is drawn; a full one covers the tube's inner edge."""
    return (tube + 1.2) * share


def bright_legs(lit: Lit, active: Collection[Place]) -> set[int]:
    """Return which legs run on active places.

    Where a staged path goes up and down one link, only the lane counts that continues other active legs:
    a copy to host memory lights the way up, not the way down beside it.
    """
    legs = [i for i, place in enumerate(lit.places) if place in active]
    chosen: set[int] = set()
    for place in {lit.places[i] for i in legs}:
        lanes = [i for i in legs if lit.places[i] == place]
        beside = {i: (i - 1 in legs) + (i + 1 in legs) for i in lanes}
        most = max(beside.values())
        chosen.update(i for i in lanes if beside[i] == most)
    return chosen


def lit_columns(
    lit: Lit, loads: Sequence[float] | None = None, active: Collection[Place] | None = None
) -> Columns:
    """Return one row for each straight piece.

    Parameters
    ----------
    loads
        Share of each leg's capacity in use, 0 to 1; None: not known, drawn solid.
    active
        The only places to show bright; None: all.
    """
    columns: Columns = {name: [] for name in _LIT}
    bright = None if active is None else bright_legs(lit, active)
    for piece in pieces(lit.legs):
        i = piece.segment
        capacity = lit.capacities[i] if i < len(lit.capacities) else None
        tube = tube_px(capacity)
        share = 1.0 if loads is None else min(1.0, max(0.0, loads[i] if i < len(loads) else 0.0))
        alpha = 1.0 if bright is None or i in bright else DIMMED
        if active is not None and alpha == 1.0:
            share = 1.0
        row: dict[str, Any] = {
            "segment": i,
            "x0": piece.start[0],
            "y0": piece.start[1],
            "x1": piece.end[0],
            "y1": piece.end[1],
            "before": int(piece.before),
            "after": int(piece.after),
            "tube": tube,
            "role": lit.role,
            "alpha": alpha,
            "carries": format_rate(capacity) if capacity else "?",
            "title": lit.names[i] if i < len(lit.names) else "",
            "detail": _said(capacity, None if loads is None else share),
        }
        for prefix, rect in (
            ("o", piece.rect(tube, WALL)),
            ("i", piece.rect(tube)),
            ("c", piece.rect(core_px(tube, share))),
        ):
            for side, value in zip("ltrb", rect, strict=True):
                row[prefix + side] = round(value, 2)
        for name, value in row.items():
            columns[name].append(value)
    return columns


_LIT = (
    *("segment", "x0", "y0", "x1", "y1", "before", "after", "tube", "role", "alpha"),
    *("carries", "title", "detail"),
    *(prefix + side for prefix in "oic" for side in "ltrb"),
)


def _said(capacity: float | None, share: float | None) -> str:
    if capacity is None:
        return _("capacity not known")
    if share is None:
        return _("carries {rate}").format(rate=format_rate(capacity))
    return IN_USE.format(percent=f"{share * 100:.0f}", rate=format_rate(capacity))


def mark_columns(lit: Lit, active: Collection[Place] | None = None) -> Columns:
    """Return the marks that show which way the bytes go; only on the legs of `active` places, if given."""
    columns: Columns = {name: [] for name in ("x", "y", "angle", "size", "role", "segment")}
    bright = None if active is None else bright_legs(lit, active)
    at = -MARK_SPACING / 2
    for piece in pieces(lit.legs):
        (x0, y0), (x1, y1) = piece.start, piece.end
        length = abs(x1 - x0) + abs(y1 - y0)
        first = math.ceil(-at / MARK_SPACING) if at < 0 else 0
        offset = first * MARK_SPACING + at if at < 0 else at
        shown = bright is None or piece.segment in bright
        while shown and 0 <= offset < length:
            share = offset / length
            columns["x"].append(round(x0 + (x1 - x0) * share, 1))
            columns["y"].append(round(y0 + (y1 - y0) * share, 1))
            # Bokeh's triangle points up and turns against the clock; y goes down here.
            columns["angle"].append(math.atan2(y0 - y1, x1 - x0) - math.pi / 2)
            columns["size"].append(9.0)
            columns["role"].append(lit.role)
            columns["segment"].append(piece.segment)
            offset += MARK_SPACING
        at = _next(at, length)
    return columns


def _next(at: float, length: float) -> float:
    """Return where the next mark is, counted from the start of the next piece."""
    if at < 0:
        at += math.ceil(-at / MARK_SPACING) * MARK_SPACING
    if at < length:
        at += math.ceil((length - at) / MARK_SPACING) * MARK_SPACING
    return at - length
