"""``nvidia-smi -q`` and the table of plain ``nvidia-smi`` to a reading."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from gdviz.machine import Cpu, Gpu, Machine, Parts, PcieLink, PciIds, normal_bus_id
from gdviz.machine.known import gpu_model
from gdviz.messages import _
from gdviz.readers.gpu_names import gpu_model_by_name
from gdviz.readers.notices import Notices
from gdviz.readers.nvidia_smi.facts import SmiGpu, SmiQuery
from gdviz.readers.nvidia_smi.table import TABLE_MARK, read_table
from gdviz.readers.reading import Reading
from gdviz.readers.source import to_text
from gdviz.readers.text_lines import short_lines

KIND = "nvidia_smi_query"
TITLE = "nvidia-smi (-q)"

#: GPUs that are kept of one text.
MAX_GPUS = 4096

_MARK = re.compile(
    r"^[ \t>]{0,8}(?:=+NVSMI LOG=+|Attached GPUs +: \d"
    r"|GPU [0-9A-Fa-f]{8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]\s*$)",
    re.MULTILINE,
)
_GPU = re.compile(r"^GPU (?P<busid>[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7])\s*$")
#: Name, spaces, a colon, a value; a section has a name alone.
_VALUE = re.compile(r"^(?P<name>[A-Z][\w ./()-]{1,60}?)\s*: (?P<value>\S.{0,400})?$")
_SECTION = re.compile(r"^[A-Z][\w ./()-]{1,60}$")
_SIZE = re.compile(r"^(\d{1,9}) ([KMG]iB)$")
_UNITS = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_WIDTH = re.compile(r"^(\d{1,2})x$")
_DEVICE_ID = re.compile(r"^0x([0-9A-Fa-f]{4})([0-9A-Fa-f]{4})$")


def looks_like(text: str) -> bool:
    """Return whether a text holds the log of ``-q``, or the table of plain ``nvidia-smi``."""
    return _MARK.search(text) is not None or TABLE_MARK.search(text) is not None


@dataclass(slots=True)
class _Reader:
    notices: Notices
    gpus: list[SmiGpu] = field(default_factory=list)
    head: dict[str, Any] = field(default_factory=dict)
    values: dict[str, Any] | None = None
    link: dict[str, int] = field(default_factory=dict)
    #: Names of the sections that are open, each with its indentation.
    open: list[tuple[int, str]] = field(default_factory=list)

    def take(self, line: str, number: int) -> None:
        text = line.strip()
        indent = len(line) - len(line.lstrip())
        if (match := _GPU.match(text)) and len(self.gpus) < MAX_GPUS:
            self.end()
            self.values = {"busid": normal_bus_id(match["busid"]) or "", "line": number}
            self.link, self.open = {}, []
            return
        while self.open and self.open[-1][0] >= indent:
            self.open.pop()
        if match := _VALUE.match(text):
            self._value(match["name"], (match["value"] or "").strip(), number)
        elif len(self.open) < 16 and _SECTION.match(text):
            self.open.append((indent, text))

    def _value(self, name: str, value: str, number: int) -> None:
        section = self.open[-1][1] if self.open else ""
        if self.values is None:
            reader = _HEAD.get(name)
            if reader is not None and value not in ("", "N/A"):
                key, convert = reader
                if (converted := convert(value)) is not None and key not in self.head:
                    self.head[key] = converted
                    self.head[f"{key}_line"] = number
            return
        if (section, name) in _LINK and (match := re.match(r"^\d{1,2}", value)):
            self.link.setdefault(_LINK[section, name], int(match[0]))
            self.values.setdefault("link_line", number)
            return
        field_ = _FIELDS.get((section, name)) or _FIELDS.get(("*", name))
        if field_ is None or value in ("", "N/A"):
            return
        key, convert, line_key = field_
        converted = convert(value)
        if converted is not None and key not in self.values:
            self.values[key] = converted
            if line_key:
                self.values[line_key] = number

    def end(self) -> None:
        values = self.values
        self.values = None
        if values is None:
            return
        ids = values.pop("ids", (None, None))
        link = PcieLink(
            self._gen("gen"), self._width("width"), self._gen("max_gen"), self._width("max_width")
        )
        self.gpus.append(
            SmiGpu(
                vendor=ids[0],
                device=ids[1],
                link=link,
                host_max_gen=self._gen("host_max_gen"),
                **values,
            )
        )

    def _gen(self, key: str) -> int | None:
        number = self.link.get(key)
        return number if number is not None and 1 <= number <= 6 else None

    def _width(self, key: str) -> int | None:
        number = self.link.get(key)
        return number if number is not None and 1 <= number <= 32 else None


def _text(value: str) -> str:
    return value[:120]


def _bytes(value: str) -> int | None:
    match = _SIZE.match(value)
    return int(match[1]) * _UNITS[match[2]] if match else None


def _count(value: str) -> int | None:
    return int(value) if value.isdecimal() and len(value) < 6 else None


def _ids(value: str) -> tuple[int, int] | None:
    match = _DEVICE_ID.match(value)
    return (int(match[2], 16), int(match[1], 16)) if match else None


_HEAD: dict[str, tuple[str, Callable[[str], Any]]] = {
    "Driver Version": ("driver", _text),
    "CUDA Version": ("cuda", _text),
    "Attached GPUs": ("attached", _count),
}
_LINK = {
    ("PCIe Generation", "Max"): "max_gen",
    ("PCIe Generation", "Current"): "gen",
    ("PCIe Generation", "Host Max"): "host_max_gen",
    ("Link Width", "Max"): "max_width",
    ("Link Width", "Current"): "width",
}
_FIELDS: dict[tuple[str, str], tuple[str, Callable[[str], Any], str]] = {
    ("*", "Product Name"): ("name", _text, "name_line"),
    ("*", "Product Brand"): ("brand", _text, ""),
    ("*", "Product Architecture"): ("architecture", _text, ""),
    ("*", "GPU UUID"): ("uuid", _text, ""),
    ("*", "Persistence Mode"): ("persistence_mode", _text, ""),
    ("*", "Addressing Mode"): ("addressing_mode", _text, "addressing_line"),
    ("*", "Virtualization Mode"): ("virtualization_mode", _text, "virtualization_line"),
    ("*", "Device Id"): ("ids", _ids, ""),
    ("MIG Mode", "Current"): ("mig_mode", _text, "mig_line"),
    ("FB Memory Usage", "Total"): ("memory_total_bytes", _bytes, ""),
    ("BAR1 Memory Usage", "Total"): ("bar1_total_bytes", _bytes, "bar1_line"),
    ("BAR1 Memory Usage", "Used"): ("bar1_used_bytes", _bytes, ""),
}


def read_query(lines: Sequence[str], notices: Notices) -> SmiQuery:
    """Return what a log of ``-q``, or else a table, says."""
    reader = _Reader(notices)
    for number, line in enumerate(lines, 1):
        if line and not line.isspace():
            reader.take(line, number)
    reader.end()
    if reader.gpus:
        return SmiQuery(gpus=tuple(reader.gpus), **reader.head)
    table = read_table(lines, MAX_GPUS)
    return table if table.gpus or table.driver else SmiQuery(**reader.head)


def read(data: bytes | str, *, name: str = "node", source: str = "") -> Reading:
    """Read GPUs, their BAR1 windows, links and modes.

    Returns
    -------
    Reading
        Its facts are an `SmiQuery`. The machine has the GPUs; nothing is said of what is between them.
    """
    text, decoding = to_text(data)
    lines = tuple(short_lines(text))
    notices = Notices()
    for notice in decoding:
        notices.add(notice.text, notice.line)
    query = read_query(lines, notices)
    if query.attached is not None and len(query.gpus) < query.attached:
        # Not torn: -i shows one GPU of all that are attached.
        notices.add(
            _("The text announces {all} GPUs and shows {n}.").format(all=query.attached, n=len(query.gpus)),
            query.attached_line,
        )
    told = notices.all()
    machine = Machine(name, _parts(query), source, told)
    return Reading(KIND, source, (machine,), query, told, lines=lines)


def _parts(query: SmiQuery) -> Parts:
    gpus: list[Gpu] = []
    seen: set[str] = set()
    for index, found in enumerate(query.gpus):
        model = gpu_model(found.vendor, found.device) or gpu_model_by_name(found.name)
        part_id = found.busid if found.busid and found.busid not in seen else f"gpu{index}"
        seen.add(part_id)
        gpus.append(
            Gpu(
                id=part_id,
                index=index,
                parent="cpu",
                busid=found.busid,
                name=model.name if model else (found.name or "GPU"),
                link=found.link,
                pci=PciIds(found.vendor, found.device),
                compute_capability=model.compute_capability if model else None,
                memory_bytes=found.memory_total_bytes or (model.memory_bytes if model else None),
                memory_bytes_per_s=model.memory_bytes_per_s if model else None,
                bar1_bytes=found.bar1_total_bytes,
            )
        )
    return Parts((Cpu("cpu", -1),), (), tuple(gpus))
