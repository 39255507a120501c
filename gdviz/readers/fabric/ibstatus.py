"""``ibstatus``: RDMA ports, one by one, as sysfs has them."""

from __future__ import annotations

import re
from dataclasses import replace

from gdviz.readers.fabric.ibstat import IbAdapter, IbPort, IbStat
from gdviz.readers.reading import Reading
from gdviz.readers.text_lines import open_lines

KIND = "ibstatus"
TITLE = "ibstatus"

_HEAD = re.compile(
    r"(?m)^\s{0,8}Infiniband device '(?P<device>[^'\n]{1,128})' port (?P<port>\d{1,4}) status:\s*$"
)
_FIELD = re.compile(r"^\s{1,16}(?P<key>[a-z][a-z_ ]{2,20}):\s*(?P<value>\S.*)$")
_RATE = re.compile(r"(?P<gbit>\d{1,5}(?:\.\d{1,3})?) Gb/sec(?: \((?P<lanes>\d{1,2})X)?")
_STATE = re.compile(r"\d{1,2}: (?P<state>\w{2,20})")

#: Ports that are kept of one file.
MAX_PORTS = 10_000


def looks_like(text: str) -> bool:
    """Return whether a port's heading is there."""
    return "Infiniband device '" in text and _HEAD.search(text) is not None


def read(data: bytes | str, *, name: str = "node", source: str = "") -> Reading:
    """Read all ports; the adapters' types are not said.

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
    ports: list[tuple[str, IbPort]] = []
    for number, line in enumerate(lines, 1):
        if match := _HEAD.match(line):
            if len(ports) < MAX_PORTS:
                ports.append((match["device"], IbPort(int(match["port"]), number)))
        elif ports and (match := _FIELD.match(line)):
            device, port = ports[-1]
            ports[-1] = device, _with(port, match["key"], match["value"].strip(), number)
    by_device: dict[str, list[IbPort]] = {}
    for device, port in ports:
        by_device.setdefault(device, []).append(port)
    adapters = tuple(
        IbAdapter(device, found[0].line, ports=tuple(found)) for device, found in by_device.items()
    )
    return Reading(KIND, source, facts=IbStat(adapters), notices=odd, lines=lines)


def _with(port: IbPort, key: str, value: str, line: int) -> IbPort:
    if key == "state" and (match := _STATE.match(value)):
        return replace(port, state=match["state"].capitalize(), state_line=line)
    if key == "phys state" and (match := _STATE.match(value)):
        return replace(port, physical=match["state"])
    if key == "rate" and (match := _RATE.match(value)):
        return replace(port, rate_bytes_per_s=float(match["gbit"]) * 1e9 / 8, rate_line=line)
    if key == "link_layer":
        return replace(port, link_layer=value)
    return port
