"""The verbs: memory regions, queue pairs, completions and transfers, and the providers behind them."""

from __future__ import annotations

from gdviz.rdma.flags import DEFAULT_ACCESS, Access, AccessFlags
from gdviz.rdma.latency import LatencyHistogram
from gdviz.rdma.provider import (
    GPU_PAGE_BYTES,
    HOST_PAGE_BYTES,
    Buffer,
    CompletionQueue,
    Device,
    Location,
    MemoryRegion,
    ProtectionDomain,
    Provider,
    QueuePair,
)
from gdviz.rdma.requests import Completion, Opcode, QpAddress, RecvRequest, SendRequest, Sge, WcOpcode
from gdviz.rdma.states import TRANSITIONS, QpAttributes, QpState, QpType, Transition
from gdviz.rdma.status import WcStatus
from gdviz.rdma.transfer import (
    LIFE_CYCLE,
    Bounce,
    Interval,
    RemoteRegion,
    Run,
    Service,
    TransferEvent,
    TransferResult,
    TransferSpec,
    TransferState,
)
from gdviz.rdma.translation import Extent, Translation, TranslationRow

__all__ = [
    "DEFAULT_ACCESS",
    "GPU_PAGE_BYTES",
    "HOST_PAGE_BYTES",
    "LIFE_CYCLE",
    "TRANSITIONS",
    "Access",
    "AccessFlags",
    "Bounce",
    "Buffer",
    "Completion",
    "CompletionQueue",
    "Device",
    "Extent",
    "Interval",
    "LatencyHistogram",
    "Location",
    "MemoryRegion",
    "Opcode",
    "ProtectionDomain",
    "Provider",
    "QpAddress",
    "QpAttributes",
    "QpState",
    "QpType",
    "QueuePair",
    "RecvRequest",
    "RemoteRegion",
    "Run",
    "SendRequest",
    "Service",
    "Sge",
    "TransferEvent",
    "TransferResult",
    "TransferSpec",
    "TransferState",
    "Transition",
    "Translation",
    "TranslationRow",
    "WcOpcode",
    "WcStatus",
]
