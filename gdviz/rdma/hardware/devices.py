"""Real NICs and their protection domains."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from gdviz.errors import RegistrationError, VerbsError
from gdviz.machine import Nic
from gdviz.messages import _
from gdviz.quantities import format_size
from gdviz.rdma.flags import Access, AccessFlags
from gdviz.rdma.hardware.backends.base import Capacity
from gdviz.rdma.hardware.buffers import HardwareBuffer
from gdviz.rdma.hardware.queue_pairs import HardwareCompletionQueue, HardwareQueuePair
from gdviz.rdma.hardware.regions import HardwareRegion
from gdviz.rdma.provider import GPU_PAGE_BYTES, HOST_PAGE_BYTES, Buffer, CompletionQueue
from gdviz.rdma.ranges import check_range
from gdviz.rdma.states import QpType
from gdviz.rdma.translation import Extent, How, Translation

if TYPE_CHECKING:
    from gdviz.rdma.hardware.provider import HardwareProvider


class HardwareDevice:
    """A NIC that has been opened.

    Attributes
    ----------
    gid_index, mtu_bytes, lid
        Of its port.
    """

    def __init__(self, provider: HardwareProvider, nic: Nic, gid_index: int | None) -> None:
        self.provider = provider
        self.nic = nic
        self.domains: set[HardwareDomain] = set()
        self.completion_queues: set[HardwareCompletionQueue] = set()
        answer = provider.worker.call(
            "open",
            nic.name,
            nic.port,
            gid_index,
            what=_("{nic} cannot be opened").format(nic=nic.name),
            remedies={
                errno.EPERM: _("Give this user access to /dev/infiniband: add it to the group rdma."),
                errno.EACCES: _("Give this user access to /dev/infiniband: add it to the group rdma."),
                errno.ENODEV: _("`rdma link` lists the devices; `ibv_devinfo` tells of each."),
                errno.ENOSYS: _("Load the kernel's module: modprobe ib_uverbs."),
            },
        )
        self.number, self._gid, self.gid_index, self.mtu_bytes, self.lid, self.ethernet = answer

    @property
    def gid(self) -> str:
        """Its port's address in the fabric."""
        gid: str = self._gid
        return gid

    def alloc_pd(self) -> HardwareDomain:
        """Make a protection domain."""
        number = self.provider.worker.call("alloc_pd", self.number, what="ibv_alloc_pd")
        domain = HardwareDomain(self, number)
        self.domains.add(domain)
        return domain

    def create_cq(self, depth: int) -> HardwareCompletionQueue:
        """Make a completion queue of at least so many entries."""
        if depth < 1:
            raise VerbsError(_("A completion queue has at least one entry."), errno=errno.EINVAL)
        number = self.provider.worker.call("create_cq", self.number, depth, what="ibv_create_cq")
        queue = HardwareCompletionQueue(self, depth, number)
        self.completion_queues.add(queue)
        return queue


class HardwareDomain:
    """A protection domain on a real NIC."""

    def __init__(self, device: HardwareDevice, number: int) -> None:
        self.device = device
        self.number = number
        self.regions: set[HardwareRegion] = set()
        self.queue_pairs: set[HardwareQueuePair] = set()

    def register(
        self, buffer: Buffer, access: Access, *, offset: int = 0, length: int | None = None
    ) -> HardwareRegion:
        """Register memory, to the buffer's end if no length is given."""
        flags = AccessFlags.parse(access)
        held, size = self._checked(buffer, offset, length)
        number, lkey, rkey, how, pages = self.device.provider.worker.call(
            "register",
            self.number,
            held.number,
            offset,
            size,
            int(flags),
            what=_("{size} cannot be registered as {access}").format(
                size=format_size(size), access=flags.text
            ),
            error=RegistrationError,
            remedies={
                errno.EINVAL: _("Remote writes and atomics need local_write as well."),
                errno.ENOMEM: _(
                    "Raise the memlock limit: `ulimit -l unlimited`, for a container `--ulimit memlock=-1`."
                ),
                errno.EOPNOTSUPP: _("This NIC does not have one of these flags."),
            },
        )
        translation = translate(how, pages)
        return HardwareRegion(self, held, flags, offset, size, (lkey, rkey), translation, number)

    def stage(self, buffer: Buffer, *, offset: int = 0, length: int | None = None) -> HardwareRegion:
        """Name memory for the staged path alone, to the buffer's end if no length is given."""
        held, size = self._checked(buffer, offset, length)
        nothing = Translation("host pages", HOST_PAGE_BYTES, ())
        return HardwareRegion(self, held, AccessFlags(0), offset, size, (0, 0), nothing, None)

    def _checked(self, buffer: Buffer, offset: int, length: int | None) -> tuple[HardwareBuffer, int]:
        provider = self.device.provider
        if not isinstance(buffer, HardwareBuffer) or buffer.provider is not provider:
            raise RegistrationError(
                _("The buffer is not memory of {node}: EFAULT (14).").format(node=provider.node),
                _("Register it on its own node."),
                errno=errno.EFAULT,
            )
        size = buffer.size_bytes - offset if length is None else length
        check_range(buffer, offset, size)
        return buffer, size

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
    ) -> HardwareQueuePair:
        """Create a queue pair, in RESET."""
        if qp_type is not QpType.RC:
            raise VerbsError(
                _("gdviz uses RC queue pairs, not {kind}.").format(kind=qp_type.name), errno=errno.EOPNOTSUPP
            )
        queues = []
        for queue in (send_cq, recv_cq):
            if not isinstance(queue, HardwareCompletionQueue) or queue.device is not self.device:
                raise VerbsError(
                    _("The completion queue belongs to another device: EINVAL (22)."), errno=errno.EINVAL
                )
            queues.append(queue)
        limits = Capacity(max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline)
        number, qp_num = self.device.provider.worker.call(
            "create_qp",
            self.number,
            queues[0].number,
            queues[1].number,
            int(qp_type),
            limits,
            what="ibv_create_qp",
            remedies={errno.EINVAL: _("`ibv_devinfo -v` says what the device holds at most.")},
        )
        return HardwareQueuePair(self, queues[0], queues[1], qp_type, limits, number, qp_num)

    def dealloc(self) -> None:
        """Give it back; EBUSY while it has regions or queue pairs."""
        if self.regions or self.queue_pairs:
            raise VerbsError(
                _("The protection domain has {regions} regions and {pairs} queue pairs.").format(
                    regions=len(self.regions), pairs=len(self.queue_pairs)
                ),
                _("Deregister and destroy them first."),
                errno=errno.EBUSY,
            )
        self.device.provider.worker.call("give_back", self.number, what="ibv_dealloc_pd")
        self.device.domains.discard(self)


def translate(how: How, pages: list[tuple[int, int | None, int]]) -> Translation:
    """Return a translation from what the worker can know of the pages.

    Of GPU memory the physical and bus addresses are the driver's secret; of host memory the kernel tells
    them to root alone. An IOMMU's addresses are known to nobody here.
    """
    page = HOST_PAGE_BYTES if how == "host pages" else GPU_PAGE_BYTES
    extents = []
    for virtual, physical, length in pages:
        first = virtual - virtual % page
        whole = -(-(virtual + length - first) // page) * page
        extents.append(Extent(first, physical, None, None, whole))
    return Translation(how, page, tuple(extents))
