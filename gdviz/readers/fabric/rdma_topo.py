"""``rdma_topo``: its check, its JSON of NICs with GPUs beside them, its dump of ACS."""

from __future__ import annotations

from dataclasses import dataclass

KIND = "rdma_topo"
TITLE = "rdma_topo"


@dataclass(frozen=True, slots=True)
class TopoCheck:
    """A line of ``rdma_topo check``.

    Attributes
    ----------
    ok
        False for ``FAIL``.
    subject
        ``acs``, ``iommu-group``, ``ats`` or ``other``.
    role
        What the function is there (``grace_rp``, ``cx_switch``); empty where not told.
    busids
        The functions named, in their normal spelling.
    actual, wanted
        The masks of an ACS line as printed, such as ``0011101`` and ``xx110x1``.
    text
        The line.
    """

    ok: bool
    subject: str
    role: str
    busids: tuple[str, ...]
    actual: str
    wanted: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class TopoPair:
    """A NIC with a GPU that shares its switch; names and bus ids empty where not told."""

    nic_busid: str
    nic_name: str
    gpu_busid: str
    line: int
    data_direct_busid: str = ""
    numa: int = -1


@dataclass(frozen=True, slots=True)
class RdmaTopo:
    """What ``rdma_topo`` printed.

    Attributes
    ----------
    checks
        Lines of a check.
    pairs
        NICs with their GPUs, of JSON or the listing.
    """

    checks: tuple[TopoCheck, ...] = ()
    pairs: tuple[TopoPair, ...] = ()

    @property
    def failures(self) -> tuple[TopoCheck, ...]:
        """What failed."""
        return tuple(check for check in self.checks if not check.ok)
