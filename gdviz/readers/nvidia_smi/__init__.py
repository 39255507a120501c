"""What ``nvidia-smi`` prints: topology matrix, query and table, NVLink status."""

from __future__ import annotations

from gdviz.readers.nvidia_smi.facts import (
    NvLinkGpu,
    NvLinkState,
    NvLinkStatus,
    SmiGpu,
    SmiQuery,
    TopoMatrix,
    TopoRow,
)

__all__ = [
    "NvLinkGpu",
    "NvLinkState",
    "NvLinkStatus",
    "SmiGpu",
    "SmiQuery",
    "TopoMatrix",
    "TopoRow",
]
