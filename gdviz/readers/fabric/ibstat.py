"""``ibstat``: RDMA adapters, their ports' state and rate."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gdviz.messages import _
from gdviz.readers.notices import Notices
from gdviz.readers.reading import Reading
from gdviz.readers.text_lines import has_any, open_lines

KIND = "ibstat"
TITLE = "ibstat"

_ADAPTER = re.compile(r"^\s{0,8}CA '(?P<name>[^'\n]{1,128})'\s*$")
_PORT = re.compile(r"^\s{1,16}Port (?P<number>\d{1,4}):\s*$")
_FIELD = re.compile(r"^\s{1,40}(?P<key>[A-Z][A-Za-z ]{1,30}): ?(?P<value>.*)$")
_PANIC = re.compile(r"\bibpanic: ")
_BEGIN = re.compile(r"(?m)^\s{0,8}CA '[^'\n]{1,128}'\s*$|\bibpanic: ")

#: Adapters that are kept of one file.
MAX_ADAPTERS = 10_000


@dataclass(frozen=True, slots=True)
class IbPort:
    """A port.

    Attributes
    ----------
    number
        From 1.
    state, physical
        ``Active``, ``Down`` ...; ``LinkUp``, ``Disabled``, ``Polling`` ...
    rate_bytes_per_s
        What the link came up with; None where the text does not say.
    link_layer
        ``InfiniBand``, ``Ethernet`` or empty.
    lid, sm_lid
        None where the text does not say.
    guid
        Port GUID; empty where missing.
    line
        Line of ``Port N:``.
    state_line, rate_line
        Lines of the two; `line` where they are missing.
    """

    number: int
    line: int
    state: str = ""
    physical: str = ""
    rate_bytes_per_s: float | None = None
    link_layer: str = ""
    lid: int | None = None
    sm_lid: int | None = None
    guid: str = ""
    state_line: int = 0
    rate_line: int = 0


@dataclass(frozen=True, slots=True)
class IbAdapter:
    """An adapter.

    Attributes
    ----------
    name
        Such as ``mlx5_0``.
    type
        Such as ``MT4129``.
    """

    name: str
    line: int
    type: str = ""
    firmware: str = ""
    node_guid: str = ""
    ports: tuple[IbPort, ...] = ()


@dataclass(frozen=True, slots=True)
class IbStat:
    """All adapters of a listing."""

    adapters: tuple[IbAdapter, ...]


def looks_like(text: str) -> bool:
    """Return whether an adapter's heading is there, or the tool's cry that it gave up."""
    return has_any(text, ("CA '", "ibpanic: ")) and _BEGIN.search(text) is not None


def read(data: bytes | str, *, name: str = "node", source: str = "") -> Reading:
    """Read all adapters.

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
    notices = Notices()
    for notice in odd:
        notices.add(notice.text, notice.line)
    adapters: list[_Adapter] = []
    truncated = False
    for number, line in enumerate(lines, 1):
        if match := _ADAPTER.match(line):
            if len(adapters) < MAX_ADAPTERS:
                adapters.append(_Adapter(match["name"], number))
        elif _PANIC.search(line):
            truncated = True
            notices.add(_("ibstat gave up here: the adapters after it are missing."), number)
        elif adapters and (match := _PORT.match(line)):
            adapters[-1].ports.append(_Fields(number, int(match["number"])))
        elif adapters and (match := _FIELD.match(line)):
            adapters[-1].take(match["key"], match["value"].strip(), number)
    for adapter in adapters:
        told = adapter.about.number("Number of ports")
        if told is not None and told > len(adapter.ports):
            truncated = True
            notices.add(
                _("{name} has {told} ports, but {n} are listed.").format(
                    name=adapter.name, told=told, n=len(adapter.ports)
                ),
                adapter.line,
                kind="missing port",
            )
    found = tuple(adapter.finished() for adapter in adapters)
    facts = IbStat(found)
    return Reading(KIND, source, facts=facts, notices=notices.all(), truncated=truncated, lines=lines)


class _Fields:
    """The fields of an adapter or a port, with their lines."""

    def __init__(self, line: int, port: int = 0) -> None:
        self.line = line
        self.port = port
        self.values: dict[str, tuple[str, int]] = {}

    def text(self, key: str) -> str:
        return self.values.get(key, ("", 0))[0]

    def line_of(self, key: str) -> int:
        return self.values.get(key, ("", self.line))[1]

    def number(self, key: str) -> int | None:
        text = self.text(key)
        return int(text) if text.isdecimal() and len(text) < 12 else None


class _Adapter:
    def __init__(self, name: str, line: int) -> None:
        self.name = name
        self.line = line
        self.about = _Fields(line)
        self.ports: list[_Fields] = []

    def take(self, key: str, value: str, line: int) -> None:
        fields = self.ports[-1] if self.ports else self.about
        fields.values.setdefault(key, (value, line))

    def finished(self) -> IbAdapter:
        about = self.about
        return IbAdapter(
            self.name,
            self.line,
            about.text("CA type"),
            about.text("Firmware version"),
            about.text("Node GUID"),
            tuple(_port(fields) for fields in self.ports),
        )


def _port(fields: _Fields) -> IbPort:
    rate = fields.text("Rate").split(" ")[0]
    known = re.fullmatch(r"\d{1,5}(?:\.\d{1,3})?", rate)
    return IbPort(
        fields.port,
        fields.line,
        fields.text("State"),
        fields.text("Physical state"),
        float(rate) * 1e9 / 8 if known else None,
        fields.text("Link layer"),
        fields.number("Base lid"),
        fields.number("SM lid"),
        fields.text("Port GUID"),
        fields.line_of("State"),
        fields.line_of("Rate"),
    )
