"""``rdma link`` and ``ibdev2netdev``: RDMA ports, their state and their network interfaces."""

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
_TO_NETDEV = re.compile(
    r"(?m)^\s*(?:[0-9a-f:.]{7,16} )?(?P<device>[A-Za-z][\w.-]{0,63}) (?:\([^\n]{0,120}\) [^\n]{0,120})?"
    r"port (?P<port>\d{1,4}) (?:\((?P<state>\w{2,12}) *\) )?==> (?P<netdev>[\w.-]{1,64}) \((?P<up>Up|Down)\)"
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
    if "==> " in text and _TO_NETDEV.search(text):
        return True
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
        elif match := _TO_NETDEV.match(line):
            links.append(
                RdmaLink(match["device"], int(match["port"]), _state_of(match), "", match["netdev"], number)
            )
    return Reading(KIND, source, facts=RdmaLinks(tuple(links)), notices=odd, lines=lines)


def _state_of(match: re.Match[str]) -> str:
    """Return a port's state; an IPoIB interface that is down says nothing of its port."""
    if match["state"]:
        return match["state"].upper()
    if match["up"] == "Down" and match["netdev"].startswith("ib"):
        return ""
    return "ACTIVE" if match["up"] == "Up" else "DOWN"


def _first(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match[1] if match else ""
