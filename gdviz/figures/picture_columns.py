"""A layout as plain columns for Bokeh: boxes, links and texts."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

from gdviz.figures.chips import Chip
from gdviz.figures.labels import Label
from gdviz.figures.node_layout import Layout
from gdviz.figures.outlines import Outline, box_marks, box_outline, rectangle, together
from gdviz.figures.shapes import Box, BoxKind, Link, LinkKind, bars, dashes, thickness_px, tube_px
from gdviz.figures.text_size import text_width
from gdviz.figures.words import box_details, link_details
from gdviz.model.results import Place, PlaceKind

Columns = dict[str, list[Any]]

#: Colour of each kind of box.
ROLE = {
    BoxKind.MEMORY: "band",
    BoxKind.CPU: "cpu",
    BoxKind.PORT: "edge",
    BoxKind.SWITCH: "switch",
    BoxKind.GPU: "gpu",
    BoxKind.NIC: "nic",
    BoxKind.DEVICE: "switch",
    BoxKind.GROUP: "switch",
    BoxKind.FABRIC: "fabric",
}


def box_columns(layout: Layout) -> Columns:
    """Return one row for each box, in the order of `Layout.boxes`."""
    columns: Columns = {name: [] for name in ("xs", "ys", "role", "edge", "title", "detail")}
    for box in layout.boxes:
        machine = None if box.kind is BoxKind.FABRIC else layout.nodes[box.node].machine
        xs, ys = box_outline(box)
        title, detail = box_details(machine, box)
        row = (xs, ys, ROLE[box.kind], 1.6 if box.kind is BoxKind.GROUP else 1.0, title, detail)
        for name, value in zip(columns, row, strict=True):
            columns[name].append(value)
    return columns


def decoration_columns(layout: Layout) -> Columns:
    """Return the pins, ports, contacts and plus signs that tell kinds of boxes apart."""
    columns: Columns = {"xs": [], "ys": [], "role": []}
    for box in layout.boxes:
        node = layout.nodes[box.node]
        mark = box_marks(box, node.flipped, node.up.get(box.part))
        if mark:
            columns["xs"].append(mark[0])
            columns["ys"].append(mark[1])
            columns["role"].append("faint" if box.kind is BoxKind.GROUP else "edge")
    return columns


def link_columns(layout: Layout, lit: Collection[tuple[int, str, LinkKind]] = ()) -> Columns:
    """Return one row for each link; those in `lit` have no area to hover over, the lit path has."""
    names = ("xs", "ys", "hit_xs", "hit_ys", "role", "alpha", "title", "detail")
    columns: Columns = {name: [] for name in names}
    # NVLink lies lowest, so that the links of NICs visibly pass over it.
    for link in sorted(layout.links, key=lambda link: link.kind is not LinkKind.NVLINK):
        shape, fat = _link_shape(link)
        if (link.node, link.of, link.kind) in lit:
            fat = ([], [])
        title, detail = link_details(layout.nodes[link.node].machine, link)
        alpha = 0.55 if link.kind is LinkKind.NVLINK else 1.0
        row = (*shape, *fat, "warning" if link.degraded else "link", alpha, title, detail)
        for name, value in zip(names, row, strict=True):
            columns[name].append(value)
    return columns


def _link_shape(link: Link) -> tuple[Outline, Outline]:
    thickness = 2.0 if link.kind is LinkKind.NVLINK else thickness_px(link.bytes_per_s)
    cut = dashes if link.degraded else bars
    shape = together([rectangle(rect) for rect in cut(link.points, thickness)])
    fat = together([rectangle(rect) for rect in bars(link.points, max(thickness, 12.0))])
    return shape, fat


def text_columns(labels: Iterable[Label]) -> Columns:
    """Return one row for each label; `size` is in the picture's own pixels."""
    names = ("x", "y", "text", "size", "font_size", "style", "role", "align", "room", "bulk", "alpha")
    columns: Columns = {name: [] for name in names}
    for label in labels:
        style = "bold" if label.bold else "normal"
        row: tuple[Any, ...] = (label.x, label.y, label.text, label.size, f"{label.size}px", style)
        bulk = text_width(label.text, 1.0, bold=label.bold)
        row += (label.role, label.align, label.room, bulk, 1.0)
        for name, value in zip(names, row, strict=True):
            columns[name].append(value)
    return columns


def chip_columns(chips: Iterable[Chip]) -> Columns:
    """Return one row for each label on a ground."""
    names = ("x", "y", "text", "size", "font_size", "style", "role", "edge", "ground")
    columns: Columns = {name: [] for name in names}
    for chip in chips:
        style = "bold" if chip.bold else "normal"
        # Where type may not shrink with the picture, a ground without an edge would lie over its neighbours.
        ground = 0.0 if chip.edge == "none" else 1.0
        font_size = f"{chip.size}px"
        row = (chip.x, chip.y, chip.text, chip.size, font_size, style, chip.role, chip.edge, ground)
        for name, value in zip(names, row, strict=True):
            columns[name].append(value)
    return columns


def outline_columns(marked: Iterable[tuple[Box, str, float]]) -> Columns:
    """Return outlines round boxes, from (box, role, line width)."""
    columns: Columns = {"xs": [], "ys": [], "role": [], "width": []}
    for box, role, width in marked:
        xs, ys = box_outline(box)
        for name, value in zip(columns, (xs, ys, role, width), strict=True):
            columns[name].append(value)
    return columns


def glow_columns(layout: Layout, places: Iterable[tuple[int, Place]], role: str) -> Columns:
    """Return the boxes and links of (node index, place), to be shown bright."""
    columns: Columns = {"xs": [], "ys": [], "role": [], "alpha": []}
    for index, place in places:
        if index < 0:
            continue
        node = layout.nodes[index]
        shape: list[Outline] = []
        if place.kind in (PlaceKind.PART, PlaceKind.MEMORY):
            key = f"memory:{place.id}" if place.kind is PlaceKind.MEMORY else place.id
            box = node.boxes.get(key) or node.boxes.get(node.hidden_in(place.id) or "")
            shape = [box_outline(grown(box, 1.0))] if box else []
            alpha = 0.35
        else:
            wanted = link_key(index, place)
            link = next((k for k in node.links if (k.node, k.of, k.kind) == wanted), None)
            shape = [rectangle(r) for r in bars(link.points, tube_px(link.bytes_per_s))] if link else []
            alpha = 0.9
        if shape:
            xs, ys = together(shape)
            for name, value in zip(columns, (xs, ys, role, alpha), strict=True):
                columns[name].append(value)
    return columns


def grown(box: Box, by: float) -> Box:
    """Return a box widened all round by some pixels."""
    left, top, right, bottom = box.rect
    return replace(box, rect=(left - by, top - by, right + by, bottom + by))


def link_key(node: int, place: Place) -> tuple[int, str, LinkKind]:
    """Return the (node, id, kind) of the link that a place is."""
    if place.kind is PlaceKind.PORT:
        return node, place.id, LinkKind.PORT
    if place.kind is PlaceKind.MEMORY:
        return node, place.id, LinkKind.MEMORY
    # Only sockets' links have an id of two CPUs; no part's id begins with one.
    sockets = place.kind is PlaceKind.LINK and place.id.startswith("cpu") and "-cpu" in place.id
    return node, place.id, LinkKind.SOCKETS if sockets else LinkKind.PCIE
