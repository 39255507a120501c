"""Simulated buffers: contents, and where they lie in virtual and physical memory."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

import numpy as np

from gdviz.errors import AllocationError, UnknownDeviceError, VerbsError
from gdviz.messages import _
from gdviz.quantities import format_size
from gdviz.rdma.patterns import Pattern
from gdviz.rdma.provider import HOST_PAGE_BYTES, Location
from gdviz.rdma.ranges import check_use
from gdviz.rdma.simulated.memory import SparseMemory
from gdviz.rdma.simulated.spaces import AddressSpace

if TYPE_CHECKING:
    from gdviz.rdma.simulated.provider import SimulatedProvider

#: CUDA allocates GPU memory in these pages; virtual addresses are multiples of it here.
GPU_ALLOCATION_BYTES = 2 * 2**20

#: Where CUDA's and a process's mappings usually lie: below the top of the 47-bit user space.
_GPU_VIRTUAL, _HOST_VIRTUAL, _VIRTUAL_BYTES = 0x7F0000000000, 0x7E0000000000, 0xFF0000000000 - 0xFE0000000000

#: A GPU whose memory size no source names gets this much.
_UNKNOWN_GPU_BYTES = 16 * 2**30

#: Host memory of CPU n begins at n times this, plus what the firmware keeps below.
_SOCKET_STRIDE, _LOW_BYTES = 2**44, 2**32


class AddressBook:
    """The address spaces of one node: virtual ones, each GPU's memory, each CPU's."""

    def __init__(self, provider: SimulatedProvider) -> None:
        self._provider = provider
        self.gpu_virtual = AddressSpace(_GPU_VIRTUAL, _VIRTUAL_BYTES, GPU_ALLOCATION_BYTES)
        self.host_virtual = AddressSpace(_HOST_VIRTUAL, _VIRTUAL_BYTES, GPU_ALLOCATION_BYTES)
        self._physical: dict[Location, AddressSpace] = {}

    def virtual(self, location: Location) -> AddressSpace:
        """Return the virtual address space for memory at a place."""
        return self.gpu_virtual if location.kind == "gpu" else self.host_virtual

    def physical(self, location: Location) -> AddressSpace:
        """Return the memory of a GPU or of a CPU.

        Raises
        ------
        UnknownDeviceError
            The machine has no such part.
        """
        if location not in self._physical:
            self._physical[location] = self._new(location)
        return self._physical[location]

    def _new(self, location: Location) -> AddressSpace:
        machine = self._provider.machine
        if location.kind == "gpu":
            gpu = machine.gpu(location.part)
            return AddressSpace(0, gpu.memory_bytes or _UNKNOWN_GPU_BYTES, GPU_ALLOCATION_BYTES)
        for number, cpu in enumerate(machine.cpus):
            if cpu.id == location.part:
                base = number * _SOCKET_STRIDE + _LOW_BYTES
                return AddressSpace(base, self._provider.settings.memory_bytes, HOST_PAGE_BYTES)
        raise UnknownDeviceError(
            _("{machine} has no CPU {cpu!r}.").format(machine=machine.name, cpu=location.part[:60])
        )


class SimulatedBuffer:
    """Memory of a simulated GPU or host."""

    def __init__(
        self,
        provider: SimulatedProvider,
        location: Location,
        size_bytes: int,
        virtual: list[tuple[int, int]],
        physical: list[tuple[int, int]],
    ) -> None:
        self.provider = provider
        self.location = location
        self.size_bytes = size_bytes
        self.address = virtual[0][0]
        self.physical = physical
        self.memory = SparseMemory(size_bytes, provider.network.commit)
        self.regions = 0
        self.freed = False
        self._virtual = virtual

    @property
    def registered(self) -> bool:
        """Whether a memory region holds it."""
        return self.regions > 0

    def _use(self, offset: int = 0, length: int = 0) -> None:
        check_use(self, offset, length)
        self.provider.network.settle()
        self.provider.network.runs.catch_up(self.memory)

    def read(self, offset: int = 0, length: int | None = None) -> bytes:
        """Return bytes from `offset`, to the end if no length is given."""
        wanted = self.size_bytes - offset if length is None else length
        self._use(offset, wanted)
        limit = self.provider.network.commit.limit_bytes
        if wanted > limit:
            # The copy is real memory, even where all that is read is zeros.
            raise VerbsError(
                _("{wanted} are too much to read at once here, the limit is {limit}.").format(
                    wanted=format_size(wanted), limit=format_size(limit)
                ),
                _("Read a part, or compare checksums."),
                errno=errno.ENOMEM,
            )
        return self.memory.read(offset, wanted).tobytes()

    def write(self, offset: int, data: bytes) -> None:
        """Put bytes at `offset`."""
        self._use(offset, len(data))
        self.memory.write(offset, np.frombuffer(data, np.uint8))

    def fill(self, pattern: str | int | bytes = "random", seed: int = 0) -> None:
        """Fill it: ``zeros``, ``random``, ``counter``, ``text``, one byte's value, or bytes to repeat."""
        self._use()
        self.memory.fill(Pattern.parse(pattern, seed))

    def checksum(self) -> str:
        """Return the first 16 hex digits of the contents' SHA-256."""
        self._use()
        return self.memory.checksum()

    def free(self) -> None:
        """Give it back; EBUSY while a memory region holds it. Freeing twice is fine."""
        if self.freed:
            return
        self.provider.network.settle()
        if self.registered:
            raise VerbsError(
                _("This buffer is registered: {count} memory regions hold it.").format(count=self.regions),
                _("Deregister them first."),
                errno=errno.EBUSY,
            )
        self.discard()

    def discard(self) -> None:
        """Give it back without asking."""
        runs = self.provider.network.runs
        runs.catch_up(self.memory)
        runs.let_go(self.memory)
        self.freed = True
        self.memory.clear()
        book = self.provider.addresses
        book.virtual(self.location).give(self._virtual)
        book.physical(self.location).give(self.physical)
        self.provider.buffers.discard(self)

    def __repr__(self) -> str:
        state = "freed" if self.freed else f"{self.address:#x}"
        return f"<{format_size(self.size_bytes)} on {self.location}, {state}>"


def allocate(provider: SimulatedProvider, location: Location, size_bytes: int, align: int) -> SimulatedBuffer:
    """Make a buffer.

    Raises
    ------
    AllocationError
        EINVAL: no size, or no alignment. ENOMEM: not that much there.
    """
    if size_bytes < 1:
        raise AllocationError(_("A buffer has at least one byte."), errno=errno.EINVAL)
    if align < 1 or align & (align - 1) or align > GPU_ALLOCATION_BYTES:
        raise AllocationError(
            _("An alignment is a power of two up to {limit}, not {align}.").format(
                limit=format_size(GPU_ALLOCATION_BYTES), align=align
            ),
            errno=errno.EINVAL,
        )
    space = provider.addresses.physical(location)
    physical = space.take(size_bytes)
    if physical is None:
        raise AllocationError(
            _("{size} do not fit into {place}: {free} of {all} are free.").format(
                size=format_size(size_bytes),
                place=_place(provider, location),
                free=format_size(space.free_bytes),
                all=format_size(space.size_bytes),
            ),
            _("Free buffers there, or allocate less."),
            errno=errno.ENOMEM,
        )
    virtual = provider.addresses.virtual(location).take(size_bytes, whole=True)
    if virtual is None:
        space.give(physical)
        raise AllocationError(_("The process has no address range left."), errno=errno.ENOMEM)
    return SimulatedBuffer(provider, location, size_bytes, virtual, physical)


def _place(provider: SimulatedProvider, location: Location) -> str:
    if location.kind == "gpu":
        gpu = provider.machine.gpu(location.part)
        return _("GPU {index} ({name}) of {node}").format(index=gpu.index, name=gpu.name, node=provider.node)
    return _("the host memory of {cpu} of {node}").format(cpu=location.part, node=provider.node)
