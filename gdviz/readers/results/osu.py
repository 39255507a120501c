"""OSU micro-benchmarks: point to point and collectives, with or without GPU memory."""

from __future__ import annotations

import re

from gdviz.readers.reading import Reading
from gdviz.readers.results.facts import ResultRow, Results, ResultTable
from gdviz.readers.results.numbers import MEGABYTE, number, times, whole
from gdviz.readers.text_lines import open_lines

KIND = "osu"
TITLE = "OSU micro-benchmark"

_TITLE = re.compile(
    r"^\W{0,8}OSU (?P<kind>MPI|NCCL|UPC|OpenSHMEM)?(?P<gpu>[-\w]*)\s+(?P<name>[^\n]{3,80}?)\s+(?:Test|v\d)",
    re.MULTILINE,
)
_BUFFERS = re.compile(r"Send Buffer on (?P<send>\w{1,12}).{0,60}?Receive Buffer on (?P<receive>\w{1,12})")
_HEAD = re.compile(r"^\W{0,4}Size\s+(?P<what>Bandwidth|Latency|Avg|MB/s|Bi-Bandwidth)", re.IGNORECASE)


def looks_like(text: str) -> bool:
    """Return whether the title of one is there."""
    return "OSU " in text and _TITLE.search(text) is not None


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
    tables: list[ResultTable] = []
    setup: dict[str, str] = {}
    rows: list[ResultRow] = []
    operation, begin, is_rate = "", 0, True

    def end() -> None:
        if rows:
            tables.append(ResultTable("osu", operation, begin, dict(setup), tuple(rows)))

    for number_, line in enumerate(lines, 1):
        if match := _TITLE.match(line):
            end()
            setup, rows = {}, []
            operation, begin = _operation(match["name"]), number_
            setup["title"] = line.strip("# \t")[:200]
            if "CUDA" in match["gpu"].upper() or "ROCM" in match["gpu"].upper():
                setup["use_cuda"] = "1"
        elif match := _BUFFERS.search(line):
            setup["send_buffer"], setup["receive_buffer"] = match["send"].lower(), match["receive"].lower()
        elif match := _HEAD.match(line):
            is_rate = "bandwidth" in line.lower() or "mb/s" in line.lower()
        else:
            cells = line.split()
            size = whole(cells[0]) if cells else None
            if operation and size is not None and len(cells) > 1 and number(cells[1]) is not None:
                rows.append(
                    ResultRow(size, number_, bandwidth_bytes_per_s=times(cells[1], MEGABYTE))
                    if is_rate
                    else ResultRow(size, number_, latency_s=times(cells[1], 1e-6))
                )
    end()
    return Reading(KIND, source, facts=Results(tuple(tables)), notices=odd, lines=lines)


def _operation(name: str) -> str:
    words = name.lower()
    if "bi-directional" in words:
        return "bibw"
    return "bw" if "bandwidth" in words else "latency" if "latency" in words else words
