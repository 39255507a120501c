"""``ibv_devinfo`` with or without ``-v``: devices, ports, MTUs, GIDs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from gdviz.readers.reading import Reading
from gdviz.readers.text_lines import open_lines

KIND = "ibv_devinfo"
TITLE = "ibv_devinfo"

_DEVICE = re.compile(r"^\s{0,8}hca_id:\s*(?P<name>\S{1,128})\s*$")
_BEGIN = re.compile(r"(?m)^\s{0,8}hca_id:\s*\S")
_PORT = re.compile(r"^\s*port:\s*(?P<number>\d{1,4})\s*$")
_FIELD = re.compile(r"^\s+(?P<key>[A-Za-z_][\w ./-]{0,60}?):\s*(?P<value>.*)$")
_GID = re.compile(
    r"^\s*GID\[\s*(?P<index>\d{1,5})\]:\s*(?P<gid>[0-9a-fA-F:.]{2,60})(?:,\s*(?P<version>RoCE v\d|IB\S*))?"
)
_MTU = re.compile(r"^(?P<bytes>\d{3,5})\b")

#: 'active_width: 4X (2)' and 'active_speed: 100.0 Gbps (128)' a lane.
_WIDTH = re.compile(r"^(?P<lanes>\d{1,2})X")
_SPEED = re.compile(r"^(?P<rate>\d{1,4}(?:\.\d{1,3})?) Gbps")

#: Devices, GIDs of a port and attributes of a device that are kept.
MAX_DEVICES, MAX_GIDS, MAX_ATTRIBUTES = 10_000, 4096, 400


@dataclass(frozen=True, slots=True)
class DevInfoGid:
    """An entry of a port's GID table.

    Attributes
    ----------
    index
        From 0.
    gid
        As printed.
    version
        ``v1``, ``v2`` or empty (InfiniBand, old tools).
    """

    index: int
    gid: str
    version: str
    line: int


@dataclass(frozen=True, slots=True)
class DevInfoPort:
    """A port; MTUs in bytes, None where the text does not say."""

    number: int
    line: int
    state: str = ""
    active_mtu_bytes: int | None = None
    max_mtu_bytes: int | None = None
    link_layer: str = ""
    rate_bytes_per_s: float | None = None
    lid: int | None = None
    gids: tuple[DevInfoGid, ...] = ()
    state_line: int = 0
    mtu_line: int = 0


@dataclass(frozen=True, slots=True)
class DevInfo:
    """A device.

    Attributes
    ----------
    attributes
        All its ``name: value`` lines, as printed.
    """

    name: str
    line: int
    firmware: str = ""
    node_guid: str = ""
    vendor_part_id: int | None = None
    transport: str = ""
    ports: tuple[DevInfoPort, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DevInfos:
    """All devices of a listing."""

    devices: tuple[DevInfo, ...]


def looks_like(text: str) -> bool:
    """Return whether a device's heading is there."""
    return "hca_id:" in text and _BEGIN.search(text) is not None


def read(data: bytes | str, *, name: str = "node", source: str = "") -> Reading:
    """Read all devices.

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
    devices: list[_Device] = []
    for number, line in enumerate(lines, 1):
        if match := _DEVICE.match(line):
            if len(devices) < MAX_DEVICES:
                devices.append(_Device(match["name"], number))
        elif not devices:
            continue
        elif match := _PORT.match(line):
            devices[-1].ports.append(_Port(int(match["number"]), number))
        elif match := _GID.match(line):
            devices[-1].take_gid(match, number)
        elif match := _FIELD.match(line):
            devices[-1].take(match["key"].strip(), match["value"].strip(), number)
    torn = bool(devices) and not devices[-1].ports
    found = tuple(device.finished() for device in devices)
    return Reading(KIND, source, facts=DevInfos(found), notices=odd, truncated=torn, lines=lines)


class _Port:
    def __init__(self, number: int, line: int) -> None:
        self.number = number
        self.line = line
        self.values: dict[str, tuple[str, int]] = {}
        self.gids: list[DevInfoGid] = []

    def finished(self) -> DevInfoPort:
        def text(key: str) -> str:
            return self.values.get(key, ("", 0))[0]

        def line(key: str) -> int:
            return self.values.get(key, ("", self.line))[1]

        width, speed = _WIDTH.match(text("active_width")), _SPEED.match(text("active_speed"))
        rate = int(width["lanes"]) * float(speed["rate"]) * 1e9 / 8 if width and speed else None
        lid = text("port_lid")
        return DevInfoPort(
            self.number,
            self.line,
            text("state"),
            _mtu(text("active_mtu")),
            _mtu(text("max_mtu")),
            text("link_layer"),
            rate,
            int(lid) if lid.isdecimal() and len(lid) < 9 else None,
            tuple(self.gids),
            line("state"),
            line("active_mtu"),
        )


class _Device:
    def __init__(self, name: str, line: int) -> None:
        self.name = name
        self.line = line
        self.attributes: dict[str, str] = {}
        self.ports: list[_Port] = []

    def take(self, key: str, value: str, line: int) -> None:
        if self.ports:
            if len(self.ports[-1].values) < MAX_ATTRIBUTES:
                self.ports[-1].values.setdefault(key, (value, line))
        elif len(self.attributes) < MAX_ATTRIBUTES:
            self.attributes.setdefault(key, value)

    def take_gid(self, match: re.Match[str], line: int) -> None:
        if self.ports and len(self.ports[-1].gids) < MAX_GIDS:
            said = match["version"] or ""
            version = said[-2:] if said.startswith("RoCE") else ""
            self.ports[-1].gids.append(DevInfoGid(int(match["index"]), match["gid"], version, line))

    def finished(self) -> DevInfo:
        part = self.attributes.get("vendor_part_id", "")
        return DevInfo(
            self.name,
            self.line,
            self.attributes.get("fw_ver", ""),
            self.attributes.get("node_guid", ""),
            int(part) if part.isdecimal() and len(part) < 9 else None,
            self.attributes.get("transport", ""),
            tuple(port.finished() for port in self.ports),
            self.attributes,
        )


def _mtu(text: str) -> int | None:
    match = _MTU.match(text)
    return int(match["bytes"]) if match else None
