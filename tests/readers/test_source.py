"""Bytes to text: holes of NUL bytes."""

from __future__ import annotations

import os
import random

import pytest

from gdviz.readers import open_text
from gdviz.readers.nccl_log import NcclLog
from gdviz.readers.registry import looks_binary
from gdviz.readers.source import to_text

LINES = "n1:5:6 [0] NCCL INFO NCCL version 2.21.5+cuda12.4\nn1:5:6 [0] NCCL INFO Using network IB\n"
MORE = "n1:5:6 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/0/GDRDMA\n"


@pytest.mark.parametrize("holes", [4, 64, 5000])
@pytest.mark.parametrize("before", ["", LINES])
def test_nul_bytes_between_lines_are_left_out(before: str, holes: int) -> None:
    rest = (LINES + MORE) * 2
    text, (notice,) = to_text(before.encode() + b"\0" * holes + rest.encode())
    assert text == before + rest
    assert (notice.line, notice.text[:5].split()[0]) == (before.count("\n") + 1, str(holes))


def test_a_log_with_a_hole_is_read_and_its_lines_keep_their_numbers() -> None:
    opened = open_text(LINES.encode() + b"\0" * 64 + MORE.encode() + b"\0" * 32)
    (reading,) = opened.readings
    assert isinstance(reading.facts, NcclLog)
    assert [(channel.gdr, channel.line) for channel in reading.facts.channels] == [(True, 3)]
    assert any("NUL bytes" in notice.text for notice in reading.notices)


def test_a_hole_within_a_line_keeps_words_apart() -> None:
    assert to_text(b"one two\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0three\nfour\n")[0] == "one two three\nfour\n"


@pytest.mark.parametrize(
    "data",
    [
        b"\0" * 100,
        b"\n" + b"\0" * 100,
        b"\x7fELF\2\1\1" + b"\0" * 64 + random.Random(1).randbytes(500),
        b"".join(word + b"\0" * 4 for word in (b"ab", b"cd", b"ef", b"gh")),
        "NCCL".encode("utf-32-le"),
        b"A=1\0B=2\0" * 5,
    ],
)
def test_what_is_no_text_stays_so(data: bytes) -> None:
    assert looks_binary(to_text(data)[0])


def test_utf_16_has_no_holes() -> None:
    text = "a\u0100\u0000\u0000\u0000b" + os.linesep
    assert to_text(text.encode("utf-16"))[0] == text
