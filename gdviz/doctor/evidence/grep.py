"""Lines of a node's files by pattern, for what no reader turns into a fact of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gdviz.doctor.evidence.node import NodeEvidence
from gdviz.readers import Evidence, Reading

#: Lines that one pattern gives at most.
MAX_LINES = 50


def grep(node: NodeEvidence, pattern: re.Pattern[str], *, job: bool = False) -> tuple[Evidence, ...]:
    """Return the lines of a node's own files that a pattern is found in; `job` takes the job's as well."""
    return grep_readings((*node.readings, *(node.job if job else ())), pattern)


def grep_readings(readings: Iterable[Reading], pattern: re.Pattern[str]) -> tuple[Evidence, ...]:
    """Return the lines of some readings that a pattern is found in, each line of a file once."""
    found: dict[tuple[str, int], Evidence] = {}
    seen: set[tuple[str, int]] = set()
    for reading in readings:
        if (reading.source, id(reading.lines)) in seen or not reading.lines:
            continue
        seen.add((reading.source, id(reading.lines)))
        for number, line in enumerate(reading.lines, 1):
            if pattern.search(line):
                found.setdefault((reading.source, number), reading.cite(number))
                if len(found) >= MAX_LINES:
                    return tuple(found.values())
    return tuple(found.values())
