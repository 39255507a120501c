"""nvbandwidth (text and JSON) and GDRCopy (``gdrcopy_copybw``, ``gdrcopy_copylat``)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from gdviz.readers.reading import Reading
from gdviz.readers.results.facts import ResultRow, Results, ResultTable
from gdviz.readers.results.numbers import GIGABYTE, MEGABYTE, number, times, whole
from gdviz.readers.text_lines import open_lines

KIND = "gpu_copies"
TITLE = "nvbandwidth or GDRCopy table"

_RUNNING = re.compile(r"^\W{0,8}Running (?P<name>\w{3,80})\.\s*$")
_MATRIX = re.compile(r"memcpy .{0,80}\((?P<unit>GB/s|ns)\)")
_COPYBW = re.compile(
    r"\b(?P<way>write|writing|read|reading) BW: (?P<value>[0-9.]{1,20}) ?(?P<unit>[MG])B/s", re.IGNORECASE
)
_COPYLAT = re.compile(
    r"^\W{0,4}(?P<what>gdr_copy_(?:to|from)_mapping|cu(?:da)?Memcpy(?:HtoD|DtoH)?)\s+(?P<size>\d{1,18})\s+(?P<value>[0-9.]{1,20})\s*$"
)
_TESTING = re.compile(r"(?:testing|test)\s+size\s*[:=]\s*(?P<size>\d{1,18})|copying\s+(?P<bytes>\d{1,18})")


@dataclass
class _Run:
    tool: str
    operation: str
    line: int
    rows: list[ResultRow] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    unit: str = ""


def looks_like(text: str) -> bool:
    """Return whether a table of either is there."""
    if '"nvbandwidth"' in text:
        return True
    if "Running " in text and _MATRIX.search(text):
        return True
    return "gdr_copy_" in text or ("BW: " in text and _COPYBW.search(text) is not None)


def read(data: bytes | str, *, name: str = "node", source: str = "") -> Reading:
    """Read all tables.

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
    runs = list(_from_json(lines)) or list(_runs(lines))
    tables = tuple(
        ResultTable(run.tool, run.operation, run.line, rows=tuple(run.rows)) for run in runs if run.rows
    )
    return Reading(KIND, source, facts=Results(tables), notices=odd, lines=lines)


def _runs(lines: Sequence[str]) -> Iterator[_Run]:
    run: _Run | None = None
    size: int | None = None
    for number_, line in enumerate(lines, 1):
        if match := _RUNNING.match(line):
            if run is not None:
                yield run
            run = _Run("nvbandwidth", match["name"], number_)
        elif match := _COPYLAT.match(line):
            if run is None or run.operation != "copylat":
                if run is not None:
                    yield run
                run = _Run("gdrcopy", "copylat", number_)
            run.rows.append(
                ResultRow(
                    whole(match["size"]), number_, latency_s=times(match["value"], 1e-6), label=match["what"]
                )
            )
        elif match := _COPYBW.search(line):
            if run is None or run.operation != "copybw":
                if run is not None:
                    yield run
                run = _Run("gdrcopy", "copybw", number_)
            unit = MEGABYTE if match["unit"].upper() == "M" else GIGABYTE
            way = "write" if match["way"].lower().startswith("writ") else "read"
            run.rows.append(
                ResultRow(size, number_, bandwidth_bytes_per_s=times(match["value"], unit), label=way)
            )
        elif match := _TESTING.search(line):
            size = whole(match["size"] or match["bytes"])
        elif run is not None and run.tool == "nvbandwidth":
            _take_matrix(run, line, number_)
    if run is not None:
        yield run


def _take_matrix(run: _Run, line: str, number_: int) -> None:
    if match := _MATRIX.search(line):
        run.unit, run.columns = match["unit"], []
        return
    cells = line.replace("|", " ").split()
    if not run.unit or not cells or len(cells) > 1000:
        return
    if not run.columns:
        if all(cell.isdecimal() for cell in cells):
            run.columns = cells
        return
    if not cells[0].isdecimal() or len(cells) != len(run.columns) + 1:
        run.unit = "" if cells[0].startswith("SUM") else run.unit
        return
    for column, cell in zip(run.columns, cells[1:], strict=True):
        value = number(cell)
        if value:
            run.rows.append(_matrix_row(run, f"{cells[0]} <- {column}", value, number_))


def _matrix_row(run: _Run, label: str, value: float, line: int) -> ResultRow:
    if run.unit == "ns":
        return ResultRow(None, line, latency_s=value * 1e-9, label=label)
    return ResultRow(None, line, bandwidth_bytes_per_s=value * GIGABYTE, label=label)


def _from_json(lines: Sequence[str]) -> Iterator[_Run]:
    text = "\n".join(lines)
    if '"nvbandwidth"' not in text:
        return
    try:
        document = json.loads(text[text.index("{") :])
    except (ValueError, RecursionError):
        return
    top = document.get("nvbandwidth") if isinstance(document, dict) else None
    cases = top.get("testcases") if isinstance(top, dict) else None
    for case in cases if isinstance(cases, list) else []:
        if not isinstance(case, dict):
            continue
        name = str(case.get("name", ""))[:80]
        line = next((n for n, each in enumerate(lines, 1) if f'"{name}"' in each), 1)
        run = _Run("nvbandwidth", name, line, unit="ns" if "latency" in name else "GB/s")
        matrix = case.get("bandwidth_matrix") or case.get("latency_matrix") or case.get("matrix")
        for row, cells in enumerate(matrix if isinstance(matrix, list) else []):
            for column, cell in enumerate(cells if isinstance(cells, list) else []):
                value = number(str(cell))
                if value:
                    run.rows.append(_matrix_row(run, f"{row} <- {column}", value, line))
        yield run
