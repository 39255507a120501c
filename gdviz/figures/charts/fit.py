"""Texts that fit a chart of any width: set here for the narrowest one, set anew in the page for the real one.

Here is the arithmetic, without Bokeh; `frame.keep_fitted` has the page do the same with its own type.

A text comes in parts that no line end may divide. A source whose texts shall fit has these columns beside
`text`; a row without parts is left alone:

``parts``, ``joint``
    The parts, and what stands between two of them on a line.
``size``
    Type in pixels.
``share``, ``spare``
    The room for a line: a share of the width less some pixels.
``most``
    Lines at most; what is left over ends in an ellipsis. 0: one line, and no text at all if it does not fit.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gdviz.figures.text_size import plain, shorten, text_width

#: The narrowest that a chart over the whole width, and one of two side by side, is shown, in pixels.
NARROW_PX, NARROW_HALF_PX = 640, 310

#: Columns of a source whose texts fit, beside those that place them.
COLUMNS = ("text", "parts", "joint", "size", "share", "spare", "most")


@dataclass(frozen=True, slots=True)
class Fitted:
    """A text in parts and the room that it has; see the module for the fields."""

    parts: tuple[str, ...]
    joint: str
    size: int
    share: float
    spare: float
    most: int

    def row(self, width_px: float) -> dict[str, Any]:
        """Return the row's cells, its text set for a chart of this width."""
        text = fitted(self.parts, self.joint, self.size, self.share * width_px - self.spare, self.most)
        return {
            "text": text,
            "parts": list(self.parts),
            "joint": self.joint,
            "size": self.size,
            "share": self.share,
            "spare": self.spare,
            "most": self.most,
        }


def fixed(text: str) -> dict[str, Any]:
    """Return the cells of a text that always fits."""
    return Fitted((), "", 0, 0.0, 0.0, 0).row(0.0) | {"text": text}


def fitted(parts: Sequence[str], joint: str, size: int, room_px: float, most: int) -> str:
    r"""Return parts joined in at most `most` lines of `room_px`, as the page does with its own type.

    Examples
    --------
    >>> fitted(("post", "doorbell", "wire"), ", ", 12, 100.0, 2)
    'post, doorbell\nwire'
    """
    if most == 0:
        text = joint.join(parts)
        return text if text_width(text, size) <= room_px else ""
    lines: list[str] = []
    for part in parts:
        longer = f"{lines[-1]}{joint}{part}" if lines else part
        if lines and (text_width(longer, size) <= room_px or len(lines) >= most):
            lines[-1] = longer
        else:
            lines.append(part)
    return "\n".join(shorten(line, size, room_px) for line in lines)


def line_count(text: str) -> int:
    """Return how many lines a text takes."""
    return text.count("\n") + 1 if text else 0


def in_words(sentence: str, rather: str = " ") -> tuple[tuple[str, ...], str]:
    """Return where a sentence may be broken, as parts and joint: at blanks, in Chinese after any sign.

    Parameters
    ----------
    rather
        Where it has this (a sign and a blank), it may be broken only there.
    """
    sentence = plain(sentence)
    if rather != " " and rather in sentence:
        *before, last = sentence.split(rather)
        return (*(f"{part}{rather.rstrip()}" for part in before), last), " "
    if any(unicodedata.east_asian_width(sign) in "WF" for sign in sentence):
        return tuple(sentence), ""
    return tuple(sentence.split()), " "
