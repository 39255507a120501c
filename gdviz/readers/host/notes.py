"""What people note of a host: commands with their answers, ``label: value`` lines, remarks.

Such files (``env.txt``, a forum post) have no format. Known statements are picked out line by line and
the rest is left alone.
"""

from __future__ import annotations

from dataclasses import dataclass

KIND = "host_notes"
TITLE = "notes on a host"


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that a line states.

    Attributes
    ----------
    kind
        What is stated, see `gdviz.readers.host.notes.KINDS`.
    subject
        Of what: a path, a bus id, a device, a module, an attribute; may be empty.
    value
        What is said of it.
    line
        Line of the file, from 1.
    """

    kind: str
    subject: str
    value: str
    line: int


#: Kinds of statements, with their subject and value.
KINDS = {
    "peer-memory-path": "a path that shows peer memory, and its version, 'present' or 'missing'",
    "modprobe-failed": "a module, and the error",
    "ofed-version": "'' and what ofed_info prints",
    "rdma-core-version": "'' and the package's version",
    "cuda-attribute": "GPU_DIRECT_RDMA_SUPPORTED or DMA_BUF_SUPPORTED, and 0 or 1",
    "module-licence": "a module, and what modinfo prints",
    "gpu-name": "an index or bus id, and the product",
    "iommu-group": "a bus id, and the group's number",
    "ib-device": "a device's name, and its bus id",
    "netdev-mtu": "a network interface, and its MTU in bytes",
    "netdev-state": "a network interface, and UP or DOWN",
    "instance-type": "'' and the cloud's name for the machine",
    "bare-metal": "'' and what was written",
    "virtual-machine": "'' and the hypervisor",
    "mlxconfig": "a setting, and its value",
    "container": "'' and what was written",
}


@dataclass(frozen=True, slots=True)
class HostNotes:
    """Statements in the file's order."""

    statements: tuple[Statement, ...]

    def of(self, kind: str, subject: str | None = None) -> tuple[Statement, ...]:
        """Return the statements of a kind, perhaps only those about one subject."""
        return tuple(
            statement
            for statement in self.statements
            if statement.kind == kind and subject in (None, statement.subject)
        )
