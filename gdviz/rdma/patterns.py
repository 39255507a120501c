"""Patterns to fill memory with, each a function of the offset alone."""

from __future__ import annotations

import errno
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gdviz.errors import VerbsError
from gdviz.messages import _

NAMES = ("zeros", "random", "counter", "text")

#: A line of ``text`` names its own offset, so that misplaced bytes show.
_LINE = b"gdviz byte 0x" + b"0" * 16 + b" .\n"
_FIRST_DIGIT, _DIGITS = 13, 16


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern: one of `NAMES`, or bytes to repeat."""

    name: str
    repeat: bytes = b""
    seed: int = 0

    @classmethod
    def parse(cls, pattern: str | int | bytes, seed: int = 0) -> Pattern:
        """Return a pattern from its name, one byte's value, or bytes to repeat.

        Raises
        ------
        VerbsError
            EINVAL: none of these.
        """
        if isinstance(pattern, int | np.integer) and not isinstance(pattern, bool) and 0 <= pattern <= 255:
            return cls("zeros") if pattern == 0 else cls("repeat", bytes([int(pattern)]))
        if isinstance(pattern, bytes) and pattern:
            return cls("repeat", pattern) if any(pattern) else cls("zeros")
        if isinstance(pattern, str) and pattern in NAMES:
            return cls(pattern, seed=seed)
        raise VerbsError(
            _("{pattern!r} is not a pattern.").format(pattern=str(pattern)[:40]),
            _("Use {names}, a byte's value from 0 to 255, or bytes.").format(names=", ".join(NAMES)),
            errno=errno.EINVAL,
        )

    @property
    def zero(self) -> bool:
        """Whether it is nothing but zeros."""
        return self.name == "zeros"

    def block(self, offset: int, length: int) -> NDArray[np.uint8]:
        """Return `length` bytes as they stand at `offset`, a multiple of 32."""
        if self.name == "random":
            # The block's own stream: the contents at an offset do not depend on the buffer's length.
            generator = np.random.Generator(np.random.Philox(key=[self.seed % 2**64, offset]))
            return np.frombuffer(generator.bytes(length), np.uint8)
        if self.name == "counter":
            words = np.arange(offset // 4, (offset + length + 3) // 4, dtype=np.uint64).astype("<u4")
            return words.view(np.uint8)[:length]
        if self.name == "text":
            return _text(offset, length)
        repeat = np.frombuffer(self.repeat, np.uint8)
        turned = np.roll(repeat, -(offset % repeat.size))
        return np.tile(turned, -(-length // repeat.size))[:length]


def _text(offset: int, length: int) -> NDArray[np.uint8]:
    lines = -(-length // len(_LINE))
    table = np.tile(np.frombuffer(_LINE, np.uint8), (lines, 1))
    starts = offset + np.arange(lines, dtype=np.uint64) * np.uint64(len(_LINE))
    digits = np.frombuffer(b"0123456789abcdef", np.uint8)
    for place in range(_DIGITS):
        shift = np.uint64(4 * (_DIGITS - 1 - place))
        table[:, _FIRST_DIGIT + place] = digits[((starts >> shift) & np.uint64(15)).astype(np.intp)]
    return table.reshape(-1)[:length]
