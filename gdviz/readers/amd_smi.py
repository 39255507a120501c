"""``amd-smi static`` to a reading: each GPU's name, ids, bus, link, NUMA node and memory."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gdviz.machine import Cpu, Gpu, Machine, Parts, PcieLink, PciIds, normal_bus_id
from gdviz.machine.known import gpu_model
from gdviz.machine.links import GIGATRANSFERS
from gdviz.readers.gpu_names import gpu_model_by_name
from gdviz.readers.notices import Notices
from gdviz.readers.reading import Reading
from gdviz.readers.source import to_text
from gdviz.readers.text_lines import short_lines

KIND = "amd_smi_static"
TITLE = "amd-smi static"

#: GPUs that are kept of one text.
MAX_GPUS = 1024

_GPU = re.compile(r"^[\s>]{0,8}GPU: (?P<index>\d{1,4})\s*$")
_VALUE = re.compile(r"^\s*(?P<name>[A-Z][A-Z0-9_ ]{1,40}): (?P<value>\S.{0,200})$")
_SECTION = re.compile(r"^\s*(?P<name>[A-Z][A-Z0-9_ ]{1,40}):\s*$")
_MARK = re.compile(
    r"^[ \t>]{0,8}GPU: \d{1,4}[ \t]*\n(?:.*\n){0,40}?[ \t>]+(?:MARKET_NAME|BDF): ", re.MULTILINE
)
_HEX = re.compile(r"^0x([0-9a-fA-F]{1,4})$")
_SPEED = re.compile(r"^(\d{1,3}(?:\.\d)?) GT/s")
_SIZE = re.compile(r"^(\d{1,9}) ([MG])B$")
_GENERATIONS = {rate: gen for gen, rate in GIGATRANSFERS.items()}


@dataclass(frozen=True, slots=True)
class AmdGpu:
    """A GPU as ``amd-smi static`` shows it; None is what it does not say.

    Attributes
    ----------
    link
        What the slot and the GPU can; the text does not say how the link is trained.
    line
        Where the GPU begins, from 1.
    """

    index: int
    line: int
    name: str = ""
    busid: str = ""
    vendor: int | None = None
    device: int | None = None
    link: PcieLink = PcieLink()
    numa: int | None = None
    memory_bytes: int | None = None
    driver: str = ""
    driver_line: int | None = None


@dataclass(frozen=True, slots=True)
class AmdStatic:
    """All GPUs of one ``amd-smi static``."""

    gpus: tuple[AmdGpu, ...] = ()


def looks_like(text: str) -> bool:
    """Return whether a text has a GPU's block with its name or bus id."""
    return "GPU: " in text and _MARK.search(text) is not None


def _hex(value: str) -> int | None:
    match = _HEX.match(value)
    return int(match[1], 16) if match else None


def _speed(value: str) -> int | None:
    match = _SPEED.match(value)
    return _GENERATIONS.get(float(match[1])) if match else None


def _count(value: str) -> int | None:
    return int(value) if value.isdecimal() and len(value) < 5 else None


def _bytes(value: str) -> int | None:
    match = _SIZE.match(value)
    return int(match[1]) * 2 ** (20 if match[2] == "M" else 30) if match else None


_FIELDS: dict[tuple[str, str], tuple[str, Callable[[str], Any]]] = {
    ("ASIC", "MARKET_NAME"): ("name", str),
    ("ASIC", "VENDOR_ID"): ("vendor", _hex),
    ("ASIC", "DEVICE_ID"): ("device", _hex),
    ("BUS", "BDF"): ("busid", normal_bus_id),
    ("BUS", "MAX_PCIE_WIDTH"): ("max_width", _count),
    ("BUS", "MAX_PCIE_SPEED"): ("max_gen", _speed),
    ("NUMA", "NODE"): ("numa", _count),
    ("VRAM", "SIZE"): ("memory_bytes", _bytes),
    ("DRIVER", "VERSION"): ("driver", str),
}


@dataclass
class _Reader:
    gpus: list[AmdGpu] = field(default_factory=list)
    values: dict[str, Any] | None = None
    section: str = ""

    def take(self, line: str, number: int) -> None:
        if match := _GPU.match(line):
            self.end()
            if len(self.gpus) < MAX_GPUS:
                self.values = {"index": int(match["index"]), "line": number}
        elif self.values is None:
            return
        elif match := _SECTION.match(line):
            self.section = match["name"]
        elif (match := _VALUE.match(line)) and (known := _FIELDS.get((self.section, match["name"]))):
            key, convert = known
            value = convert(match["value"].strip())
            if value not in (None, "N/A"):
                self.values.setdefault(key, value)
                if key == "driver":
                    self.values.setdefault("driver_line", number)

    def end(self) -> None:
        values, self.values, self.section = self.values, None, ""
        if values is not None:
            gen, width = values.pop("max_gen", None), values.pop("max_width", None)
            self.gpus.append(AmdGpu(link=PcieLink(None, None, gen, width), **values))


def read(data: bytes | str, *, name: str = "node", source: str = "") -> Reading:
    """Read the GPUs.

    Returns
    -------
    Reading
        Its facts are an `AmdStatic`; the machine has the GPUs and their NUMA nodes.
    """
    text, decoding = to_text(data)
    lines = tuple(short_lines(text))
    notices = Notices()
    for notice in decoding:
        notices.add(notice.text, notice.line)
    reader = _Reader()
    for number, line in enumerate(lines, 1):
        if line and not line.isspace():
            reader.take(line, number)
    reader.end()
    facts = AmdStatic(tuple(reader.gpus))
    told = notices.all()
    return Reading(KIND, source, (Machine(name, _parts(facts), source, told),), facts, told, lines=lines)


def _parts(facts: AmdStatic) -> Parts:
    cpus: dict[int, Cpu] = {}
    gpus: list[Gpu] = []
    taken: set[str] = set()
    for index, found in enumerate(facts.gpus):
        numa = -1 if found.numa is None else found.numa
        cpu = cpus.setdefault(numa, Cpu(f"cpu{numa}" if numa >= 0 else "cpu", numa))
        part_id = found.busid if found.busid and found.busid not in taken else f"gpu{index}"
        taken.add(part_id)
        model = gpu_model(found.vendor, found.device) or gpu_model_by_name(found.name)
        gpus.append(
            Gpu(
                id=part_id,
                index=index,
                parent=cpu.id,
                busid=found.busid,
                name=model.name if model else (found.name or "AMD GPU"),
                numa=numa,
                link=found.link,
                pci=PciIds(found.vendor, found.device),
                memory_bytes=found.memory_bytes,
                memory_bytes_per_s=model.memory_bytes_per_s if model else None,
                bar1_bytes=model.bar1_bytes if model else None,
            )
        )
    return Parts(tuple(cpus.values()), (), tuple(gpus))
