"""The kernel's log: ``dmesg``, ``journalctl -k``, ``/var/log/kern.log``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gdviz.readers.host.command_line import KernelCommandLine
from gdviz.readers.host.kernel import Kernel

KIND = "kernel_log"
TITLE = "kernel log"


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A line of interest.

    Attributes
    ----------
    kind
        What it says, see `gdviz.readers.host.kernel_log.KINDS`.
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
