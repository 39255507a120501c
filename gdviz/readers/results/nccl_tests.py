"""nccl-tests (``all_reduce_perf`` ...) and rccl-tests, of 2018 to now."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from gdviz.readers.nccl_log.messages import PREFIX
from gdviz.readers.reading import Reading
from gdviz.readers.results.facts import ResultDevice, ResultRow, Results, ResultTable
from gdviz.readers.results.numbers import GIGABYTE, number, times
from gdviz.readers.text_lines import open_lines

KIND = "nccl_tests"
TITLE = "nccl-tests table"

_HEAD = re.compile(r"\bsize\s+count\s.*\btime\s+algbw\s+busbw\b")
_BEGIN = re.compile(r"\bnThread \d{1,6} nGpus \d{1,6}\b|Collective test starting: (?P<name>\w{1,40})")
_PROGRAM = re.compile(
    r"\b(?P<name>all_reduce|all_gather|reduce_scatter|broadcast|reduce|alltoall|sendrecv|scatter|gather|hypercube)_perf\b"
)
_RANK = re.compile(
    r"#\s*Rank\s+(?P<rank>\d{1,7})\s+(?:Group\s+\d{1,7}\s+)?Pid\s+\d{1,10} on\s+(?P<host>\S{1,253})\s+"
    r"device\s+(?P<gpu>\d{1,3}) \[(?P<bus>[0-9a-fA-Fx:.]{2,20})\]\s*(?P<name>[^\n]{0,80})"
)
_BUS = re.compile(r"0x([0-9a-fA-F]{1,2})")
_AVERAGE = re.compile(r"Avg bus bandwidth\s*:\s*(?P<value>\S{1,20})")
_WRONG = re.compile(r"Out of bounds values\s*:\s*(?P<value>\d{1,12})")
_ROW = re.compile(
    r"^\s*(?P<size>\d{1,18})\s+(?P<count>\d{1,18})\s+(?P<type>[a-z]\w{2,12})\b(?P<rest>[^\n]{0,300})$"
)
_CELLS = re.compile(r"^[\s\d.eE+-]+$|^[\s\d.eE+N/A-]+$")


@dataclass
class _Run:
    line: int
    operation: str = ""
    setup: dict[str, str] = field(default_factory=dict)
    rows: list[ResultRow] = field(default_factory=list)
    devices: list[ResultDevice] = field(default_factory=list)
    errors: list[tuple[int, str]] = field(default_factory=list)
    #: A row of which log lines may have torn off the end: its size, its line, its cells.
    open_row: tuple[int, int, list[str]] | None = None

    def close_row(self) -> None:
        """Keep the row that is being read, if it is whole."""
        if self.open_row is not None and (row := _row(*self.open_row)):
            self.rows.append(row)
        self.open_row = None

    def table(self) -> ResultTable:
        hosts = {device.host for device in self.devices}
        setup = dict(self.setup)
        if self.devices:
            setup |= {
                "ranks": str(len(self.devices)),
                "hosts": str(len(hosts)),
                "gpu_name": self.devices[0].name,
            }
        return ResultTable(
            "nccl-tests",
            self.operation,
            self.line,
            setup,
            tuple(self.rows),
            tuple(self.devices),
            tuple(self.errors),
        )


def looks_like(text: str) -> bool:
    """Return whether a head, or the line with which a run begins, is there."""
    return ("busbw" in text and _HEAD.search(text) is not None) or (
        "nThread " in text and _BEGIN.search(text) is not None
    )


def read(data: bytes | str, *, name: str = "node", source: str = "") -> Reading:
    """Read all runs; a table that log lines tear apart keeps the rows that are whole.

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
    tables = tuple(run.table() for run in _runs(lines) if run.rows or run.devices)
    return Reading(KIND, source, facts=Results(tables), notices=odd, lines=lines)


def _runs(lines: Sequence[str]) -> list[_Run]:
    runs: list[_Run] = []
    operation = ""
    for number_, line in enumerate(lines, 1):
        if "_perf" in line and (match := _PROGRAM.search(line)):
            operation = match["name"]
        begin = _BEGIN.search(line) if "nThread" in line or "Collective test" in line else None
        # A run begins with its options; where they are missing, with the head of its table.
        new = begin is not None and not (runs and not runs[-1].rows and number_ - runs[-1].line < 4)
        if new or (not runs and _HEAD.search(line)):
            runs.append(_Run(number_, operation))
        if runs:
            runs[-1].operation = runs[-1].operation or operation
            _take(runs[-1], line, number_)
    for run in runs:
        run.close_row()
    return runs


def _take(run: _Run, line: str, number_: int) -> None:
    text = _without_log(run, line)
    if match := _ROW.match(text):
        run.close_row()
        run.open_row = int(match["size"]), number_, match["rest"].split()
    elif text.strip() and run.open_row is not None:
        if _CELLS.match(text):
            run.open_row[2].extend(text.split()[:20])
        elif text.lstrip().startswith("#"):
            run.close_row()
    if "Rank" in line and (match := _RANK.search(line)):
        run.devices.append(
            ResultDevice(
                int(match["rank"]),
                match["host"],
                int(match["gpu"]),
                _busid(match["bus"]),
                match["name"].strip(),
                number_,
            )
        )
    elif match := _AVERAGE.search(line):
        run.setup["average_busbw"] = match["value"]
    elif _failed(line):
        run.errors.append((number_, line.strip()[:300]))


def _without_log(run: _Run, line: str) -> str:
    """Return what stands on a line before a rank's log runs into it."""
    if "NCCL " not in line:
        return line
    places = [line.find(f"{host}:") for host in {device.host for device in run.devices[:64]}]
    found = [place for place in places if place >= 0]
    if found:
        return line[: min(found)]
    prefix = PREFIX.search(line)
    return line[: prefix.start()] if prefix else line


def _failed(line: str) -> bool:
    wrong = _WRONG.search(line)
    if wrong is not None:
        return int(wrong["value"]) > 0
    return "Test NCCL failure" in line or "Test CUDA failure" in line


def _busid(text: str) -> str | None:
    """Return a bus id: ``0000:1a:00`` lacks its function, ``0x1a`` is the bus alone."""
    if text.startswith("0x"):
        bus = _BUS.fullmatch(text)
        return f"0000:{int(bus[1], 16):02x}:00.0" if bus else None
    parts = text.split(":")
    if len(parts) == 3 and "." not in parts[2]:
        text += ".0"
    return text.lower()


def _row(size: int, line: int, cells: list[str]) -> ResultRow | None:
    if cells and cells[0].isalpha():  # 'sum', 'none': older tables of some collectives have no such column
        cells = cells[1:]
    # An odd number of columns has the root first: time, algbw, busbw, wrong, out of place and in place.
    if len(cells) % 2:
        cells = cells[1:]
    if len(cells) not in (4, 8) or any(number(cell) is None and cell != "N/A" for cell in cells):
        return None
    time_us, algbw, busbw = cells[:3] if cells[0] != "N/A" or len(cells) == 4 else cells[4:7]
    if number(time_us) is None or number(busbw) is None:
        return None
    return ResultRow(
        size,
        line,
        algbw_bytes_per_s=times(algbw, GIGABYTE),
        busbw_bytes_per_s=times(busbw, GIGABYTE),
        latency_s=times(time_us, 1e-6),
    )
