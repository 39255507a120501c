"""Texts of a path picture: what stands in each box, in the largest type that fits, and beside the nodes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gdviz.figures.node_layout import NO_CPU, Layout, NodeLayout
from gdviz.figures.shapes import Box, BoxKind, Rect
from gdviz.figures.text_size import (
    BASE_PX,
    MIN_PX,
    SMALL_PX,
    largest_size,
    shorten,
    shorten_middle,
    text_width,
    wrap,
)
from gdviz.figures.words import node_lines

#: Sizes that a name may have, largest first.
_NAME_SIZES = tuple(range(17, MIN_PX - 1, -1))
_PAD = 3.0


@dataclass(frozen=True, slots=True)
class Label:
    """A text on the picture.

    Attributes
    ----------
    x, y
        Where it is anchored, in the picture's pixels; `y` is its middle.
    room
        Pixels that it may take.
    """

    x: float
    y: float
    text: str
    size: int
    bold: bool = False
    role: str = "ink"
    align: str = "center"
    room: float = 0.0
    box: str = ""

    @property
    def rect(self) -> Rect:
        """The pixels that the text takes at most."""
        width = text_width(self.text, self.size, bold=self.bold)
        lines = self.text.count("\n") + 1
        height = self.size * 1.2 * lines
        left = {"left": self.x, "center": self.x - width / 2, "right": self.x - width}[self.align]
        return left, self.y - height / 2, left + width, self.y + height / 2


def node_labels(node: NodeLayout, lit: frozenset[str]) -> list[Label]:
    """Return all labels of a node; the switches in `lit` give up theirs to the path."""
    found: list[Label] = []
    for kind in (BoxKind.GPU, BoxKind.NIC, BoxKind.DEVICE, BoxKind.GROUP):
        found += _stacked({key: box for key, box in node.boxes.items() if box.kind is kind})
    found += _switches(node, lit)
    found += _bands(node)
    found += _title(node)
    return found


def _stacked(keyed: dict[str, Box]) -> list[Label]:
    """Return names and second lines of boxes of one kind, in one size for all of them."""
    if not keyed:
        return []
    boxes = list(keyed.values())
    least = 0 if boxes[0].kind is BoxKind.GPU and min(box.width for box in boxes) > 46 else -1
    names = [(box.lines[0].split("|")[least] if box.lines else "", box.width - 2 * _PAD) for box in boxes]
    # One long name must not make all the others small: it is shortened instead.
    usual = sorted(names, key=lambda n: text_width(n[0], 13, bold=True) / max(n[1], 1))
    share = 0.8 if boxes[0].kind is BoxKind.NIC else 1.0
    typical = usual[: max(1, round(len(usual) * share))]
    # The second line needs its room too.
    highest = (boxes[0].height - 2.0 - SMALL_PX * 1.2) / 1.2
    sizes = tuple(size for size in _NAME_SIZES if size <= max(highest, MIN_PX))
    size = largest_size(typical, sizes, bold=True)
    group = boxes[0].kind is BoxKind.GROUP
    if group:
        size = min(size, 15)
    found = []
    for key, box in keyed.items():
        room = box.width - 2 * _PAD
        lines = box.lines[: 4 if group else int((box.height - size * 1.2 - 2) / (SMALL_PX * 1.2) + 1.01)]
        if box.kind in (BoxKind.GROUP, BoxKind.GPU):
            lines = tuple(_wording(line, size, room) for line in lines)
        found += _lines(key, box, lines, size, room, all_bold=group)
    return found


def _wording(line: str, size: int, room: float) -> str:
    """Return the first of the wordings, parted by ``|``, that fits; else the last."""
    wordings = line.split("|")
    return next((w for w in wordings if text_width(w, size, bold=True) <= room), wordings[-1])


def _lines(
    key: str, box: Box, lines: tuple[str, ...], size: int, room: float, *, all_bold: bool
) -> list[Label]:
    chosen: list[tuple[str, int, bool]] = []
    for i, line in enumerate(lines):
        bold = i == 0 or all_bold
        px = size if bold else SMALL_PX
        if bold:
            chosen.append((shorten_middle(line, px, room, bold=True), px, True))
            continue
        # A second line that does not fit whole says less than none.
        fits = next((p for p in (SMALL_PX, MIN_PX) if text_width(line, p) <= room), None)
        if fits:
            chosen.append((line, fits, False))
    total = sum(px * 1.2 for _, px, _ in chosen)
    x, middle = box.centre
    y = middle - total / 2
    found = []
    for text, px, bold in chosen:
        role = "ink" if bold else "faint"
        found.append(Label(x, y + px * 0.6, text, px, bold, role, room=room, box=key))
        y += px * 1.2
    return found


def _switches(node: NodeLayout, lit: frozenset[str]) -> list[Label]:
    boxes = [b for b in node.boxes.values() if b.kind is BoxKind.SWITCH and b.part not in lit]
    found = []
    for box in boxes:
        room = box.width - 14.0
        size = MIN_PX if box.height < 20 else SMALL_PX
        text = box.lines[0] if box.lines else ""
        if text_width(text, size) <= room:
            found.append(Label(*box.centre, text, size, role="faint", room=room, box=box.part))
    return found


def _bands(node: NodeLayout) -> list[Label]:
    """Return the names of CPUs and host memories, at the left of each band, in one size each."""
    gutters = [(socket, rect) for socket, rect in node.gutters if socket != NO_CPU]
    found = []
    for memory in (False, True):
        sizes = (13, 12, 11) if memory else (15, 14, 13, 12)
        chosen = []
        for socket, (left, _, right, _) in gutters:
            key = f"memory:{socket}" if memory else socket
            box = node.boxes[key]
            room = right - left - 12.0
            fitting = (t for t in box.lines if text_width(t, sizes[-1], bold=not memory) <= room)
            chosen.append((key, box, next(fitting, box.lines[-1]), left, room))
        size = largest_size([(text, room) for _, _, text, _, room in chosen], sizes, bold=not memory)
        for key, box, text, left, room in chosen:
            shown = shorten(text, size, room, bold=not memory)
            # A CPU's name keeps clear of the lane by which a path crosses sockets.
            shift = 0.0 if memory else (6.5 if node.flipped else -6.5)
            y = box.centre[1] + shift
            found.append(Label(left + 8.0, y, shown, size, not memory, align="left", room=room, box=key))
    return found


def _title(node: NodeLayout) -> list[Label]:
    """Return the node's name and what it has, at the left below the first socket's label."""
    if not node.gutters:
        return []
    left, _, right, _ = node.gutters[0][1]
    room = right - left - 8.0
    name, *rest = node_lines(node.machine)
    boxes = [b for b in node.boxes.values() if b.kind not in (BoxKind.CPU, BoxKind.MEMORY)]
    low = min((b.rect[0] for b in boxes), default=right)
    room = min(room, low - left - 10.0)
    size = next((s for s in (17, 16, 15, 14, 13) if text_width(name, s, bold=True) <= room), BASE_PX)
    lines = [(line, size, True) for line in wrap(name, size, room, 3, bold=True)]
    for text in rest[: 5 - len(lines)]:
        wordings = text.split("|")
        fits, chosen = next(
            ((p, w) for w in wordings for p in (SMALL_PX, MIN_PX) if text_width(w, p) <= room),
            (MIN_PX, wordings[-1]),
        )
        lines.append((shorten(chosen, fits, room), fits, False))
    top = node.cpu_bottom + 10.0
    height = sum(px * 1.25 for _, px, _ in lines)
    free = node.depth - top
    y = top + max(0.0, min(16.0, (free - height) / 2))
    found = []
    order = lines if not node.flipped else lines[::-1]
    for text, px, bold in order:
        role = "ink" if bold else "faint"
        middle = node.y(y + px * 0.625)
        found.append(Label(left + 2.0, middle, text, px, bold, role, "left", room))
        y += px * 1.25
    return found


def fabric_labels(layout: Layout) -> list[Label]:
    """Return what is written on the wire, at its left end."""
    left, top, _right, bottom = layout.fabric.rect
    lines = layout.fabric.lines
    if not lines:
        return []
    room = 92.0
    found = []
    middle = (top + bottom) / 2
    shown = lines[:2] if bottom - top >= 28 else lines[:1]
    for i, line in enumerate(shown):
        y = middle + (i - (len(shown) - 1) / 2) * 13.0
        size = largest_size([(line, room)], (SMALL_PX, MIN_PX), bold=i == 0)
        text = shorten(line, size, room, bold=i == 0)
        role = "ink" if i == 0 else "faint"
        found.append(Label(left + 14.0, y, text, size, i == 0, role, "left", room, "fabric"))
    return found


def rects(labels: Iterable[Label]) -> list[Rect]:
    """Return the pixels that labels take."""
    return [label.rect for label in labels]
