"""Nodes, buffers and memory regions as a person handles them.

These are handles: the things themselves live with their node's agent. Every call here waits for the
engine's answer; on the engine's own thread (in a widget) use the session's `State` instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gdviz.errors import GdvizError, UnknownDeviceError
from gdviz.machine import Cpu, Gpu, Machine, Nic
from gdviz.messages import _
from gdviz.nodes import BufferRecord, NodeRecord, RegionRecord
from gdviz.quantities import format_bits, format_size, parse_size, whole_number
from gdviz.rdma import AccessFlags, Location, Translation

if TYPE_CHECKING:
    from gdviz.session.session import Session

#: Flags that let any operation reach a region, which is what a first try wants.
DEFAULT_ACCESS = "local_write|remote_write|remote_read"


class Node:
    """A node of the session."""

    def __init__(self, session: Session, record: NodeRecord) -> None:
        self._session = session
        self.record = record

    @property
    def name(self) -> str:
        """The node's name."""
        return self.record.name

    @property
    def machine(self) -> Machine:
        """The node's hardware."""
        return self.record.machine

    @property
    def gpus(self) -> tuple[NodeGpu, ...]:
        """Its GPUs."""
        return tuple(NodeGpu(self._session, self, gpu) for gpu in self.machine.gpus)

    @property
    def nics(self) -> tuple[NodeNic, ...]:
        """Its NICs."""
        return tuple(NodeNic(self._session, self, nic) for nic in self.machine.nics)

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """Buffers allocated on it."""
        return tuple(b for b in self._session.buffers if b.record.node == self.name)

    def gpu(self, key: int | str = 0) -> NodeGpu:
        """Return a GPU by index, bus id or name.

        Raises
        ------
        UnknownDeviceError
            There is none.
        """
        return NodeGpu(self._session, self, self.machine.gpu(key))

    def nic(self, key: int | str = 0) -> NodeNic:
        """Return a NIC by index, name or bus id.

        Raises
        ------
        UnknownDeviceError
            There is none.
        """
        return NodeNic(self._session, self, self.machine.nic(key))

    def host(self, numa: int = 0) -> NodeHost:
        """Return the host memory of a NUMA node.

        Raises
        ------
        UnknownDeviceError
            There is no such NUMA node.
        """
        for cpu in self.machine.cpus:
            if cpu.numa == numa:
                return NodeHost(self._session, self, cpu)
        raise UnknownDeviceError(
            _("{node} has no NUMA node {numa}.").format(node=self.name, numa=numa),
            _("There are: {names}.").format(names=", ".join(str(c.numa) for c in self.machine.cpus)),
        )

    def __repr__(self) -> str:
        return f"<{self.machine} ({self.record.provider})>"


class _Memory:
    """Somewhere buffers can be allocated."""

    def __init__(self, session: Session, node: Node, location: Location) -> None:
        self._session = session
        self.node = node
        self.location = location

    def alloc(self, size: str | int, fill: str | int | bytes = "zeros", *, seed: int = 0) -> Buffer:
        """Allocate a buffer.

        Parameters
        ----------
        size
            Bytes, or text such as ``'64 MiB'``.
        fill
            What it holds at first: ``'zeros'``, ``'counter'``, ``'random'``, ``'text'``, a byte's value,
            or bytes to repeat.
        seed
            For ``'random'``.

        Raises
        ------
        QuantityError
            `size` is no size.
        AllocationError
            The memory does not suffice.
        """
        size_bytes, seed = parse_size(size), whole_number(seed, "seed", most=2**64 - 1)
        return self._session.ask(
            self._session.state.alloc(self.node.name, self.location, size_bytes, fill, seed)
        )


class NodeGpu(_Memory):
    """A GPU of a node."""

    def __init__(self, session: Session, node: Node, gpu: Gpu) -> None:
        super().__init__(session, node, Location("gpu", gpu.id))
        self.part = gpu

    @property
    def bar1_used_bytes(self) -> int:
        """How much of its BAR1 window registrations take."""
        return self._session.ask(self._session.state.bar1_used(self.node.name, self.part.id))

    def __repr__(self) -> str:
        return f"<GPU {self.part.index} {self.part.name} {self.part.busid} of {self.node.name}>"


class NodeHost(_Memory):
    """The host memory of a NUMA node."""

    def __init__(self, session: Session, node: Node, cpu: Cpu) -> None:
        super().__init__(session, node, Location("host", cpu.id))
        self.part = cpu

    def __repr__(self) -> str:
        return f"<host memory of NUMA node {self.part.numa} of {self.node.name}>"


class NodeNic:
    """A NIC of a node."""

    def __init__(self, session: Session, node: Node, nic: Nic) -> None:
        self._session = session
        self.node = node
        self.part = nic

    def register(
        self,
        buffer: Buffer,
        access: str | AccessFlags = DEFAULT_ACCESS,
        *,
        offset: str | int = 0,
        length: str | int | None = None,
    ) -> MemoryRegion:
        """Register a buffer with this NIC.

        Parameters
        ----------
        buffer
            A buffer of the same node.
        access
            Access flags by their names in verbs, joined by ``|``.
        offset, length
            The part of the buffer to register; by default all of it.

        Raises
        ------
        RegistrationError
            The NIC cannot reach that memory; the message says why and what helps.
        """
        if not isinstance(buffer, Buffer):
            raise GdvizError(_("buffer must be a buffer, not {value}.").format(value=repr(buffer)[:60]))
        flags = AccessFlags.parse(access)
        start = parse_size(offset)
        size = None if length is None else parse_size(length)
        return self._session.ask(
            self._session.state.register(self.node.name, self.part.id, buffer, flags, start, size)
        )

    def __repr__(self) -> str:
        speed = self.part.speed_bytes_per_s
        text = f" {format_bits(speed)}" if speed else ""
        return f"<NIC {self.part.name} {self.part.model}{text} of {self.node.name}>"


class Buffer:
    """Memory on a node that transfers read or write."""

    def __init__(self, session: Session, record: BufferRecord) -> None:
        self._session = session
        self.record = record

    @property
    def size_bytes(self) -> int:
        """Its size."""
        return self.record.size_bytes

    @property
    def address(self) -> int:
        """Its virtual address: a GPU's for GPU memory."""
        return self.record.address

    @property
    def node(self) -> Node:
        """Its node."""
        return self._session.node(self.record.node)

    @property
    def where(self) -> str:
        """Where it lies, for people: ``GPU 0`` or ``host memory 1``."""
        return self._session.state.place_name(self.record.node, self.record.location)

    def read(self, offset: str | int = 0, length: str | int | None = None) -> bytes:
        """Return its bytes, or some of them."""
        data: bytes = self._ask("read", *self._part(offset, length))
        return data

    def write(self, data: bytes | bytearray | memoryview, offset: str | int = 0) -> None:
        """Put bytes into it."""
        try:
            # Of an integer, bytes() would make that many zeros.
            content = bytes(memoryview(data))
        except TypeError:
            raise GdvizError(
                _("data must be bytes, not {value}.").format(value=repr(data)[:60]),
                _("Write it like b'text' or 'text'.encode()."),
            ) from None
        self._ask("write", parse_size(offset), content)

    def fill(self, pattern: str | int | bytes, *, seed: int = 0) -> None:
        """Fill it with a pattern, as `alloc` does."""
        self._ask("fill", pattern, whole_number(seed, "seed", most=2**64 - 1))

    def checksum(self, offset: str | int = 0, length: str | int | None = None) -> str:
        """Return the checksum of its bytes, or of some of them, as hexadecimal digits."""
        digits: str = self._ask("checksum", *self._part(offset, length))
        return digits

    def _part(self, offset: str | int, length: str | int | None) -> tuple[int, int]:
        start = parse_size(offset)
        return start, max(0, self.size_bytes - start) if length is None else parse_size(length)

    def free(self) -> None:
        """Free it.

        Raises
        ------
        VerbsError
            It is still registered.
        """
        self._session.ask(self._session.state.free(self))

    def _ask(self, command: str, *arguments: object) -> Any:
        state = self._session.state
        return self._session.ask(state.on_node(self.record.node, command, self.record.number, *arguments))

    def __repr__(self) -> str:
        return f"<{format_size(self.size_bytes)} at {self.address:#x} in {self.where} of {self.record.node}>"


class MemoryRegion:
    """A buffer registered with a NIC."""

    def __init__(self, session: Session, record: RegionRecord, buffer: Buffer) -> None:
        self._session = session
        self.record = record
        self.buffer = buffer

    @property
    def lkey(self) -> int:
        """Key for the node's own work requests."""
        return self.record.lkey

    @property
    def rkey(self) -> int:
        """Key for the other end's RDMA operations."""
        return self.record.rkey

    @property
    def address(self) -> int:
        """First address of the region."""
        return self.record.address

    @property
    def length(self) -> int:
        """Bytes of the region."""
        return self.record.length

    @property
    def access(self) -> AccessFlags:
        """What is allowed on it."""
        return self.record.access

    @property
    def pages(self) -> int:
        """Pages that the NIC translates."""
        return self.record.pages

    @property
    def translation(self) -> Translation:
        """How the NIC finds the bytes: virtual address, page, bus address."""
        return self.record.translation

    @property
    def nic(self) -> NodeNic:
        """The NIC it is registered with."""
        return self._session.node(self.record.node).nic(self.record.nic)

    def deregister(self) -> None:
        """Deregister it; the buffer stays."""
        self._session.ask(self._session.state.deregister(self))

    def __repr__(self) -> str:
        return (
            f"<memory region of {format_size(self.length)} in {self.buffer.where} of {self.record.node} on "
            f"{self.record.nic}: lkey {self.lkey:#x}, rkey {self.rkey:#x}, {self.access.text}>"
        )
