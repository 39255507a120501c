"""What the model answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from gdviz.model.workload import Workload


class Side(StrEnum):
    """Which end of a transfer something belongs to: who posts, who is written or read, or the wire."""

    LOCAL = "local"
    REMOTE = "remote"
    WIRE = "wire"


class PlaceKind(StrEnum):
    """What a place is."""

    PART = "part"
    LINK = "link"
    MEMORY = "memory"
    PORT = "port"
    WIRE = "wire"


@dataclass(frozen=True, slots=True)
class Place:
    """Where something happens.

    Attributes
    ----------
    side
        End of the transfer.
    kind
        ``part``: inside a part (CPU, GPU, NIC, bridge) of that id; ``link``: on the uplink of the part of
        that id, or between two sockets (``'cpu0-cpu1'``, ids in the machine's order); ``memory``: host
        memory of the CPU of that id; ``port``: between the NIC of that id and the fabric; ``wire``: in the
        fabric (id ``'fabric'``).
    id
        The part's id in its machine.
    """

    side: Side
    kind: PlaceKind
    id: str


@dataclass(frozen=True, slots=True)
class Ceiling:
    """A limit on bandwidth.

    Attributes
    ----------
    name
        For a label: ``'PCIe Gen5 x16'``, ``'NIC port 400 Gb/s'``.
    place
        Where it is.
    bytes_per_s
        Payload bytes a second that get through at this message size.
    """

    name: str
    place: Place
    bytes_per_s: float


@dataclass(frozen=True, slots=True)
class Stage:
    """A part of one message's time.

    Attributes
    ----------
    key
        Stable id: ``post``, ``doorbell``, ``wqe_fetch``, ``copy_launch``, ``copy``, ``copy_wait``,
        ``dma_read``, ``wire``, ``dma_write``, ``ack``, ``completion`` ...; with the side, unique in a
        timeline.
    name
        For people, translated.
    places
        Where it happens, in the order of the bytes.
    start_s, end_s
        From the moment the message is posted.
    cpu
        Whether a CPU works during it.
    moves_bytes
        Whether the message's payload moves through `places`.
    text
        One sentence that says what happens.
    """

    key: str
    name: str
    side: Side
    places: tuple[Place, ...]
    start_s: float
    end_s: float
    cpu: bool = False
    moves_bytes: bool = False
    text: str = ""

    @property
    def duration_s(self) -> float:
        """Seconds from start to end."""
        return self.end_s - self.start_s


@dataclass(frozen=True, slots=True)
class LatencySummary:
    """Seconds from posting a message to its completion."""

    p50: float
    p99: float
    p999: float
    mean: float
    max: float


@dataclass(frozen=True)
class Prediction:
    """What the model expects of a transfer.

    Attributes
    ----------
    bandwidth_bytes_per_s
        Payload bytes a second with the workload's depth and queue pairs.
    messages_per_s
        Messages a second.
    latency
        Of single messages, one in flight (as perftest's latency tests send them).
    cpu_share
        CPU time over wall time, one core counted as 1, both ends together, at that bandwidth.
    bottleneck
        The narrowest ceiling.
    ceilings
        All of them, narrowest first.
    stages
        One message's time, cut by stage in the order of start (one message in flight, no jitter).
    loads
        Bytes a second through each place at that bandwidth; with `capacities`, its share.
    capacities
        Bytes a second each place can carry at this message size.
    """

    workload: Workload
    bandwidth_bytes_per_s: float
    messages_per_s: float
    latency: LatencySummary
    cpu_share: float
    bottleneck: Ceiling
    ceilings: tuple[Ceiling, ...]
    stages: tuple[Stage, ...]
    loads: Mapping[Place, float]
    capacities: Mapping[Place, float]
