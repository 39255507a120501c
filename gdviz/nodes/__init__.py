"""Where nodes are: in this process now, elsewhere behind the same Protocol."""

from __future__ import annotations

from gdviz.nodes.fleet import Fleet
from gdviz.nodes.in_process import InProcessFleet
from gdviz.nodes.records import (
    BufferRecord,
    NodeRecord,
    QueuePairGroup,
    RegionRecord,
    Report,
)

__all__ = [
    "BufferRecord",
    "Fleet",
    "InProcessFleet",
    "NodeRecord",
    "QueuePairGroup",
    "RegionRecord",
    "Report",
]
