"""``rdma link``: iproute2's view of RDMA ports."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gdviz.readers.reading import Reading
from gdviz.readers.text_lines import open_lines

KIND = "rdma_link"
TITLE = "rdma link"

_ROW = re.compile(
    r"(?m)^\s*(?:\d{1,4}(?:/\d{1,4})?: )?(?:link )?(?P<device>[A-Za-z][\w.-]{0,63})/"
    r"(?P<port>\d{1,4})(?::)?\s+(?P<rest>.*\bstate \S.*)$"
)
_STATE = re.compile(r"\bstate (\S{1,40})")
_PHYSICAL = re.compile(r"\bphysical_state (\S{1,40})")
_NETDEV = re.compile(r"\bnetdev (\S{1,64})")


@dataclass(frozen=True, slots=True)
class RdmaLink:
    """A port: ``state`` as printed (``ACTIVE``, ``DOWN``), ``netdev`` empty where there is none."""

    device: str
    port: int
    state: str
    physical: str
    netdev: str
    line: int


@dataclass(frozen=True, slots=True)
class RdmaLinks:
    """All ports, in order."""

    links: tuple[RdmaLink, ...]


def looks_like(text: str) -> bool:
    """Return whether a port's row is there."""
    return "state " in text and _ROW.search(text) is not None


def read(data: bytes | str, *, name: str = "node", source: str = "") -> Reading:
    """Read all ports.

    Parameters
    ----------
    data
        The file's content.
    name
        Not used.
    source
        Where it was read.
    """
    lines, odd = open_lines(data)
    links = []
    for number, line in enumerate(lines, 1):
        if match := _ROW.match(line):
            rest = match["rest"]
            links.append(
                RdmaLink(
                    match["device"],
                    int(match["port"]),
                    _first(_STATE, rest),
                    _first(_PHYSICAL, rest),
                    _first(_NETDEV, rest),
                    number,
                )
            )
    return Reading(KIND, source, facts=RdmaLinks(tuple(links)), notices=odd, lines=lines)


def _first(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match[1] if match else ""
