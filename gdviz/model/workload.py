"""What is asked of the model: two ends, a fabric between them, and the work."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from gdviz.errors import GdvizError
from gdviz.machine import Gpu, LinkLayer, Machine, Nic
from gdviz.messages import _


class Op(StrEnum):
    """RDMA operations, by their names in perftest."""

    WRITE = "write"
    READ = "read"
    SEND = "send"


class DataPath(StrEnum):
    """How the bytes of GPU memory reach the NIC.

    ``direct`` is GPUDirect RDMA: the NIC reads and writes GPU memory itself. ``staged`` copies through
    bounce buffers in host memory at both ends.
    """

    DIRECT = "direct"
    STAGED = "staged"


@dataclass(frozen=True)
class Endpoint:
    """One end of a transfer: a NIC and the memory that it reads or writes.

    Attributes
    ----------
    machine
        The node.
    nic
        Id of the NIC.
    gpu
        Id of the GPU whose memory it is; None for host memory.
    numa
        NUMA node of the host memory, and of the bounce buffers of a staged transfer; None for the
        NIC's own.
    """

    machine: Machine
    nic: str
    gpu: str | None = None
    numa: int | None = None

    @property
    def nic_part(self) -> Nic:
        """The NIC's record."""
        return self.machine.nic(self.nic)

    @property
    def gpu_part(self) -> Gpu | None:
        """The GPU's record, None for host memory."""
        return self.machine.gpu(self.gpu) if self.gpu is not None else None


@dataclass(frozen=True, slots=True)
class Fabric:
    """The wire between two NICs.

    Attributes
    ----------
    link_layer
        InfiniBand or Ethernet (RoCEv2).
    mtu_bytes
        Path MTU.
    switches
        Switches on the way.
    cable_m
        Metres of cable in all.
    """

    link_layer: LinkLayer = LinkLayer.ETHERNET
    mtu_bytes: int = 4096
    switches: int = 1
    cable_m: float = 10.0

    def __post_init__(self) -> None:
        """Refuse what no fabric is."""
        _within(self.mtu_bytes, 64, 65536, _("path MTU in bytes"))
        _within(self.switches, 0, 64, _("number of switches"))
        _within(self.cable_m, 0, 1_000_000, _("length of cable in metres"))

    @classmethod
    def between(cls, left: Nic, right: Nic) -> Fabric:
        """Return the usual fabric for two NICs: InfiniBand if both speak it, else RoCEv2."""
        both = {left.link_layer, right.link_layer}
        layer = LinkLayer.INFINIBAND if both == {LinkLayer.INFINIBAND} else LinkLayer.ETHERNET
        return cls(layer)

    @property
    def name(self) -> str:
        """Name of the protocol on the wire."""
        return "InfiniBand" if self.link_layer is LinkLayer.INFINIBAND else "RoCEv2"


@dataclass(frozen=True, slots=True)
class Workload:
    """The messages of a transfer.

    Attributes
    ----------
    size_bytes
        Bytes of one message.
    depth
        Messages in flight on one queue pair.
    qps
        Queue pairs.
    """

    op: Op = Op.WRITE
    path: DataPath = DataPath.DIRECT
    size_bytes: int = 65536
    depth: int = 128
    qps: int = 1

    def __post_init__(self) -> None:
        """Refuse what no NIC takes."""
        _within(self.size_bytes, 1, 2**31, _("message size in bytes"))
        _within(self.depth, 1, 32768, _("queue depth"))
        _within(self.qps, 1, 4096, _("number of queue pairs"))


def _within(value: float, low: float, high: float, what: str) -> None:
    # Written so that NaN fails too.
    if not low <= value <= high:
        raise GdvizError(
            _("The {what} is {value}.").format(what=what, value=value),
            _("It goes from {low} to {high}.").format(low=low, high=high),
        )
