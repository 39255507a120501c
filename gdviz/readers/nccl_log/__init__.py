"""NCCL's log (``NCCL_DEBUG=INFO``), of NCCL 2.4 to 2.30 and of RCCL.

Many ranks write into one log, each line behind its host, process and device; lines tear tables of results
apart and run into each other. What the numbers of distances mean depends on the release, see
`gdviz.machine`.
"""

from __future__ import annotations

import re
from dataclasses import replace

from gdviz.machine import Notice
from gdviz.messages import _
from gdviz.readers.nccl_log.facts import (
    Channel,
    EnvSetting,
    GdrDecision,
    HcaSupport,
    LogNic,
    LogWarning,
    NcclLog,
    RankFacts,
)
from gdviz.readers.nccl_log.reader import read_lines
from gdviz.readers.nccl_log.torn import ends_in_channel
from gdviz.readers.reading import Reading
from gdviz.readers.source import to_text
from gdviz.readers.text_lines import short_lines

KIND = "nccl_log"
TITLE = "NCCL or RCCL log"

_LINE = re.compile(
    r"[A-Za-z0-9_][\w.-]{0,252}:\d{1,10}:\d{1,10} \[-?\d{1,3}\] (?:\S{1,200} )?"
    r"NCCL (?:INFO|WARN|TRACE|VERSION)"
    r"|^[^\n]{0,200}\b[NR]CCL version ?:? ?2\.\d",
    re.MULTILINE,
)


def looks_like(text: str) -> bool:
    """Return whether a line of NCCL's is there."""
    return "CCL" in text and _LINE.search(text) is not None


def read(data: bytes | str, *, name: str = "node", source: str = "") -> Reading:
    """Read a log.

    Parameters
    ----------
    data
        The file's content.
    name
        Not used.
    source
        Where it was read.
    """
    text, odd = to_text(data)
    lines = tuple(short_lines(text))
    facts, last = read_lines(lines), len(lines)
    torn = bool(lines) and not text.endswith(("\n", "\r")) and ends_in_channel(lines[-1], facts, last)
    if torn:
        if facts.channels and facts.channels[-1].line == last:
            facts = replace(facts, channels=facts.channels[:-1])
        odd = (*odd, Notice(_("The log breaks off in the middle of a channel, which does not count."), last))
    return Reading(KIND, source, facts=facts, notices=odd, truncated=torn, lines=lines)


__all__ = [
    "KIND",
    "TITLE",
    "Channel",
    "EnvSetting",
    "GdrDecision",
    "HcaSupport",
    "LogNic",
    "LogWarning",
    "NcclLog",
    "RankFacts",
    "looks_like",
    "read",
]
