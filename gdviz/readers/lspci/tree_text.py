r"""The tree that ``lspci -t`` draws, with or without names and ids.

::

    -[0000:00]-+-00.0  Intel Corporation Device 09a2
               +-01.0-[16-1c]----00.0-[17-1c]--+-00.0-[18]----00.0  Samsung ...
               |                               \-01.0-[19]----00.0  NVIDIA Corporation Device 2330
               \-1f.0  ...

A sign (``+`` or ``\``) in a later line belongs to the bus whose first device stands at the same column.
"""

from __future__ import annotations

import re

from gdviz.readers.lspci.facts import BRIDGE_CLASS, PciFunction
from gdviz.readers.lspci.names import unnamed_device, vendor_of

#: Functions that a tree may have, and signs in one line.
_MAX_FUNCTIONS, _MAX_TOKENS = 10_000, 600

_LINE = re.compile(
    r"^[ \t|]*(?:-?\[[0-9a-f]{4,8}:[0-9a-f]{2}\]|-?[+\\]-[-+]?"
    r"(?:\[[0-9a-f]{4,8}:[0-9a-f]{2}|[0-9a-f]{2}\.[0-7]))"
)
_TOKEN = re.compile(
    r"(?P<sign>[+\\])|\[(?:(?P<domain>[0-9a-f]{4,8}):)?(?P<bus>[0-9a-f]{2})(?:-(?P<last>[0-9a-f]{2}))?\]"
    r"|(?P<device>[0-9a-f]{2})\.(?P<function>[0-7])(?P<end>-(?=\[)|  +\S.*$|)|[- |]+"
)
_IDS = re.compile(r"\[([0-9a-f]{4}):([0-9a-f]{4})\]\s*$|^([0-9a-f]{4}):([0-9a-f]{4})$")

FIRST_TREE_LINE = re.compile(
    r"^[ \t>]{0,8}-(?:\+-)?\[[0-9a-f]{4,8}:[0-9a-f]{2}(?:-[0-9a-f]{2})?\]-", re.MULTILINE
)


class TreeReader:
    """Takes the lines of a tree and gives its functions."""

    def __init__(self) -> None:
        self.active = False
        self._at: dict[int, tuple[int, int, str]] = {}
        self._found: dict[str, PciFunction] = {}

    def functions(self) -> tuple[PciFunction, ...]:
        """Return what was read."""
        return tuple(self._found.values())

    def take(self, line: str, number: int) -> bool:
        """Take a line; return whether it is one of the tree."""
        text = line.expandtabs(8) if "\t" in line else line
        if not self.active:
            if not FIRST_TREE_LINE.match(text):
                return False
            self.active = True
        elif not _LINE.match(text) and not FIRST_TREE_LINE.match(text):
            return False
        self._walk(text, number)
        return True

    def _walk(self, text: str, number: int) -> None:
        #: Domain, bus, and the bridge that leads to the bus; a domain of -1 is no bus at all.
        here: tuple[int, int, str] = (-1, 0, "")
        bridge = ""
        position = 0
        first_sign = True
        for _step in range(_MAX_TOKENS):
            match = _TOKEN.match(text, position)
            if match is None:
                return
            position = match.end()
            if match["sign"]:
                column = match.start()
                if first_sign and column in self._at and here[0] < 0:
                    here = self._at[column]
                else:
                    self._at[column] = here
                first_sign = False
            elif match["bus"]:
                here = self._bus(match, here, bridge)
                bridge = ""
            elif match["device"]:
                bridge = self._device(match, here, number)
                if match["end"] != "-":
                    return

    def _bus(self, match: re.Match[str], here: tuple[int, int, str], bridge: str) -> tuple[int, int, str]:
        domain = int(match["domain"], 16) if match["domain"] else max(here[0], 0)
        bus = int(match["bus"], 16)
        known = self._found.get(bridge)
        if known is not None:
            last = int(match["last"], 16) if match["last"] else bus
            self._found[bridge] = PciFunction(
                known.busid,
                known.line,
                BRIDGE_CLASS,
                vendor=known.vendor,
                device=known.device,
                name=known.name,
                above=known.above,
                primary=here[1],
                secondary=bus,
                subordinate=last,
                bus_line=known.line,
            )
        return domain, bus, bridge

    def _device(self, match: re.Match[str], here: tuple[int, int, str], number: int) -> str:
        domain, bus, above = here
        if domain < 0 or len(self._found) >= _MAX_FUNCTIONS:
            return ""
        busid = f"{domain:04x}:{bus:02x}:{match['device']}.{match['function']}"
        name = match["end"].strip(" -")[:200]
        vendor, device = vendor_of(name), unnamed_device(name)
        if ids := _IDS.search(name):
            numbers = [group for group in ids.groups() if group]
            vendor, device = int(numbers[0], 16), int(numbers[1], 16)
            name = name[: ids.start()].strip()
        self._found.setdefault(
            busid, PciFunction(busid, number, vendor=vendor, device=device, name=name, above=above)
        )
        return busid
