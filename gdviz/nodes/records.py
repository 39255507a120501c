"""What a node tells of its objects: plain, frozen, fit to be sent elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

from gdviz.machine import Machine
from gdviz.rdma import (
    AccessFlags,
    Completion,
    Interval,
    Location,
    QpAddress,
    TransferResult,
    TransferState,
    Translation,
)


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """A node of the fleet.

    Attributes
    ----------
    provider
        Name of its provider.
    simulated
        Whether nothing there is real.
    """

    name: str
    machine: Machine
    provider: str
    simulated: bool


@dataclass(frozen=True, slots=True)
class BufferRecord:
    """A buffer on a node.

    Attributes
    ----------
    number
        Unique on its node.
    """

    node: str
    number: int
    location: Location
    size_bytes: int
    address: int
    pattern: str


@dataclass(frozen=True, slots=True)
class RegionRecord:
    """A registered memory region on a node."""

    node: str
    number: int
    nic: str
    buffer: int
    address: int
    length: int
    lkey: int
    rkey: int
    access: AccessFlags
    page_bytes: int
    pages: int
    translation: Translation


@dataclass(frozen=True, slots=True)
class QueuePairGroup:
    """Queue pairs of one node that serve one transfer."""

    node: str
    number: int
    nic: str
    addresses: tuple[QpAddress, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """How a transfer on a node is doing.

    Attributes
    ----------
    transfer
        The session's number of the transfer.
    interval
        What happened since the last report; None if nothing did.
    progress
        Share of the work done, 0 to 1.
    failure
        The completion that ended it, if one did.
    result
        Set once it has ended.
    trouble
        What went wrong where nothing should; the transfer is over then, without a result.
    """

    transfer: int
    interval: Interval | None
    progress: float
    state: TransferState
    failure: Completion | None = None
    result: TransferResult | None = None
    trouble: str = ""
