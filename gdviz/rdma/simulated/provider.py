"""One simulated node: its memory, its NICs, and everything that exists on them."""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gdviz.errors import TransferError, VerbsError
from gdviz.machine import Machine
from gdviz.messages import _
from gdviz.model import DataPath
from gdviz.rdma.provider import GPU_PAGE_BYTES, HOST_PAGE_BYTES, Location, MemoryRegion, Provider, QueuePair
from gdviz.rdma.requests import Sge
from gdviz.rdma.simulated.buffers import AddressBook, SimulatedBuffer, allocate
from gdviz.rdma.simulated.bulk import BulkRun
from gdviz.rdma.simulated.devices import SimulatedDevice
from gdviz.rdma.simulated.host import SimulatedHost
from gdviz.rdma.simulated.queue_pairs import SimulatedQueuePair
from gdviz.rdma.simulated.regions import SimulatedRegion
from gdviz.rdma.simulated.runs import UnneededService
from gdviz.rdma.simulated.spaces import AddressSpace
from gdviz.rdma.transfer import Bounce, RemoteRegion, TransferSpec

if TYPE_CHECKING:
    from gdviz.rdma.simulated.network import SimulatedNetwork

#: Where the firmware puts 64-bit prefetchable windows, as on servers with 46 bits of physical address.
_BAR1_BASE = 0x380000000000

#: A GPU whose BAR1 size no source names gets this much: that of the large-BAR data-centre models.
_UNKNOWN_BAR1_BYTES = 128 * 2**30


class SimulatedProvider:
    """The verbs of a simulated node. Made by `SimulatedNetwork.provider`."""

    name = "simulated"
    simulated = True

    def __init__(
        self, network: SimulatedNetwork, machine: Machine, settings: SimulatedHost, ordinal: int
    ) -> None:
        self.network = network
        self.machine = machine
        self.settings = settings
        self.ordinal = ordinal
        self.closed = False
        self.addresses = AddressBook(self)
        self.buffers: set[SimulatedBuffer] = set()
        self._devices: dict[str, SimulatedDevice] = {}
        self._bar1: dict[str, AddressSpace] = {}

    @property
    def node(self) -> str:
        """Name of the node."""
        return self.machine.name

    def check_open(self) -> None:
        """Refuse work after `close`."""
        if self.closed:
            raise VerbsError(_("{node} has been closed.").format(node=self.node), errno=errno.ENODEV)

    def alloc(self, location: Location, size_bytes: int, *, align: int = HOST_PAGE_BYTES) -> SimulatedBuffer:
        """Allocate memory, filled with zeros."""
        self.check_open()
        buffer = allocate(self, location, size_bytes, align)
        self.buffers.add(buffer)
        return buffer

    def device(self, nic: str) -> SimulatedDevice:
        """Open a NIC by its id (the same object each time)."""
        self.check_open()
        part = self.machine.nic(nic)
        if part.id not in self._devices:
            self._devices[part.id] = SimulatedDevice(self, part)
            self.network.plug(self._devices[part.id])
        return self._devices[part.id]

    def bar1(self, gpu: str) -> AddressSpace:
        """Return a GPU's BAR1 window, by the GPU's id."""
        part = self.machine.gpu(gpu)
        if part.id not in self._bar1:
            size = self.settings.bar1_bytes or part.bar1_bytes or _UNKNOWN_BAR1_BYTES
            # A window lies at a multiple of its size, a power of two.
            stride = 1 << max(size - 1, 2**20).bit_length()
            base = -(-_BAR1_BASE // stride) * stride + part.index * stride
            self._bar1[part.id] = AddressSpace(base, size, GPU_PAGE_BYTES)
        return self._bar1[part.id]

    def bar1_used_bytes(self, gpu: str) -> int:
        """Return how much of a GPU's BAR1 window is mapped, by its id."""
        return self.bar1(gpu).used_bytes

    def pinned_host_bytes(self) -> int:
        """Return how much host memory is registered, in whole pages; twice registered counts twice."""
        return sum(
            region.pages * region.page_bytes
            for device in self._devices.values()
            for region in device.regions.values()
            if region.buffer.location.kind == "host"
        )

    def host_bytes(self, sges: Sequence[Sge]) -> NDArray[np.uint8]:
        """Return bytes of host memory by address, as the CPU reads them.

        Raises
        ------
        VerbsError
            EFAULT: no host memory of this node there (a real process would die of it).
        """
        parts = [np.empty(0, np.uint8)]
        for sge in sges:
            for buffer in self.buffers:
                offset = sge.address - buffer.address
                if buffer.location.kind == "host" and 0 <= offset <= buffer.size_bytes - sge.length:
                    parts.append(buffer.memory.read(offset, sge.length))
                    break
            else:
                raise VerbsError(
                    _("Inline data must be in host memory; at {address:#x} there is none.").format(
                        address=sge.address
                    ),
                    _("Send GPU memory without inline."),
                    errno=errno.EFAULT,
                )
        return np.concatenate(parts)

    def start_transfer(
        self,
        qps: Sequence[QueuePair],
        local: MemoryRegion,
        remote: RemoteRegion,
        spec: TransferSpec,
        *,
        bounce: Bounce | None = None,
    ) -> BulkRun:
        """Start a transfer over connected queue pairs of this node."""
        self.check_open()
        self.network.settle()
        pairs = [pair for pair in qps if isinstance(pair, SimulatedQueuePair)]
        if len(pairs) != len(qps) or not isinstance(local, SimulatedRegion):
            raise TransferError(_("Queue pairs and region must be simulated ones."))
        for domain in (*(pair.domain for pair in pairs), local.domain):
            if domain.device.provider is not self:
                raise TransferError(_("Queue pairs and region must be of {node}.").format(node=self.node))
        if spec.path is DataPath.DIRECT and local.lkey not in local.domain.device.regions:
            raise TransferError(
                _("The buffer is not registered: the NIC cannot read or write it."),
                _("Register it, or take the staged path."),
            )
        run = BulkRun(self.network, self, pairs, local, remote, spec, bounce)
        self.network.runs.add(run)
        return run

    def serve_transfer(
        self,
        qps: Sequence[QueuePair],
        region: MemoryRegion,
        remote: RemoteRegion,
        spec: TransferSpec,
        *,
        bounce: Bounce | None = None,
    ) -> UnneededService:
        """Do nothing: a simulated transfer moves the bytes of both its ends."""
        del qps, region, remote, spec, bounce
        self.check_open()
        return UnneededService()

    def resources(self) -> Mapping[str, int]:
        """Return how many there are of each: pd, cq, qp, mr, buffer, run."""
        devices = self._devices.values()
        return {
            "pd": sum(len(device.domains) for device in devices),
            "cq": sum(len(device.completion_queues) for device in devices),
            "qp": sum(len(device.queue_pairs) for device in devices),
            "mr": sum(len(device.regions) for device in devices),
            "buffer": len(self.buffers),
            "run": self.network.runs.count(self),
        }

    def close(self) -> None:
        """Stop transfers and give everything back. Closing twice is fine."""
        if self.closed:
            return
        self.network.settle()
        self.network.runs.stop_all(self)
        for device in self._devices.values():
            for pair in list(device.queue_pairs.values()):
                pair.discard()
            for region in [*device.regions.values(), *device.staged.values()]:
                region.discard()
            for queue in list(device.completion_queues):
                queue.destroy()
            device.domains.clear()
        for buffer in list(self.buffers):
            buffer.discard()
        self.closed = True
        self.network.changed()

    def __enter__(self) -> SimulatedProvider:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<simulated node {self.node}{' (closed)' if self.closed else ''}>"


if TYPE_CHECKING:

    def _keeps_the_protocols(provider: SimulatedProvider) -> Provider:
        return provider
