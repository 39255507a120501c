"""Lines of ``setpci -v ... ECAP_ACS+0x6.w``: the ACS control register of a function as a number.

``0000:17:01.0 (ecap 000d @148) @14e 001d``: capability 000d is ACS, its control register stands six bytes
behind its beginning (PCI Express Base Specification, ACS extended capability).
"""

from __future__ import annotations

import re

from gdviz.machine import normal_bus_id
from gdviz.readers.lspci.facts import AcsControl, PciFunction

_LINE = re.compile(
    r"^[\s>]{0,12}(?P<busid>(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) "
    r"\(ecap 000d @(?P<start>[0-9a-f]{2,4})\) @(?P<place>[0-9a-f]{2,4}) (?P<value>[0-9a-f]{4})\s*$"
)
FIRST_SETPCI_LINE = re.compile(
    r"^[ \t>]{0,12}(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7] \(ecap 000d @[0-9a-f]{2,4}\) @",
    re.MULTILINE,
)
_CONTROL = 6


def read_register(line: str, number: int) -> PciFunction | None:
    """Return a function of which nothing is known but its ACS control; None for any other line.

    Examples
    --------
    >>> found = read_register("0000:17:01.0 (ecap 000d @148) @14e 001d", 1)
    >>> found.acs.req_redir if found and found.acs else None
    True
    """
    if "(ecap" not in line[:60] or not (match := _LINE.match(line)):
        return None
    busid = normal_bus_id(match["busid"])
    if busid is None or int(match["place"], 16) != int(match["start"], 16) + _CONTROL:
        return None
    value = int(match["value"], 16)
    src, blk, req, cmplt, up, egress, direct = (bool(value >> bit & 1) for bit in range(7))
    control = AcsControl(src, blk, req, cmplt, up, egress, direct, number)
    return PciFunction(busid, number, acs=control)
