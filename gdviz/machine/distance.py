"""How far a GPU and a NIC are from each other, as the field classes it."""

from __future__ import annotations

from enum import StrEnum

from gdviz.messages import _


class Distance(StrEnum):
    """Distance classes of ``nvidia-smi topo``, nearest first.

    `P2C` is NCCL's: the GPU reaches the NIC over NVLink-C2C and the CPU's root port.
    """

    PIX = "PIX"
    PXB = "PXB"
    P2C = "P2C"
    PHB = "PHB"
    NODE = "NODE"
    SYS = "SYS"

    @property
    def meaning(self) -> str:
        """One sentence that says what a path of this class crosses."""
        return {
            Distance.PIX: _("through one PCIe switch"),
            Distance.PXB: _("through several PCIe switches, but no CPU"),
            Distance.P2C: _("over NVLink-C2C to the CPU, then PCIe to the NIC"),
            Distance.PHB: _("through the CPU's host bridge"),
            Distance.NODE: _("through several host bridges of one NUMA node"),
            Distance.SYS: _("from one CPU socket to another"),
        }[self]

    @property
    def rank(self) -> int:
        """0 for the nearest class."""
        return list(Distance).index(self)
