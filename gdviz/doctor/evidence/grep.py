"""Lines of a node's files by pattern, for what no reader turns into a fact of its own."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Sequence

from gdviz.doctor.evidence.node import NodeEvidence
from gdviz.readers import Evidence, Reading

#: Lines that one pattern gives at most.
MAX_LINES = 50

#: Texts longer than this are thinned once before patterns go over them.
_LONG = 2000

#: What the patterns of the rules need in an INFO line of NCCL's; a log is mostly other ones.
_WANTED = re.compile(
    r"could not|falling back|DMA-?BUF|dlv?sym|TOPO_FILE|opology file|fail|rror|peer_?mem|VMM"
)

_Numbered = Sequence[tuple[int, str]]
_thinned: OrderedDict[int, tuple[tuple[str, ...], _Numbered]] = OrderedDict()


def grep(node: NodeEvidence, pattern: re.Pattern[str], *, job: bool = False) -> tuple[Evidence, ...]:
    """Return the lines of a node's own files that a pattern is found in; `job` takes the job's as well."""
    key = (pattern, job)
    if key not in node.memo:
        node.memo[key] = grep_readings((*node.readings, *(node.job if job else ())), pattern)
    found: tuple[Evidence, ...] = node.memo[key]
    return found


def grep_readings(readings: Iterable[Reading], pattern: re.Pattern[str]) -> tuple[Evidence, ...]:
    """Return the lines of some readings that a pattern is found in, each line of a file once."""
    found: dict[tuple[str, int], Evidence] = {}
    seen: set[tuple[str, int]] = set()
    for reading in readings:
        key = (reading.source, id(reading.lines))
        if key in seen or not reading.lines:
            continue
        seen.add(key)
        for number, line in _lines(reading.lines):
            if pattern.search(line):
                found.setdefault((reading.source, number), reading.cite(number))
                if len(found) >= MAX_LINES:
                    return tuple(found.values())
    return tuple(found.values())


def _lines(lines: tuple[str, ...]) -> _Numbered:
    """Return the lines with their numbers; of a long log only those that can matter."""
    if len(lines) < _LONG:
        return list(enumerate(lines, 1))
    known = _thinned.get(id(lines))
    if known is not None and known[0] is lines:
        _thinned.move_to_end(id(lines))
        return known[1]
    kept = [
        (number, line)
        for number, line in enumerate(lines, 1)
        if "NCCL INFO" not in line or _WANTED.search(line)
    ]
    _thinned[id(lines)] = (lines, kept)
    while len(_thinned) > 8:
        _thinned.popitem(last=False)
    return kept
