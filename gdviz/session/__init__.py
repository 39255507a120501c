"""The session: nodes, buffers, memory regions and transfers behind one door."""

from __future__ import annotations

from gdviz.session.compare import Comparison, MeasuredPoint
from gdviz.session.events import Event, Topic
from gdviz.session.objects import Buffer, MemoryRegion, Node, NodeGpu, NodeHost, NodeNic
from gdviz.session.samples import History, Sample
from gdviz.session.session import Session, transfer
from gdviz.session.transfers import Transfer

__all__ = [
    "Buffer",
    "Comparison",
    "Event",
    "History",
    "MeasuredPoint",
    "MemoryRegion",
    "Node",
    "NodeGpu",
    "NodeHost",
    "NodeNic",
    "Sample",
    "Session",
    "Topic",
    "Transfer",
    "transfer",
]
