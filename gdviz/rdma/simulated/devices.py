"""Simulated NICs and their protection domains."""

from __future__ import annotations

import errno
import itertools
from typing import TYPE_CHECKING

from gdviz.errors import RegistrationError, VerbsError
from gdviz.machine import LinkLayer, Nic
from gdviz.messages import _
from gdviz.rdma.flags import Access, AccessFlags
from gdviz.rdma.provider import HOST_PAGE_BYTES, Buffer, CompletionQueue
from gdviz.rdma.ranges import check_range
from gdviz.rdma.simulated.buffers import SimulatedBuffer
from gdviz.rdma.simulated.completions import SimulatedCompletionQueue
from gdviz.rdma.simulated.queue_pairs import QueueLimits, SimulatedQueuePair
from gdviz.rdma.simulated.regions import SimulatedRegion
from gdviz.rdma.simulated.registration import Pinned, check_access, pin
from gdviz.rdma.simulated.spaces import AddressSpace
from gdviz.rdma.states import QpType
from gdviz.rdma.translation import Translation

if TYPE_CHECKING:
    from gdviz.rdma.simulated.provider import SimulatedProvider

#: Limits of a ConnectX NIC as ``ibv_devinfo -v`` prints them (max_qp_wr, max_sge, max_cqe), and the inline
#: data that a WQE of it takes.
MAX_QP_WR, MAX_SGE, MAX_CQE, MAX_INLINE = 32768, 30, 4194303, 1024

_IOVA_BASE, _IOVA_BYTES = 2**32, 2**47


class SimulatedDevice:
    """A simulated NIC."""

    def __init__(self, provider: SimulatedProvider, nic: Nic) -> None:
        self.provider = provider
        self.nic = nic
        self.regions: dict[int, SimulatedRegion] = {}
        # Memory of staged transfers, which no request can name: its keys are not the NIC's.
        self.staged: dict[int, SimulatedRegion] = {}
        self.queue_pairs: dict[int, SimulatedQueuePair] = {}
        self.domains: set[SimulatedDomain] = set()
        self.completion_queues: set[SimulatedCompletionQueue] = set()
        self.iovas = AddressSpace(_IOVA_BASE, _IOVA_BYTES, 2**16)
        # Numbers that differ between NICs and nodes, so that a mix-up is an error here and not luck.
        self._qp_nums = itertools.count(0x100 + nic.index * 0x1000 + provider.ordinal % 250 * 0x10000)
        self._keys = itertools.count(0x1000 * (1 + provider.ordinal % 15) + nic.index * 0x10000)

    @property
    def gid(self) -> str:
        """Its port's address in the fabric: a link-local one for InfiniBand, an IPv4 one for RoCEv2."""
        node = self.provider.ordinal
        if self.nic.link_layer is LinkLayer.INFINIBAND:
            return f"fe80::{node + 1:x}:{self.nic.index + 1:x}"
        return f"::ffff:10.{self.nic.index}.{node // 250}.{node % 250 + 1}"

    def alloc_pd(self) -> SimulatedDomain:
        """Make a protection domain."""
        self.provider.check_open()
        domain = SimulatedDomain(self)
        self.domains.add(domain)
        return domain

    def create_cq(self, depth: int) -> SimulatedCompletionQueue:
        """Make a completion queue of `depth` entries."""
        self.provider.check_open()
        if not 1 <= depth <= MAX_CQE:
            raise VerbsError(
                _("A completion queue has 1 to {limit} entries, not {depth}.").format(
                    limit=MAX_CQE, depth=depth
                ),
                errno=errno.EINVAL,
            )
        queue = SimulatedCompletionQueue(self, depth)
        self.completion_queues.add(queue)
        return queue

    def next_key(self) -> int:
        """Return a key that has not been used: an index and an 8-bit variant, as mlx5 makes them."""
        index = next(self._keys)
        return (index << 8 | (index * 0x9D) & 0xFF) & 0xFFFFFFFF

    def next_qp_num(self) -> int:
        """Return the number for a new queue pair."""
        return next(self._qp_nums) & 0xFFFFFF


class SimulatedDomain:
    """A simulated protection domain."""

    def __init__(self, device: SimulatedDevice) -> None:
        self.device = device

    def register(
        self, buffer: Buffer, access: Access, *, offset: int = 0, length: int | None = None
    ) -> SimulatedRegion:
        """Register memory, to the buffer's end if no length is given."""
        device = self.device
        device.provider.check_open()
        device.provider.network.settle()
        flags = AccessFlags.parse(access)
        check_access(flags)
        memory = self._own(buffer)
        size = memory.size_bytes - offset if length is None else length
        pinned = pin(device, memory, offset, size)
        key = device.next_key()
        region = SimulatedRegion(self, memory, flags, offset, size, key, pinned, device.regions)
        device.provider.network.changed()
        return region

    def stage(self, buffer: Buffer, *, offset: int = 0, length: int | None = None) -> SimulatedRegion:
        """Name memory for the staged path alone, to the buffer's end if no length is given."""
        device = self.device
        device.provider.check_open()
        memory = self._own(buffer)
        size = memory.size_bytes - offset if length is None else length
        check_range(memory, offset, size)
        nothing = Pinned(Translation("host pages", HOST_PAGE_BYTES, ()))
        key = device.next_key()
        return SimulatedRegion(self, memory, AccessFlags(0), offset, size, key, nothing, device.staged)

    def _own(self, buffer: Buffer) -> SimulatedBuffer:
        provider = self.device.provider
        if not isinstance(buffer, SimulatedBuffer) or buffer.provider is not provider:
            raise RegistrationError(
                _("The buffer is not memory of {node}: EFAULT (14).").format(node=provider.node),
                _("Register it on its own node."),
                errno=errno.EFAULT,
            )
        return buffer

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
    ) -> SimulatedQueuePair:
        """Create a queue pair, in RESET. The simulated NIC offers RC."""
        device = self.device
        device.provider.check_open()
        if qp_type is not QpType.RC:
            raise VerbsError(
                _("The simulated NIC offers RC queue pairs, not {kind}.").format(kind=qp_type.name),
                errno=errno.EOPNOTSUPP,
            )
        limits = QueueLimits(max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline)
        most = QueueLimits(MAX_QP_WR, MAX_QP_WR, MAX_SGE, MAX_SGE, MAX_INLINE)
        for name, value, limit in limits.against(most):
            if not 0 <= value <= limit:
                raise VerbsError(
                    _("{name} goes from 0 to {limit}, not {value}.").format(
                        name=name, limit=limit, value=value
                    ),
                    errno=errno.EINVAL,
                )
        queues = []
        for queue in (send_cq, recv_cq):
            if not isinstance(queue, SimulatedCompletionQueue) or queue.device is not device:
                raise VerbsError(_("The completion queue belongs to another NIC."), errno=errno.EINVAL)
            if queue.destroyed:
                raise VerbsError(_("The completion queue has been destroyed."), errno=errno.EINVAL)
            queues.append(queue)
        pair = SimulatedQueuePair(self, queues[0], queues[1], qp_type, limits)
        device.queue_pairs[pair.qp_num] = pair
        return pair

    def dealloc(self) -> None:
        """Give it back; EBUSY while it has regions or queue pairs."""
        device = self.device
        used = [region for region in device.regions.values() if region.domain is self]
        pairs = [pair for pair in device.queue_pairs.values() if pair.domain is self]
        if used or pairs:
            raise VerbsError(
                _("The protection domain has {regions} regions and {pairs} queue pairs.").format(
                    regions=len(used), pairs=len(pairs)
                ),
                _("Deregister and destroy them first."),
                errno=errno.EBUSY,
            )
        device.domains.discard(self)
