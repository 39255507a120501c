"""How wide a text will be on the page, before a browser has seen it.

Bokeh draws text on a canvas, in whatever face the reader's browser has. The widths here are those of
DejaVu Sans, the widest of the usual faces, so that a text that fits here fits everywhere.
"""

from __future__ import annotations

import unicodedata

#: Base type, and the smallest type that any label may have, in pixels at the figure's own width.
BASE_PX = 13
SMALL_PX = 12
MIN_PX = 11

_NARROW = frozenset("iIjl|.,:;'!")
_THIN = frozenset(' ftr()[]/-"')
_WIDE = frozenset("mwMW@%")


def _em(character: str, bold: bool) -> float:
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    if character in _NARROW:
        width = 0.33
    elif character in _THIN:
        width = 0.41
    elif character in _WIDE:
        width = 0.99
    elif character.isupper():
        width = 0.72
    else:
        width = 0.64
    return width * (1.1 if bold else 1.0)


def text_width(text: str, size_px: float, *, bold: bool = False) -> float:
    """Return the width of a text's longest line in pixels, rather too wide than too narrow."""
    return max((sum(_em(c, bold) for c in line) * size_px for line in text.split("\n")), default=0.0)


def shorten(text: str, size_px: float, room_px: float, *, bold: bool = False) -> str:
    """Return `text`, or its beginning and an ellipsis where it is wider than `room_px`."""
    text = plain(text)
    if text_width(text, size_px, bold=bold) <= room_px:
        return text
    kept = text
    while kept and text_width(kept + "…", size_px, bold=bold) > room_px:
        kept = kept[:-1]
    return kept + "…" if kept else ""


def shorten_middle(text: str, size_px: float, room_px: float, *, bold: bool = False) -> str:
    """Return `text`, or its beginning and end, which tells devices apart, with an ellipsis between."""
    text = plain(text)
    if text_width(text, size_px, bold=bold) <= room_px:
        return text
    tail = text[-2:]
    for head in range(len(text) - 3, 0, -1):
        shown = f"{text[:head]}…{tail}"
        if text_width(shown, size_px, bold=bold) <= room_px:
            return shown
    return shorten(text, size_px, room_px, bold=bold)


def plain(text: str) -> str:
    """Return `text` on one line, without control characters, and never endlessly long."""
    shown = (" " if c in "\t\r\n" else c for c in text[:400])
    return "".join(c for c in shown if unicodedata.category(c) not in ("Cc", "Cf", "Cs")).strip()


def largest_size(texts: list[tuple[str, float]], sizes_px: tuple[int, ...], *, bold: bool = False) -> int:
    """Return the largest of `sizes_px` in which every (text, room in pixels) fits, else the last one."""
    for size in sizes_px:
        if all(text_width(text, size, bold=bold) <= room for text, room in texts):
            return size
    return sizes_px[-1]


def wrap(text: str, size_px: float, room_px: float, lines: int, *, bold: bool = False) -> list[str]:
    """Return `text` cut into at most `lines` lines, preferably after a hyphen, blank, dot or underscore."""
    rest = plain(text)
    cut: list[str] = []
    while rest and len(cut) < lines - 1 and text_width(rest, size_px, bold=bold) > room_px:
        fits = len(rest)
        while fits > 1 and text_width(rest[:fits], size_px, bold=bold) > room_px:
            fits -= 1
        breaks = [i for i in range(1, fits + 1) if rest[i - 1] in "-_. "]
        at = breaks[-1] if breaks else fits
        cut.append(rest[:at].strip())
        rest = rest[at:]
    if rest:
        cut.append(shorten(rest, size_px, room_px, bold=bold))
    return cut
