"""The tables of ``rocm-smi --showtopo`` and ``amd-smi topology`` to a reading.

Both print one table after another, of GPUs against GPUs: ``rocm-smi`` names these GPU0, GPU1 ...,
``amd-smi`` by bus id. Neither says where NICs are.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gdviz.machine import Cpu, Gpu, Machine, NvLink, Parts, PeerKind, normal_bus_id
from gdviz.messages import _
from gdviz.readers.notices import Notices
from gdviz.readers.reading import Reading
from gdviz.readers.source import to_text
from gdviz.readers.text_lines import short_lines

KIND = "amd_topology"
TITLE = "rocm-smi --showtopo, amd-smi topology"

#: GPUs of a table that are read.
MAX_GPUS = 128

_TITLE = re.compile(
    r"^[\s>]{0,8}(?:=+ (?P<rocm>Weight|Hops|Link Type|Link [Aa]ccessibility) between two GPUs =+"
    r"|(?P<amd>ACCESS|WEIGHT|HOPS|LINK TYPE|NUMA BW|BANDWIDTH) TABLE:)\s*$"
)
_MARK = re.compile(_TITLE.pattern, re.MULTILINE)
_OTHER_TITLE = re.compile(r"^[\s>]{0,8}(?:=+ .{2,60} =+|[A-Z][A-Z -]{2,40} TABLE:)\s*$")
_NAME = re.compile(r"^(?:GPU\d{1,3}|[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7])$")
_NUMA = re.compile(
    r"^[\s>]{0,8}GPU(?:\[| )(?P<index>\d{1,3})\]?\s*: "
    r"\(Topology\) Numa (?P<what>Node|Affinity): (?P<numa>-?\d{1,4})"
)
_NUMA_MARK = re.compile(r"^[\s>]{0,8}GPU(?:\[| )\d{1,3}\]?\s*: \(Topology\) Numa ", re.MULTILINE)

#: Cells of a table by the row's name, in the order of its columns.
Table = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class AmdGpuRow:
    """A GPU of the tables: its name there, bus id and NUMA node; None is what they do not say."""

    name: str
    line: int
    busid: str | None = None
    numa: int | None = None


@dataclass(frozen=True, slots=True)
class AmdTopology:
    """All tables of one text.

    Attributes
    ----------
    gpus
        In the tables' order.
    tables
        ``access``, ``weight``, ``hops``, ``link type`` ... to rows of cells, as printed.
    columns
        Names of each table's columns.
    table_lines
        Line of each table's title.
    """

    gpus: tuple[AmdGpuRow, ...] = ()
    tables: Mapping[str, Table] = field(default_factory=dict)
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    table_lines: Mapping[str, int] = field(default_factory=dict)

    def cell(self, table: str, one: str, other: str) -> str | None:
        """Return what a table says of two GPUs, None if it says nothing."""
        cells, columns = self.tables.get(table, {}).get(one, ()), self.columns.get(table, ())
        place = columns.index(other) if other in columns else len(cells)
        return cells[place] if place < len(cells) else None


def looks_like(text: str) -> bool:
    """Return whether a text has the title of one of the tables, or the NUMA nodes below them."""
    return _MARK.search(text) is not None or _NUMA_MARK.search(text) is not None


@dataclass
class _Reader:
    tables: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)
    headers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    table_lines: dict[str, int] = field(default_factory=dict)
    names: dict[str, int] = field(default_factory=dict)
    numas: dict[str, int] = field(default_factory=dict)
    columns: list[str] = field(default_factory=list)
    table: str = ""
    torn: int | None = None

    def take(self, line: str, number: int) -> None:
        if match := _TITLE.match(line):
            title = (match["rocm"] or match["amd"]).lower()
            self.table = "access" if "access" in title else title
            self.columns = []
            self.tables.setdefault(self.table, {})
            self.table_lines.setdefault(self.table, number)
        elif _OTHER_TITLE.match(line):
            self.table = ""
        elif match := _NUMA.match(line):
            name = f"GPU{int(match['index'])}"
            self.names.setdefault(name, number)
            if int(match["numa"]) >= 0 and (match["what"] == "Node" or name not in self.numas):
                self.numas[name] = int(match["numa"])
        elif self.table:
            self._row(line.split(), number)

    def _row(self, words: list[str], number: int) -> None:
        if not words or not _NAME.match(words[0]):
            return
        if all(_NAME.match(word) for word in words) and not self.columns:
            self.columns = words[:MAX_GPUS]
            self.headers.setdefault(self.table, tuple(self.columns))
            for word in self.columns:
                self.names.setdefault(word, number)
            return
        if words[0] in self.columns:
            cells = words[1 : len(self.columns) + 1]
            self.tables[self.table].setdefault(words[0], tuple(sys.intern(word[:40]) for word in cells))
            self.torn = number if len(words) - 1 < len(self.columns) else None


def read(data: bytes | str, *, name: str = "node", source: str = "") -> Reading:
    """Read the tables.

    Returns
    -------
    Reading
        Its facts are an `AmdTopology`; the machine has the GPUs, their NUMA nodes and xGMI links.
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
    rows = tuple(
        AmdGpuRow(label, line, normal_bus_id(label), reader.numas.get(label))
        for label, line in list(reader.names.items())[:MAX_GPUS]
    )
    facts = AmdTopology(rows, reader.tables, reader.headers, reader.table_lines)
    truncated = reader.torn is not None and reader.torn == _last(lines)
    if truncated:
        notices.add(_("The table breaks off inside a row."), reader.torn)
    told = notices.all()
    return Reading(KIND, source, (Machine(name, _parts(facts), source, told),), facts, told, truncated, lines)


def _last(lines: Sequence[str]) -> int:
    number = len(lines)
    while number and not lines[number - 1].strip():
        number -= 1
    return number


def _parts(facts: AmdTopology) -> Parts:
    cpus: dict[int, Cpu] = {}
    gpus: dict[str, Gpu] = {}
    for index, row in enumerate(facts.gpus):
        numa = -1 if row.numa is None else row.numa
        cpu = cpus.setdefault(numa, Cpu(f"cpu{numa}" if numa >= 0 else "cpu", numa))
        part_id = row.busid or row.name.lower()
        if part_id in {gpu.id for gpu in gpus.values()}:
            part_id = f"{part_id}#{index}"
        gpus[row.name] = Gpu(part_id, index, cpu.id, row.busid or "", "AMD GPU", numa)
    links = tuple(
        NvLink(gpus[one].id, gpus[other].id, 1, PeerKind.GPU, "xGMI")
        for one, cells in facts.tables.get("link type", {}).items()
        for other, cell in zip(facts.columns.get("link type", ()), cells, strict=False)
        if cell == "XGMI" and one != other and one in gpus and other in gpus
    )
    return Parts(tuple(cpus.values()), (), tuple(gpus.values()), (), (), links)
