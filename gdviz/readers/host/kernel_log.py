"""The kernel's log: ``dmesg``, ``journalctl -k``, ``/var/log/kern.log``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from gdviz.readers.host.command_line import KernelCommandLine, command_line_from
from gdviz.readers.host.kernel import Kernel, kernel_from
from gdviz.readers.host.log_patterns import HINT, KINDS, values_of
from gdviz.readers.reading import Reading
from gdviz.readers.text_lines import command_of, open_lines

KIND = "kernel_log"
TITLE = "kernel log"

#: Different entries that are kept of one log.
MAX_ENTRIES = 5000

#: Characters of a line that are looked at.
MAX_TEXT = 1000

#: Time stamps of dmesg (plain, -T, -x), journalctl and syslog.
_STAMP = re.compile(
    r"^\s*(?:"
    r"(?:<\d{1,3}>)?\[\s*\d{1,8}\.\d{6}\](?:\s*\[\s*[TC]\d+\])?"
    r"|\[[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}\]"
    r"|\[\d{4}-\d\d-\d\dT[\d:,.+-]{8,30}\]"
    r"|[a-z]+\s*:[a-z]+\s*: (?:\[[^\]]{1,40}\]|\d{4}-\d\d-\d\dT[\d:,.+-]{8,30})"
    r"|(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT[\d:,.+-]{8,30}Z?)"
    r" \S{1,64} kernel:(?:\s*\[\s*\d{1,8}\.\d{6}\])?"
    r")\s?"
)
_STAMPED = re.compile(
    r"(?m)^\s*(?:(?:<\d{1,3}>)?\[\s*\d{1,8}\.\d{6}\]|\[[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:"
    r"|kern  ?:[a-z]+\s*: |.{0,40}\S kernel: )"
)
#: Lines without a time stamp that only a kernel writes.
_BARE = re.compile(
    r"(?m)^(?:DMAR: |AMD-Vi: |iommu: Default domain type|NVRM: (?:loading|Xid)|nvidia[_-]peermem(?:: | nv_)"
    r"|mlx5_core [0-9a-f]{4}:|pci(?:eport)? [0-9a-f]{4}:[0-9a-f]{2}:|Hypervisor detected"
    r"|[\w-]+: (?:Unknown symbol|disagrees about version))"
)
_VERSION = re.compile(r"^Linux version (?P<release>\S{3,100})")
_COMMAND_LINE = re.compile(r"^(?:Kernel command line|Command line): (?P<rest>\S.*)$")


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A line of interest.

    Attributes
    ----------
    kind
        What it says, see `gdviz.readers.host.log_patterns.KINDS`.
    text
        The line without its time stamp.
    line
        Line of the file, from 1.
    values
        What was read out of it, by name: for ``iommu-domain`` ``type`` is ``Translated`` or
        ``Passthrough``; ``unknown-symbol`` and ``symbol-version`` give ``module``, ``symbol`` and
        perhaps ``error``; ``nvidia-module-open`` and ``nvidia-module-closed`` ``version``;
        ``pcie-bandwidth`` ``busid``, ``limiter``, ``available_bytes_per_s``...; ``hypervisor`` ``name``.
    count
        How many lines say the same; `line` is the first of them.
    """

    kind: str
    text: str
    line: int
    values: Mapping[str, str] = field(default_factory=dict)
    count: int = 1


@dataclass(frozen=True, slots=True)
class KernelLog:
    """What a kernel log says that matters for GPUDirect RDMA.

    Attributes
    ----------
    entries
        Lines of interest, in order.
    kernel, command_line
        From the first lines of a boot, where they are there.
    """

    entries: tuple[LogEntry, ...]
    kernel: Kernel | None = None
    command_line: KernelCommandLine | None = None

    def of(self, *kinds: str) -> tuple[LogEntry, ...]:
        """Return the entries of some kinds."""
        return tuple(entry for entry in self.entries if entry.kind in kinds)


def looks_like(text: str) -> bool:
    """Return whether lines carry the time stamps of a kernel's log, or say what only a kernel says."""
    return _STAMPED.search(text) is not None or _BARE.search(text) is not None


def read(data: bytes | str, *, name: str = "node", source: str = "") -> Reading:
    """Read what matters for GPUDirect RDMA out of a log.

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
    entries: dict[tuple[str, str], LogEntry] = {}
    kernel: Kernel | None = None
    command_line: KernelCommandLine | None = None
    for number, line in enumerate(lines, 1):
        if HINT.search(line) is None or command_of(line) is not None:
            continue
        stamp = _STAMP.match(line)
        text = (line[stamp.end() :] if stamp else line).strip()
        if match := _VERSION.match(text):
            kernel = kernel_from(match["release"], number)
        elif match := _COMMAND_LINE.match(text):
            command_line = command_line_from(match["rest"], number)
        else:
            _add(entries, text[:MAX_TEXT], number)
    facts = KernelLog(tuple(entries.values()), kernel, command_line)
    return Reading(KIND, source, facts=facts, notices=odd, lines=lines)


def _add(entries: dict[tuple[str, str], LogEntry], text: str, line: int) -> None:
    for kind in KINDS:
        values = values_of(kind, text)
        if values is None:
            continue
        key = (kind, text)
        if key in entries:
            entries[key] = replace(entries[key], count=entries[key].count + 1)
        elif len(entries) < MAX_ENTRIES:
            entries[key] = LogEntry(kind, text, line, values)
        return
