"""A transfer: many messages from one memory region to another, its life cycle and its figures."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from gdviz.errors import TransferError
from gdviz.messages import _
from gdviz.model.results import Place, Prediction
from gdviz.model.workload import DataPath, Op, Workload
from gdviz.quantities import whole_number
from gdviz.rdma.latency import LatencyHistogram
from gdviz.rdma.requests import Completion
from gdviz.rdma.status import WcStatus

if TYPE_CHECKING:
    from gdviz.rdma.provider import MemoryRegion


#: More messages than any clock waits for.
MOST_MESSAGES = 10**15


class TransferState(StrEnum):
    """Where a transfer is in its life."""

    CREATED = "created"
    RUNNING = "running"
    DRAINING = "draining"
    COMPLETED = "completed"
    STOPPED = "stopped"
    FAILED = "failed"

    @property
    def final(self) -> bool:
        """Whether nothing more happens."""
        return not LIFE_CYCLE[self]


class TransferEvent(StrEnum):
    """What moves a transfer on."""

    START = "start"
    LAST_POSTED = "last message posted"
    STOP = "stop"
    LAST_COMPLETED = "last message completed"
    EMPTIED = "nothing in flight after a stop"
    ERROR = "bad completion"


#: The whole life cycle. From DRAINING the two good ends differ in what was asked for last.
LIFE_CYCLE: dict[TransferState, dict[TransferEvent, TransferState]] = {
    TransferState.CREATED: {
        TransferEvent.START: TransferState.RUNNING,
        TransferEvent.STOP: TransferState.STOPPED,
        TransferEvent.ERROR: TransferState.FAILED,
    },
    TransferState.RUNNING: {
        TransferEvent.LAST_POSTED: TransferState.DRAINING,
        TransferEvent.STOP: TransferState.DRAINING,
        TransferEvent.ERROR: TransferState.FAILED,
    },
    TransferState.DRAINING: {
        TransferEvent.STOP: TransferState.DRAINING,
        TransferEvent.LAST_COMPLETED: TransferState.COMPLETED,
        TransferEvent.EMPTIED: TransferState.STOPPED,
        TransferEvent.ERROR: TransferState.FAILED,
    },
    TransferState.COMPLETED: {},
    TransferState.STOPPED: {},
    TransferState.FAILED: {},
}


def next_state(state: TransferState, event: TransferEvent) -> TransferState:
    """Return the state after an event.

    Raises
    ------
    TransferError
        The life cycle has no such step.
    """
    try:
        return LIFE_CYCLE[state][event]
    except KeyError:
        raise TransferError(
            _("A transfer that is {state} has no event {event!r}.").format(state=state, event=str(event))
        ) from None


@dataclass(frozen=True, slots=True)
class TransferSpec:
    """What a transfer shall do.

    Messages go through the regions one after the other and start again at the beginning; where the size
    does not divide the region, the last message ends at its end and overlaps the one before.

    Attributes
    ----------
    size_bytes
        Bytes of one message.
    depth
        Messages in flight on one queue pair.
    count, duration_s
        When to end: after so many messages, after so many seconds; whichever is first. With neither it
        runs until it is stopped.
    remote_offset, local_offset
        Where in the regions the messages begin.
    rkey
        Used instead of the remote region's, to see what a wrong one does.
    post_receives
        For SEND: whether the other side posts receives.
    ping_pong
        Measure latency: one message at a time to and fro. The latency is then half a round trip (WRITE,
        SEND) or a whole one (READ), as perftest has it. The two regions are written both ways.
    """

    op: Op = Op.WRITE
    path: DataPath = DataPath.DIRECT
    size_bytes: int = 65536
    depth: int = 128
    qps: int = 1
    count: int | None = None
    duration_s: float | None = None
    remote_offset: int = 0
    local_offset: int = 0
    rkey: int | None = None
    post_receives: bool = True
    ping_pong: bool = False

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        for name in ("size_bytes", "depth", "qps", "count", "remote_offset", "local_offset", "rkey"):
            value = getattr(self, name)
            if value is not None or name not in ("count", "rkey"):
                # Plain integers from here on: NumPy's would run over in the middle of a transfer.
                object.__setattr__(self, name, whole_number(value, name, least=-(2**63), most=2**64 - 1))
        self.workload  # noqa: B018  (checks size, depth and queue pairs)
        if self.count is not None and not 1 <= self.count <= MOST_MESSAGES:
            raise TransferError(
                _("A transfer has at least one message.")
                if self.count < 1
                else _("A transfer has at most {most} messages.").format(most=f"{MOST_MESSAGES:.0e}"),
                "" if self.count < 1 else _("Give a duration instead."),
            )
        if self.ping_pong and (self.depth, self.qps, self.path) != (1, 1, DataPath.DIRECT):
            raise TransferError(
                _("A ping-pong has one message in flight, on one queue pair, on the direct path."),
                _("Give depth=1."),
            )
        if self.duration_s is not None and not 0 < self.duration_s < math.inf:
            raise TransferError(_("A transfer lasts more than no time, and ends."))
        if self.local_offset < 0 or self.remote_offset < 0:
            raise TransferError(_("An offset is not below zero."))
        if self.rkey is not None and not 0 <= self.rkey < 2**32:
            raise TransferError(_("An rkey has 32 bits."))

    @property
    def workload(self) -> Workload:
        """The same for the model."""
        return Workload(self.op, self.path, self.size_bytes, self.depth, self.qps)


@dataclass(frozen=True, slots=True)
class RemoteRegion:
    """What one side tells the other about a memory region.

    Attributes
    ----------
    node, nic
        Where it is registered.
    handle
        The region itself if it lives in this process, for the provider alone; else None.
    """

    node: str
    nic: str
    address: int
    length: int
    rkey: int
    handle: object | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, region: MemoryRegion) -> RemoteRegion:
        """Return what the other side needs to know of a region."""
        return cls(region.node, region.nic, region.address, region.length, region.rkey, region)


@dataclass(frozen=True, slots=True)
class Bounce:
    """Host memory that a staged transfer goes through, at both ends."""

    local: MemoryRegion
    remote: RemoteRegion


@dataclass(frozen=True)
class Interval:
    """What happened since the last look.

    Attributes
    ----------
    start_s, end_s
        By the provider's clock.
    bytes, messages
        Completed in it.
    latency
        Of these messages, from posting to completion.
    cpu_seconds
        CPU time spent on them, both ends.
    loads
        Bytes a second through each place.
    """

    start_s: float
    end_s: float
    bytes: int
    messages: int
    latency: LatencyHistogram
    cpu_seconds: float
    loads: Mapping[Place, float]

    @property
    def duration_s(self) -> float:
        """Seconds from start to end."""
        return self.end_s - self.start_s

    @property
    def bandwidth_bytes_per_s(self) -> float:
        """Payload bytes a second; 0 for an empty interval."""
        return self.bytes / self.duration_s if self.duration_s > 0 else 0.0

    @property
    def messages_per_s(self) -> float:
        """Messages a second; 0 for an empty interval."""
        return self.messages / self.duration_s if self.duration_s > 0 else 0.0

    @property
    def cpu_share(self) -> float:
        """CPU time over time, one core counted as 1."""
        return self.cpu_seconds / self.duration_s if self.duration_s > 0 else 0.0


@dataclass(frozen=True)
class TransferResult:
    """What a transfer came to.

    Attributes
    ----------
    duration_s
        From the first posting to the last completion.
    latency
        From posting to completion, with the whole queue depth in flight.
    cpu_share
        CPU time over duration, one core counted as 1, both ends together.
    status
        SUCCESS, or that of the first bad completion.
    simulated
        Whether a simulation gave these figures.
    prediction
        What the model expects.
    """

    state: TransferState
    bytes: int
    messages: int
    duration_s: float
    bandwidth_bytes_per_s: float
    messages_per_s: float
    latency: LatencyHistogram
    cpu_share: float
    status: WcStatus
    simulated: bool
    prediction: Prediction


class Service(Protocol):
    """The other end's part of a transfer: receives, bounce buffers, the way back of a ping-pong."""

    @property
    def failed(self) -> bool:
        """Whether it has ended by itself, because the transfer broke."""

    def stop(self) -> None:
        """End it; one that has ended is fine."""


class Run(Protocol):
    """A transfer that has been started. `advance` at any rate moves it on; nothing else does."""

    @property
    def spec(self) -> TransferSpec:
        """What it shall do."""

    @property
    def state(self) -> TransferState:
        """Where it is in its life."""

    @property
    def error(self) -> Completion | None:
        """The first bad completion, if there was one."""

    @property
    def result(self) -> TransferResult | None:
        """The figures, once the state is final."""

    @property
    def prediction(self) -> Prediction:
        """What the model expects."""

    @property
    def progress(self) -> float:
        """Share of the count or the duration that is done, 0 to 1; 0 for an endless one until it ends."""

    def advance(self) -> Interval | None:
        """Bring the run up to the clock's time; return what has happened since, None if nothing has."""

    def stop(self) -> None:
        """Post no more; what is in flight completes or is flushed. The next `advance` ends the run."""
