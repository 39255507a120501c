"""The matrix of ``nvidia-smi topo`` out of a text: tabs, spaces, Markdown, wrapped, torn, amid prose."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

from gdviz.readers.nvidia_smi.facts import TopoMatrix, TopoRow

#: Devices of a matrix that are read.
MAX_DEVICES = 128

_COLOUR = re.compile(r"\x1b\[[0-9;]{0,12}[A-Za-z]")
_GPU = re.compile(r"^GPU\d{1,3}$")
#: What a header may name: NIC3, mlx5_0, mlx5_bond_0, bnxt_re1, rdmap16s27, hfi1_0, ibp12s0 ...
_DEVICE = re.compile(r"^(?:GPU\d{1,3}|NIC\d{1,3}|[a-z][a-z0-9-]{1,20}(?:_[a-z0-9]{1,12}){0,3})$")
_CELL = re.compile(r"^(?:X|SYS|SOC|NODE|PHB|PXB|PSB|PIX|NV\d{1,2})$")
_TORN_CELL = re.compile(r"^(?:S|SY|SO|N|NO|NOD|NV|P|PH|PX|PI|PS)$")
_AFFINITIES = (("CPU", "Affinity"), ("NUMA", "Affinity"), ("GPU", "NUMA", "ID"))
_LEGEND = re.compile(r"^\W*(X|SYS|SOC|NODE|PHB|PXB|PSB|PIX|NV#)\s*=\s*(\S.*)$")
_NIC_NAME = re.compile(r"\bNIC(\d{1,3})\s?[:=]\s?([a-z][a-z0-9-]{0,20}(?:_[a-z0-9]{1,12}){0,3})(?![\w.])")

#: A first row: GPU0 and the cross of its own column.
_FIRST_ROW = re.compile(
    r"^[^\w\n]{0,24}(?:\x1b\[[0-9;]{0,12}m)?GPU\d{1,3}(?:[ \t|\x1b*`]|\[[0-9;]{0,9}m){1,120}"
    r"(?:(?:SYS|SOC|NODE|PHB|PXB|PSB|PIX|NV\d{1,2})[ \t|*`]{1,120}){0,128}X(?=[\s|*`]|$)"
    r"(?![ \t|*`]{0,120}(?:OK|CNS|GNS|TNS|NS|DR|U)\b)",
    re.MULTILINE,
)


def has_matrix(text: str) -> bool:
    """Return whether a text has a matrix's row of a GPU: classes of distance, and a cross.

    The matrix of ``topo -p2p`` has crosses too, but other cells (OK, GNS ...); it is none of these.
    """
    return "GPU" in text and _FIRST_ROW.search(text) is not None


@dataclass(slots=True)
class _Row:
    name: str
    line: int
    cells: list[str] = field(default_factory=list)
    rest: list[str] = field(default_factory=list)
    torn: bool = False


def words_of(line: str) -> list[str]:
    """Return the words of a line; in a Markdown table its cells, an empty one as ''."""
    text = _COLOUR.sub("", line)
    if "|" in text:
        cells = [cell.strip(" \t`*") for cell in text.strip(" \t>").strip("|").split("|")]
        return [word for cell in cells for word in (cell.split() or [""])]
    return text.lstrip(" \t>").split()


@dataclass
class MatrixText:
    """Goes through lines and keeps the first matrix.

    Attributes
    ----------
    second_line
        Line at which another matrix begins; it is not read.
    """

    columns: list[str] = field(default_factory=list)
    affinities: int = 0
    header_line: int = 0
    rows: list[_Row] = field(default_factory=list)
    legend: dict[str, str] = field(default_factory=dict)
    names: dict[str, tuple[str, int]] = field(default_factory=dict)
    second_line: int | None = None
    _closed: bool = False

    def take(self, line: str, number: int) -> None:
        """Take a line."""
        if "NIC" in line:
            for found in _NIC_NAME.finditer(line):
                self.names.setdefault(f"NIC{found[1]}", (found[2], number))
        if "=" in line and (match := _LEGEND.match(line)):
            self.legend.setdefault(match[1], match[2].strip()[:200])
            self._closed = self._closed or bool(self.rows)
            return
        words = words_of(line)
        if not words:
            return
        if self._row(words, number) or self._header(words, number):
            return
        if self.rows and not self._closed and not self._wrapped(words):
            ruler = set("".join(words)) <= set("-:+=|")
            self._closed = not ruler

    def _header(self, words: list[str], number: int) -> bool:
        named = [word for word in words if word]
        end = len(named)
        affinities = 0
        while affinity := next((a for a in _AFFINITIES if tuple(named[end - len(a) : end]) == a), None):
            end -= len(affinity)
            affinities += 1
        devices = named[:end]
        if not devices or not all(_DEVICE.match(word) for word in devices):
            return False
        if self.columns and not self.rows and not self._closed and number <= self.header_line + 3:
            # A header that was broken over two lines.
            self.columns += devices
            self.affinities += affinities
            return True
        if not _GPU.match(devices[0]) or (len(devices) < 2 and not affinities):
            return False
        if self.rows:
            self._closed = True
            self.second_line = self.second_line or number
            return True
        self.columns, self.affinities, self.header_line = devices, affinities, number
        return True

    def _row(self, words: list[str], number: int) -> bool:
        if self._closed or not self.columns or words[0] not in self.columns or len(words) < 2:
            return False
        row = _Row(words[0], number)
        self._fill(row, words[1:])
        if not row.cells:
            return False
        if len(self.rows) < MAX_DEVICES:
            self.rows.append(row)
        return True

    def _fill(self, row: _Row, words: list[str]) -> None:
        for position, word in enumerate(words):
            if len(row.cells) == len(self.columns):
                row.rest += words[position:]
                return
            if _CELL.match(word):
                row.cells.append(sys.intern(word))
            elif _TORN_CELL.match(word) and position == len(words) - 1:
                row.torn = True
            else:
                row.rest += words[position:]
                return

    def _wrapped(self, words: list[str]) -> bool:
        """Take the rest of a row that was broken over two lines."""
        row = self.rows[-1]
        missing = len(self.columns) - len(row.cells)
        if row.torn or row.rest or (missing and not _CELL.match(words[0])):
            return False
        if not missing:
            # Only affinities can follow; a row of a NIC has none.
            if _GPU.match(row.name) and re.match(r"^\d{1,5}(?:-\d{1,5})?(?:,|$)", words[0]):
                row.rest += words
                return True
            return False
        self._fill(row, words)
        return True

    def matrix(self, ends_here: int) -> TopoMatrix | None:
        """Return what was read, None if no matrix was.

        Parameters
        ----------
        ends_here
            Number of lines of the text.
        """
        if not self.rows:
            return None
        rows = tuple(_finished(row, self.affinities) for row in self.rows)
        columns = tuple(self.columns[:MAX_DEVICES])
        return TopoMatrix(
            columns,
            rows,
            self.header_line,
            self.legend,
            {nic: name for nic, (name, _line) in self.names.items() if nic in columns},
            {nic: line for nic, (_name, line) in self.names.items() if nic in columns},
            self._torn(ends_here),
        )

    def _torn(self, ends_here: int) -> int | None:
        for row in self.rows:
            if row.torn:
                return row.line
        last = self.rows[-1]
        short = len(last.cells) < len(self.columns) and not last.rest
        whole = all(len(row.cells) >= len(self.columns) for row in self.rows[:-1])
        missing = {name for name in self.columns if _GPU.match(name)} - {row.name for row in self.rows}
        at_end = last.line >= ends_here - 1 and not self.legend
        return last.line if (short and whole) or (missing and at_end) else None


def _finished(row: _Row, affinities: int) -> TopoRow:
    rest = [word for word in row.rest if word]
    cpu, numa, gpu_numa = (*rest[:3], "", "", "")[:3]
    if affinities == 0:
        cpu = numa = gpu_numa = ""
    return TopoRow(row.name, tuple(row.cells[:MAX_DEVICES]), row.line, cpu[:200], numa[:60], gpu_numa[:60])


def read_matrix(lines: Sequence[str]) -> tuple[TopoMatrix | None, int | None]:
    """Return the first matrix of a text, and the line where another one begins."""
    reader = MatrixText()
    for number, line in enumerate(lines, 1):
        if line and not line.isspace():
            reader.take(line, number)
    return reader.matrix(len(lines)), reader.second_line
