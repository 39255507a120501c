"""Counters of RDMA ports and network interfaces: ``hw_counters``, ``ethtool -S``, ``rdma statistic``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gdviz.readers.reading import Reading
from gdviz.readers.text_lines import command_of, has_any, open_lines

KIND = "counters"
TITLE = "port counters"

_PATH = re.compile(
    r"^\s*(?:\S*/)?(?P<device>[\w.-]{1,64})/ports/(?P<port>\d{1,4})/(?:hw_)?counters/"
    r"(?P<name>\w{1,80})\s*[: =]\s*(?P<value>\d{1,20})\s*$"
)
_HINT = re.compile(
    r"ports/\d{1,4}/(?:hw_)?counters/|(?m:^\s*NIC statistics:)|(?m:^\s*(?:link )?[\w.-]+/\d+ .*\b"
    r"(?:rx_|tx_|out_of_)\w+ \d)"
    r"|(?m:^\s*(?:out_of_sequence|packet_seq_err|local_ack_timeout_err|out_of_buffer|rx_prio\d_pause"
    r"|np_cnp_sent"
    r"|rp_cnp_handled|rnr_nak_retry_err|np_ecn_marked_roce_packets|rx_discards_phy)\s*[:=]\s*\d)"
)
_WORDS = (
    *(
        "counters/",
        "NIC statistics",
        "out_of_",
        "_seq_err",
        "_timeout_err",
        "_pause",
        "_cnp_",
        "_nak_",
        "_ecn_",
    ),
    *("discards_phy", "rx_", "tx_"),
)
_ETHTOOL = re.compile(r"^\s{1,12}(?P<name>[\w\[\] .-]{1,80}?):\s*(?P<value>\d{1,20})\s*$")
_PLAIN = re.compile(r"^\s*(?P<name>[a-z][a-z0-9_]{2,80})\s*[:=]\s*(?P<value>\d{1,20})\s*$")
_OF_COMMAND = re.compile(
    r"\bethtool\s+(?:-S|--statistics)\s+(?P<netdev>[\w.-]{1,64})|/infiniband/"
    r"(?P<device>[\w.-]{1,64})/ports/(?P<port>\d{1,4})"
)
_STATISTIC = re.compile(
    r"^\s*(?:link )?(?P<device>[A-Za-z][\w.-]{0,63})/(?P<port>\d{1,4})\s+"
    r"(?P<rest>(?:\w{2,80} \d{1,20}(?:\s+|$))+)$"
)
_PAIR = re.compile(r"(\w{2,80}) (\d{1,20})")

#: Counters that are kept of one file.
MAX_COUNTERS = 200_000


@dataclass(frozen=True, slots=True)
class Counter:
    """A counter.

    Attributes
    ----------
    device
        RDMA device or network interface; empty where the text does not say.
    port
        From 1; None for a network interface.
    name
        Such as ``out_of_sequence``.
    """

    device: str
    port: int | None
    name: str
    value: int
    line: int


@dataclass(frozen=True, slots=True)
class Counters:
    """All counters, in order."""

    counters: tuple[Counter, ...]

    def of(self, *names: str) -> tuple[Counter, ...]:
        """Return the counters of some names."""
        return tuple(counter for counter in self.counters if counter.name in names)


def looks_like(text: str) -> bool:
    """Return whether counters of ports are there."""
    return has_any(text, _WORDS) and _HINT.search(text) is not None


def read(data: bytes | str, *, name: str = "node", source: str = "") -> Reading:
    """Read all counters.

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
    found: list[Counter] = []
    device, port = "", None
    for number, line in enumerate(lines, 1):
        command = command_of(line)
        if command is not None:
            match = _OF_COMMAND.search(command)
            device = (match["netdev"] or match["device"]) if match else ""
            port = int(match["port"]) if match and match["port"] else None
        elif match := _PATH.match(line):
            found.append(
                Counter(match["device"], int(match["port"]), match["name"], int(match["value"]), number)
            )
        elif match := _STATISTIC.match(line):
            where, at = match["device"], int(match["port"])
            found += [
                Counter(where, at, key, int(value), number) for key, value in _PAIR.findall(match["rest"])
            ]
        elif match := _ETHTOOL.match(line) or _PLAIN.match(line):
            found.append(Counter(device, port, match["name"].strip(), int(match["value"]), number))
        if len(found) > MAX_COUNTERS:
            break
    return Reading(KIND, source, facts=Counters(tuple(found[:MAX_COUNTERS])), notices=odd, lines=lines)
