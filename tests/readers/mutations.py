"""Changes that files suffer on their way: cut, torn, doubled, re-encoded, coloured, mixed with others."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

#: Numbers and signs that no tool prints where they are put.
NUMBERS = (
    *("0", "-1", "-0.0", "1e999", "1e-999", "9" * 40, "9" * 5000, "0x", "0xffffffffffffffffff", "nan", "inf"),
    *("4294967296", "1.7976931348623157e308", "\u0663", "\u00bd", "\u00b2", "1,5", "1_000", "+7", "00"),
)
SIGNS = (
    *("\0", "\x1b[31m", "\x1b[", "\r", "\t", "\f", "\x0b", "\x85", "\u2028", "\u202e", "\ufeff", "\ufffd"),
    *(
        "\u00e9",
        "<",
        ">",
        "&amp;",
        "```",
        "$ ",
        "# ",
        "::",
        "[",
        "]",
        "(",
        ")",
        "{",
        "}",
        "%",
        "\\",
        "'",
        '"',
    ),
)

#: Units and words that are taken for one another.
_UNITS = (
    *(
        "GT/s",
        "GB/s",
        "Gb/s",
        "Gb/sec",
        "MB/s",
        "MiB",
        "KiB",
        "GiB",
        "kB",
        "TB",
        "unlimited",
        "[usec]",
        "x16",
    ),
    *("x1", "x0", "PIX", "SYS", "NODE", "NV99", "N/A", "(ok)", "(downgraded)", "ACTIVE", "DOWN"),
)


def _cut(lines: list[str], rng: random.Random) -> list[str]:
    return lines[: rng.randrange(len(lines) + 1)]


def _tear(lines: list[str], rng: random.Random) -> list[str]:
    at = rng.randrange(len(lines))
    column = rng.randrange(len(lines[at]) + 1)
    return [*lines[:at], lines[at][:column], lines[at][column:], *lines[at + 1 :]]


def _join(lines: list[str], rng: random.Random) -> list[str]:
    at = rng.randrange(len(lines))
    return [*lines[:at], "".join(lines[at : at + 2]), *lines[at + 2 :]]


def _drop(lines: list[str], rng: random.Random) -> list[str]:
    at = rng.randrange(len(lines))
    return lines[:at] + lines[at + rng.randint(1, 5) :]


def _double(lines: list[str], rng: random.Random) -> list[str]:
    at = rng.randrange(len(lines))
    part = lines[at : at + rng.randint(1, 20)]
    return lines[:at] + part * rng.randint(2, 4) + lines[at:]


def _swap(lines: list[str], rng: random.Random) -> list[str]:
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return lines


def _number(lines: list[str], rng: random.Random) -> list[str]:
    at = rng.randrange(len(lines))
    words = lines[at].split(" ")
    words[rng.randrange(len(words))] = rng.choice(NUMBERS)
    return [*lines[:at], " ".join(words), *lines[at + 1 :]]


def _digits(lines: list[str], rng: random.Random) -> list[str]:
    at = rng.randrange(len(lines))
    found = list(re.finditer(r"\d+", lines[at]))
    if found:
        one = rng.choice(found)
        lines[at] = lines[at][: one.start()] + rng.choice(NUMBERS) + lines[at][one.end() :]
    return lines


def _unit(lines: list[str], rng: random.Random) -> list[str]:
    one, other = rng.sample(_UNITS, 2)
    having = [number for number, line in enumerate(lines) if one in line]
    for number in having[: rng.randint(1, 1000)]:
        lines[number] = lines[number].replace(one, other)
    return lines


def _sign(lines: list[str], rng: random.Random) -> list[str]:
    at = rng.randrange(len(lines))
    column = rng.randrange(len(lines[at]) + 1)
    return [*lines[:at], lines[at][:column] + rng.choice(SIGNS) + lines[at][column:], *lines[at + 1 :]]


def _quote(lines: list[str], rng: random.Random) -> list[str]:
    mark = rng.choice(["> ", "    ", "\t", "node-1: ", "May 05 06:16:47 host app[9]: ", "| "])
    return [mark + line for line in lines]


def _long(lines: list[str], rng: random.Random) -> list[str]:
    at = rng.randrange(len(lines))
    return [*lines[:at], lines[at] * rng.randint(2, 60), *lines[at + 1 :]]


_CHANGES: Sequence[Callable[[list[str], random.Random], list[str]]] = (
    _cut, _tear, _join, _drop, _double, _swap, _number, _digits, _unit, _sign, _quote, _long,
)  # fmt: skip


def mutated(text: str, other: str, rng: random.Random, *, most: int = 60_000) -> str | bytes:
    """Return a text after some changes, perhaps spliced with another one, perhaps as broken bytes."""
    lines = text.split("\n")
    for _change in range(rng.randint(1, 5)):
        if not lines:
            break
        lines = rng.choice(_CHANGES)(lines, rng)
    if rng.random() < 0.15:
        foreign = other.split("\n")
        at = rng.randrange(len(lines) + 1)
        lines[at:at] = foreign[: rng.randrange(len(foreign) + 1)]
    changed = "\n".join(lines)[:most]
    kind = rng.random()
    if kind < 0.6:
        return changed
    encoding = "utf-16" if kind > 0.95 else "utf-8"
    data = bytearray(changed.encode(encoding, "surrogatepass"))
    if kind > 0.9:  # encodings are mixed where files were put together
        half = len(changed) // 2
        data[half:] = changed[half:].encode("latin-1", "replace")
    for _byte in range(rng.randint(0, 6) if data else 0):
        data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data)
