"""The verbs' objects as gdviz uses them: one set of Protocols, several providers.

Everything above is written against these alone. Calls raise `VerbsError` (or one of its kind) with the
errno that libibverbs gives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, Unpack

from gdviz.machine import Machine, Nic
from gdviz.rdma.flags import Access, AccessFlags
from gdviz.rdma.requests import Completion, QpAddress, RecvRequest, SendRequest
from gdviz.rdma.states import QpAttributes, QpState, QpType
from gdviz.rdma.transfer import Bounce, RemoteRegion, Run, Service, TransferSpec
from gdviz.rdma.translation import Translation

HOST_PAGE_BYTES = 4096
GPU_PAGE_BYTES = 65536


@dataclass(frozen=True, slots=True)
class Location:
    """Where memory is.

    Attributes
    ----------
    kind
        ``gpu``, or ``host``.
    part
        Id of the GPU, or of the CPU whose memory it is.
    """

    kind: Literal["gpu", "host"]
    part: str

    def __str__(self) -> str:
        return f"{self.kind} {self.part}"


class Buffer(Protocol):
    """Memory on a GPU or in the host, with its contents. New memory is zeros."""

    @property
    def address(self) -> int:
        """Virtual address of its first byte."""

    @property
    def size_bytes(self) -> int:
        """Bytes that were asked for."""

    @property
    def location(self) -> Location:
        """Where it is."""

    @property
    def registered(self) -> bool:
        """Whether a memory region holds it."""

    @property
    def freed(self) -> bool:
        """Whether it has been freed."""

    def read(self, offset: int = 0, length: int | None = None) -> bytes:
        """Return bytes from `offset`, to the end if no length is given."""

    def write(self, offset: int, data: bytes) -> None:
        """Put bytes at `offset`."""

    def fill(self, pattern: str | int | bytes = "random", seed: int = 0) -> None:
        """Fill it: ``zeros``, ``random``, ``counter``, ``text``, one byte's value, or bytes to repeat."""

    def checksum(self) -> str:
        """Return the first 16 hex digits of the contents' SHA-256."""

    def free(self) -> None:
        """Give it back; EBUSY while a memory region holds it."""


class MemoryRegion(Protocol):
    """Memory that a NIC may use: pinned, translated, and named by keys."""

    @property
    def node(self) -> str:
        """Name of the node."""

    @property
    def nic(self) -> str:
        """Id of the NIC."""

    @property
    def lkey(self) -> int:
        """The key for this side's work requests."""

    @property
    def rkey(self) -> int:
        """The key for the other side's."""

    @property
    def address(self) -> int:
        """Virtual address of its first byte."""

    @property
    def length(self) -> int:
        """Bytes."""

    @property
    def access(self) -> AccessFlags:
        """What may be done with it."""

    @property
    def buffer(self) -> Buffer:
        """The memory."""

    @property
    def page_bytes(self) -> int:
        """Bytes of a page."""

    @property
    def pages(self) -> int:
        """Pages that are pinned."""

    @property
    def translation(self) -> Translation:
        """How its pages are found."""

    @property
    def deregistered(self) -> bool:
        """Whether it is no more."""

    def deregister(self) -> None:
        """Unpin it; its keys are void from now on."""


class CompletionQueue(Protocol):
    """Where work requests report their end."""

    @property
    def depth(self) -> int:
        """Completions that it holds."""

    def poll(self, max_entries: int = 16) -> list[Completion]:
        """Take up to so many completions, oldest first.

        Raises
        ------
        VerbsError
            EOVERFLOW: it overran, and what it held before has been taken.
        """

    def destroy(self) -> None:
        """Give it back; EBUSY while a queue pair uses it."""


class QueuePair(Protocol):
    """One end of a connection: a send queue and a receive queue."""

    @property
    def qp_num(self) -> int:
        """Its number on this NIC, 24 bits."""

    @property
    def qp_type(self) -> QpType:
        """Transport service."""

    @property
    def state(self) -> QpState:
        """Its state."""

    @property
    def address(self) -> QpAddress:
        """What the other side needs to connect."""

    @property
    def max_send_wr(self) -> int:
        """Work requests that the send queue holds."""

    def modify(self, state: QpState, **attributes: Unpack[QpAttributes]) -> None:
        """Change the state.

        Raises
        ------
        QueuePairStateError
            EINVAL: not a step of the table, or the wrong attributes for it.
        """

    def connect(
        self,
        remote: QpAddress,
        *,
        access: Access | None = None,
        path_mtu: int = 4096,
        timeout: int = 14,
        retry_count: int = 7,
        rnr_retry: int = 6,
        min_rnr_timer: int = 12,
    ) -> None:
        """Go from RESET (or INIT) to RTS towards a queue pair.

        Parameters
        ----------
        access
            What the other side may do through this queue pair; write and read if not given.
        path_mtu
            Bytes.
        timeout
            Exponent of the local ACK timeout: 14 is 67 ms, tried `retry_count` + 1 times.
        rnr_retry
            Retries where the receiver is not ready; 7 is for ever.
        min_rnr_timer
            Code of the wait before such a retry: 12 is 0.64 ms.
        """

    def post_send(self, request: SendRequest) -> None:
        """Put a request into the send queue.

        Raises
        ------
        VerbsError
            ENOMEM: the queue is full. EINVAL: too many pieces, or too much inline data.
        QueuePairStateError
            EINVAL: not in RTS.
        """

    def post_recv(self, request: RecvRequest) -> None:
        """Put memory into the receive queue.

        Raises
        ------
        VerbsError
            ENOMEM: the queue is full. EINVAL: too many pieces.
        QueuePairStateError
            EINVAL: in RESET.
        """

    def destroy(self) -> None:
        """Give it back; what is in its queues is dropped."""


class ProtectionDomain(Protocol):
    """What joins memory regions and queue pairs: they work together only within one."""

    def register(
        self, buffer: Buffer, access: Access, *, offset: int = 0, length: int | None = None
    ) -> MemoryRegion:
        """Register memory, to the buffer's end if no length is given.

        Raises
        ------
        RegistrationError
            EFAULT or EOPNOTSUPP: GPU memory, and the host has neither dma-buf nor nvidia-peermem, or the
            GPU or the NIC cannot. ENOMEM: BAR1 is full, or the memlock limit reached. EINVAL: outside of
            the buffer, or remote writes without local ones.
        """

    def stage(self, buffer: Buffer, *, offset: int = 0, length: int | None = None) -> MemoryRegion:
        """Name memory for the staged path alone, to the buffer's end if no length is given.

        Nothing is pinned and the NIC cannot use it: only the bounce buffers of a staged transfer are
        registered. It takes no BAR1, and needs neither dma-buf nor nvidia-peermem.
        """

    def create_qp(
        self,
        send_cq: CompletionQueue,
        recv_cq: CompletionQueue,
        *,
        qp_type: QpType = QpType.RC,
        max_send_wr: int = 128,
        max_recv_wr: int = 128,
        max_send_sge: int = 4,
        max_recv_sge: int = 4,
        max_inline: int = 64,
    ) -> QueuePair:
        """Create a queue pair, in RESET."""

    def dealloc(self) -> None:
        """Give it back; EBUSY while it has regions or queue pairs."""


class Device(Protocol):
    """A NIC that has been opened."""

    @property
    def nic(self) -> Nic:
        """Its record in the machine."""

    @property
    def gid(self) -> str:
        """Its port's address in the fabric."""

    def alloc_pd(self) -> ProtectionDomain:
        """Make a protection domain."""

    def create_cq(self, depth: int) -> CompletionQueue:
        """Make a completion queue of at least so many entries."""


class Provider(Protocol):
    """The verbs of one node."""

    @property
    def name(self) -> str:
        """``simulated``, or what stands below."""

    @property
    def simulated(self) -> bool:
        """Whether figures from here come from a simulation."""

    @property
    def node(self) -> str:
        """Name of the node."""

    @property
    def machine(self) -> Machine:
        """The node's hardware."""

    @property
    def closed(self) -> bool:
        """Whether it has been closed."""

    def alloc(self, location: Location, size_bytes: int, *, align: int = HOST_PAGE_BYTES) -> Buffer:
        """Allocate memory, filled with zeros.

        Raises
        ------
        AllocationError
            ENOMEM: not that much there. EINVAL: no size, or no alignment.
        """

    def device(self, nic: str) -> Device:
        """Open a NIC by its id (the same object each time)."""

    def bar1_used_bytes(self, gpu: str) -> int:
        """Return how much of a GPU's BAR1 window is mapped, by its id."""

    def start_transfer(
        self,
        qps: Sequence[QueuePair],
        local: MemoryRegion,
        remote: RemoteRegion,
        spec: TransferSpec,
        *,
        bounce: Bounce | None = None,
    ) -> Run:
        """Start a transfer over connected queue pairs of this node.

        Parameters
        ----------
        bounce
            Registered host memory at both ends; a staged transfer needs it.

        Raises
        ------
        TransferError
            The numbers do not fit: queue pairs, depth, bounce buffers.
        QueuePairStateError
            A queue pair is not in RTS.
        """

    def serve_transfer(
        self,
        qps: Sequence[QueuePair],
        region: MemoryRegion,
        remote: RemoteRegion,
        spec: TransferSpec,
        *,
        bounce: Bounce | None = None,
    ) -> Service:
        """Do this node's part of a transfer that another node starts, until it is stopped.

        It has to be there before the other node starts. What needs none (WRITE and READ on the direct path)
        is served, too: by doing nothing. Where both ends live in one process, `start_transfer` sees to it.

        Parameters
        ----------
        region, remote
            This node's, and the region of the node that starts.
        bounce
            This node's bounce buffer and the other's.
        """

    def resources(self) -> Mapping[str, int]:
        """Return how many there are of each: pd, cq, qp, mr (as ``rdma resource`` has it), buffer, run."""

    def close(self) -> None:
        """Stop transfers and give everything back. Closing twice is fine."""
