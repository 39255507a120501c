"""The GID table of RoCE ports: ``show_gids``, or the files of sysfs printed with their names."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from gdviz.readers.reading import Reading
from gdviz.readers.text_lines import has_any, open_lines

KIND = "show_gids"
TITLE = "show_gids"

_HEAD = re.compile(r"(?m)^\s*DEV\s+PORT\s+INDEX\s+GID\b")
_ROW = re.compile(
    r"^\s*(?P<device>[A-Za-z][\w.-]{0,63})\s+(?P<port>\d{1,4})\s+(?P<index>\d{1,5})\s+"
    r"(?P<gid>(?:[0-9a-fA-F]{1,4}:){2,7}[0-9a-fA-F:.]{0,45}[0-9a-fA-F])"
    r"(?:\s+(?P<ipv4>\d{1,3}(?:\.\d{1,3}){3}))?(?:\s+(?P<version>v[12]|IB/RoCE v1|RoCE v[12]))?"
    r"(?:\s+(?P<netdev>[A-Za-z][\w.@-]{0,63}))?\s*$"
)
_PATH = r"/(?P<device>[\w.-]{1,64})/ports/(?P<port>\d{1,4})/"
_FILE = re.compile(
    rf"(?m)^\s*\S{{0,80}}{_PATH}gids/(?P<index>\d{{1,5}})\s*[: =]\s*"
    r"(?P<gid>(?:[0-9a-fA-F]{4}:){7}[0-9a-fA-F]{4})\s*$"
)
_TYPE_FILE = re.compile(
    rf"^\s*\S{{0,80}}{_PATH}gid_attrs/types/(?P<index>\d{{1,5}})\s*[: =]\s*"
    r"(?:IB/)?RoCE (?P<version>v[12])\s*$"
)
_BEGUN = re.compile(
    r"(?m)^\s*[A-Za-z][\w.-]{0,63}\s+\d{1,4}\s+\d{1,5}\s+(?:[0-9a-fA-F]{4}:){7}[0-9a-fA-F]{4}\b"
)
_TOLD = re.compile(r"^\s*n_gids_found=(?P<count>\d{1,6})\s*$")

#: Rows that are kept.
MAX_ROWS = 100_000


@dataclass(frozen=True, slots=True)
class GidRow:
    """A GID.

    Attributes
    ----------
    version
        ``v1`` or ``v2``; empty where missing (InfiniBand).
    ipv4
        The routed address inside it; empty for others.
    """

    device: str
    port: int
    index: int
    gid: str
    ipv4: str
    version: str
    netdev: str
    line: int

    @property
    def link_local(self) -> bool:
        """Whether no router forwards it (fe80::/10)."""
        return self.gid.lower().startswith(("fe8", "fe9", "fea", "feb"))


@dataclass(frozen=True, slots=True)
class GidTable:
    """All rows, in order."""

    rows: tuple[GidRow, ...]


def looks_like(text: str) -> bool:
    """Return whether the table's heading is there, or a row."""
    if "INDEX" in text and _HEAD.search(text):
        return True
    if "/gids/" in text and _FILE.search(text):
        return True
    return has_any(text, (":0000:0000:", ":ffff:", "fe80:")) and _BEGUN.search(text) is not None


def read(data: bytes | str, *, name: str = "node", source: str = "") -> Reading:
    """Read all rows.

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
    rows: list[GidRow] = []
    told: int | None = None
    versions: dict[tuple[str, int, int], str] = {}
    for number, line in enumerate(lines, 1):
        if match := _ROW.match(line):
            if len(rows) < MAX_ROWS:
                rows.append(_row(match, number))
        elif match := _FILE.match(line):
            if len(rows) < MAX_ROWS and match["gid"].strip("0:"):
                rows.append(GidRow(*_key(match), match["gid"], "", "", "", number))
        elif match := _TYPE_FILE.match(line):
            if len(versions) < MAX_ROWS:
                versions[_key(match)] = match["version"]
        elif match := _TOLD.match(line):
            told = int(match["count"])
    if versions:
        rows = [
            replace(row, version=row.version or versions.get((row.device, row.port, row.index), ""))
            for row in rows
        ]
    torn = told is not None and told > len(rows)
    return Reading(KIND, source, facts=GidTable(tuple(rows)), notices=odd, truncated=torn, lines=lines)


def _key(match: re.Match[str]) -> tuple[str, int, int]:
    return match["device"], int(match["port"]), int(match["index"])


def _row(match: re.Match[str], line: int) -> GidRow:
    return GidRow(
        match["device"],
        int(match["port"]),
        int(match["index"]),
        match["gid"],
        match["ipv4"] or "",
        (match["version"] or "")[-2:],
        match["netdev"] or "",
        line,
    )
