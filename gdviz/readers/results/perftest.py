"""perftest (``ib_write_bw``, ``ib_read_lat`` ...), its text and its JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from gdviz.readers.reading import Reading
from gdviz.readers.results.facts import ResultRow, Results, ResultTable
from gdviz.readers.results.numbers import GIGABIT, MIB, number, times, whole
from gdviz.readers.text_lines import open_lines

KIND = "perftest"
TITLE = "perftest table"

_COMMAND = re.compile(
    r"\b(?P<program>(?:ib|raw_ethernet)_(?:write|read|send|atomic)_(?:bw|lat))\b(?P<rest>[^\n]*)"
)
_AS_ROOT = re.compile(r"^\s{0,8}#\s{1,3}(?:\S+/)?(?:ib|raw_ethernet)_[a-z_]+ (?:-|\d)")
_TITLE = re.compile(
    r"\b(?P<op>RDMA_Write|RDMA_Read|Send|Atomic\w*)\s+(?:Bidirectional\s+)?(?P<what>BW|Latency|Post)\b.*Test"
)
_HEAD = re.compile(r"^\W{0,8}#bytes\s+#iterations\b")
_FAILED = re.compile(
    r"Couldn't allocate MR|failed to create mr|Couldn't (?:create|connect|listen|post)|Failed to |Unable to |"
    r"Failed status|Completion with error|syndrom|Did not detect devices|No device found"
)
_SETTING = re.compile(r"(?P<name>[A-Za-z#_][A-Za-z0-9 ._*#-]{1,24}?)\s*:\s+(?P<value>\S+(?: \S+)?)")
_GPU = re.compile(r"device name = \[(?P<name>[^\]]{1,80})\]")
_GPU_PCI = re.compile(r"CUDA device (?P<index>\d{1,3}): PCIe address is (?P<busid>[0-9A-Fa-f:.]{4,16})")
_PICKED = re.compile(r"Picking (?:GPU|device) (?:No\. )?(?P<index>\d{1,3})")
_OPTION = re.compile(r"(?:^|\s)(?P<name>--?[A-Za-z_]+)(?:[= ]+(?P<value>[^\s-]\S*))?")

#: Beginning of a report in JSON, and where perftest 6 differs from JSON: keys and words without quotes, and
#: a comma after the last entry.
_REPORT = re.compile(r'\{\s*"?test_info"?\s*:')
_BARE_KEY = re.compile(r"([{,]\s{0,99})([A-Za-z_][\w.]{0,99})[ \t]{0,9}:")
_BARE_WORD = re.compile(r":[ \t]{0,9}([A-Za-z_][\w.-]{0,99})(?=\s{0,9}[,}])")
_LAST_COMMA = re.compile(r",(\s{0,99}[}\]])")

_OPERATIONS = {"rdma_write": "write", "rdma_read": "read", "send": "send"}

#: Names of the settings that perftest prints, and ours.
_NAMES = {
    "device": "device",
    "number of qps": "qps",
    "tx depth": "tx_depth",
    "rx depth": "rx_depth",
    "mtu": "mtu",
    "link type": "link_type",
    "gid index": "gid_index",
    "pcie relax order": "relaxed_ordering",
    "connection type": "connection",
    "transport type": "transport",
    "max inline data": "inline",
    "cq moderation": "cq_moderation",
    "outstand reads": "outstanding_reads",
    "dual-port": "dual_port",
}

#: perftest's options whose meaning counts, by short and long name.
_OPTIONS = {
    "-d": "device", "--ib-dev": "device", "-x": "gid_index", "--gid-index": "gid_index", "-q": "qps",
    "--qp": "qps", "-s": "size", "--size": "size", "-t": "tx_depth", "--tx-depth": "tx_depth",
    "--use_cuda": "use_cuda", "--use_cuda_dmabuf": "dmabuf", "--use_rocm": "use_rocm", "-a": "all_sizes",
    "--all": "all_sizes", "-b": "bidirectional", "--bidirectional": "bidirectional",
    "--report_gbits": "report_gbits", "-m": "mtu_option", "--mtu": "mtu_option", "-n": "iterations",
}  # fmt: skip

#: Those that take no value: what stands behind them is the other host.
_FLAGS = frozenset({"dmabuf", "all_sizes", "bidirectional", "report_gbits"})


@dataclass
class _Run:
    line: int
    operation: str = ""
    setup: dict[str, str] = field(default_factory=dict)
    rows: list[ResultRow] = field(default_factory=list)
    errors: list[tuple[int, str]] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    gpus: dict[str, str] = field(default_factory=dict)

    @property
    def started(self) -> bool:
        return bool(self.rows or self.errors)

    def table(self) -> ResultTable:
        setup = dict(self.setup)
        picked = setup.get("use_cuda", "")
        if busid := self.gpus.get(picked):
            setup["gpu_busid"] = busid
        return ResultTable(
            "perftest", self.operation, self.line, setup, tuple(self.rows), (), tuple(self.errors)
        )


def looks_like(text: str) -> bool:
    """Return whether a table, a title or a failed run of perftest's is there."""
    if "#bytes" in text and "#iterations" in text:
        return True
    if "RDMA_" in text and "Test" in text and _TITLE.search(text):
        return True
    if "test_info" in text and "MsgSize" in text and _REPORT.search(text):
        return True
    return bool(_COMMAND.search(text) and _FAILED.search(text))


def read(data: bytes | str, *, name: str = "node", source: str = "") -> Reading:
    """Read all runs.

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
    tables = tuple(_from_json(lines)) or tuple(run.table() for run in _runs(lines))
    return Reading(KIND, source, facts=Results(tables), notices=odd, lines=lines)


def _runs(lines: Sequence[str]) -> Iterator[_Run]:
    run: _Run | None = None
    for number_, line in enumerate(lines, 1):
        command = _COMMAND.search(line)
        title = _TITLE.search(line)
        if command and "Usage" not in line and (not line.lstrip().startswith("#") or _AS_ROOT.match(line)):
            if run is not None and run.started:
                yield run
            run = _Run(number_, _of_program(command["program"]))
            run.setup.update(_options(command["program"], command["rest"]))
        elif title:
            if run is not None and run.started:
                yield run
                run = None
            operation = f"{_OPERATIONS.get(title['op'].lower(), title['op'].lower())} {_what(title['what'])}"
            run = run or _Run(number_)
            run.operation = run.operation or operation
            if "Bidirectional" in line:
                run.setup["bidirectional"] = "1"
        elif run is None and (_HEAD.match(line) or _on_gpu(line)):
            run = _Run(number_)
        elif run is not None and run.started and _on_gpu(line):
            yield run
            run = _Run(number_)  # what is said of the GPU stands above the run that it belongs to
        if run is not None:
            _take(run, line, number_)
    if run is not None and run.started:
        yield run


def _on_gpu(line: str) -> bool:
    return ("device" in line or "Picking" in line) and bool(
        _GPU.search(line) or _GPU_PCI.search(line) or _PICKED.search(line)
    )


def _of_program(program: str) -> str:
    return program.removeprefix("ib_").removeprefix("raw_ethernet_").replace("_", " ")


def _what(word: str) -> str:
    return "bw" if word == "BW" else "lat" if word == "Latency" else word.lower()


def _options(program: str, rest: str) -> dict[str, str]:
    found = {"command": (program + rest).strip()[:500]}
    for match in _OPTION.finditer(rest):
        if ours := _OPTIONS.get(match["name"]):
            found[ours] = "1" if ours in _FLAGS else match["value"] or "1"
    return found


def _take(run: _Run, line: str, number_: int) -> None:
    if _HEAD.match(line):
        run.columns = re.split(r"\s{2,}|\t+", line.strip().lstrip("#> ").strip())
        if not run.operation:
            run.operation = "lat" if "t_min" in line else "bw"
        return
    cells = line.split()
    if run.columns and len(cells) >= 3 and whole(cells[0]) is not None and number(cells[1]) is not None:
        if row := _row(run.columns, cells, number_):
            run.rows.append(row)
        return
    if run.rows and (line.lstrip().startswith(("#", "```")) or not line.strip()):
        run.columns = []  # the table is at its end, whatever other numbers follow
    if _FAILED.search(line):
        run.errors.append((number_, line.strip()[:300]))
    elif match := _GPU.search(line):
        run.setup["gpu_name"] = match["name"]
    elif match := _GPU_PCI.search(line):
        run.gpus[match["index"]] = match["busid"]
    elif match := _PICKED.search(line):
        run.setup.setdefault("use_cuda", match["index"])
    else:
        for match in _SETTING.finditer(line):
            if ours := _NAMES.get(match["name"].strip().lower()):
                run.setup[ours] = match["value"].removesuffix("[B]")


def _row(columns: Sequence[str], cells: Sequence[str], line: int) -> ResultRow | None:
    size = whole(cells[0])
    head = " ".join(columns)
    if "t_min" in head or "t_typical" in head or "t_avg" in head:
        names = list(re.findall(r"t_\w+|99\.9%|99%|tps", head))
        by_name = dict(zip(names, cells[2:], strict=False))
        typical = by_name.get("t_typical") or by_name.get("t_avg")
        return ResultRow(size, line, latency_s=times(typical, 1e-6), p99_s=times(by_name.get("99%"), 1e-6))
    unit = GIGABIT if "Gb/sec" in head else MIB
    if len(cells) < 4:
        return None
    rate = times(cells[4], 1e6) if len(cells) > 4 else None
    return ResultRow(
        size,
        line,
        bandwidth_bytes_per_s=times(cells[3], unit),
        peak_bytes_per_s=times(cells[2], unit),
        messages_per_s=rate,
    )


def _from_json(lines: Sequence[str]) -> Iterator[ResultTable]:
    text = "\n".join(lines)
    if "results" not in text or not _REPORT.search(text):
        return
    entries = _entries(text)
    if not entries:
        quoted = _BARE_KEY.sub(r'\1"\2":', text)
        entries = _entries(_LAST_COMMA.sub(r"\1", _BARE_WORD.sub(r': "\1"', quoted)))
    for entry in entries:
        if isinstance(entry.get("test_info"), dict):
            yield _json_table(entry["test_info"], entry.get("results"), lines)


def _entries(text: str) -> list[dict[str, Any]]:
    """Return the reports in a text, whatever stands around them."""
    found = []
    for match in _REPORT.finditer(text):
        with suppress(ValueError, RecursionError):
            found.append(json.JSONDecoder().raw_decode(text, match.start())[0])
    return found


def _json_table(info: Mapping[str, Any], results: object, lines: Sequence[str]) -> ResultTable:
    names = {str(key).lower().replace("_", " "): str(value) for key, value in info.items()}
    setup = {ours: names[theirs].removesuffix("[B]") for theirs, ours in _NAMES.items() if theirs in names}
    test = names.get("test", "").lower()
    operation = next((word for theirs, word in _OPERATIONS.items() if theirs in test), test)
    what = "lat" if "lat" in test else "bw"
    entries = results if isinstance(results, list) else [results]
    rows = tuple(_json_row(entry, lines) for entry in entries if isinstance(entry, dict))
    return ResultTable("perftest", f"{operation} {what}".strip(), 1, setup, rows)


def _json_row(entry: Mapping[str, Any], lines: Sequence[str]) -> ResultRow:
    values = {str(key).lower(): value for key, value in entry.items()}

    def figure(*names: str) -> float | None:
        value = next((values[name] for name in names if name in values), None)
        return number(str(value)) if value is not None else None

    size = figure("msgsize", "n_iterations_bytes", "bytes", "#bytes")
    line = next(
        (n for n, text in enumerate(lines, 1) if '"MsgSize"' in text or '"msgsize"' in text.lower()), 1
    )
    # perftest leaves the unit out; gdviz bench says it.
    gigabits = any("gb" in name for name in values) or str(values.get("bw_unit", "")).startswith("Gb")
    unit = GIGABIT if gigabits else MIB

    def scaled(value: float | None, factor: float) -> float | None:
        return None if value is None else value * factor

    return ResultRow(
        None if size is None else int(size),
        line,
        bandwidth_bytes_per_s=scaled(figure("bw_average", "bw average[gb/sec]", "bwaverage"), unit),
        peak_bytes_per_s=scaled(figure("bw_peak", "bwpeak"), unit),
        messages_per_s=scaled(figure("msgrate"), 1e6),
        latency_s=scaled(figure("t_typical", "t_avg", "ttypical", "tavg"), 1e-6),
        p99_s=scaled(figure("percentile_99", "99percentile", "t_99_percentile", "99%"), 1e-6),
    )
