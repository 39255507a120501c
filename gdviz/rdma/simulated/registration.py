"""Registering memory with a NIC: what may refuse it, in the order in which a real host would.

Errnos and remedies are those that people meet: EINVAL from the core's check of access flags, EFAULT from
``ibv_reg_mr`` on a GPU pointer without nvidia-peermem, EOPNOTSUPP from dma-buf, ENOMEM from a full BAR1,
the memlock limit, or an IOMMU that translates.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from gdviz.errors import RegistrationError
from gdviz.machine import Gpu
from gdviz.messages import _
from gdviz.quantities import format_size
from gdviz.rdma.flags import AccessFlags
from gdviz.rdma.provider import GPU_PAGE_BYTES, HOST_PAGE_BYTES
from gdviz.rdma.ranges import check_range
from gdviz.rdma.simulated.buffers import SimulatedBuffer
from gdviz.rdma.simulated.spaces import AddressSpace
from gdviz.rdma.translation import Extent, How, Translation

if TYPE_CHECKING:
    from gdviz.rdma.simulated.devices import SimulatedDevice

#: What one region of GPU memory may have where the IOMMU translates: reports of ENOMEM above, and of
#: chunks of this size as the way around.
IOMMU_GPU_REGION_BYTES = 2**30

_REMOTE_WRITES = AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_ATOMIC
_NOT_OFFERED = AccessFlags.ZERO_BASED | AccessFlags.ON_DEMAND


class Pinned:
    """Pages of a buffer that a NIC can reach, and what to give back when it no longer shall."""

    def __init__(self, translation: Translation) -> None:
        self.translation = translation
        self._taken: list[tuple[AddressSpace, list[tuple[int, int]]]] = []

    def hold(self, space: AddressSpace, pieces: list[tuple[int, int]]) -> None:
        """Note pieces of an address space for `release`."""
        self._taken.append((space, pieces))

    def release(self) -> None:
        """Give everything back."""
        for space, pieces in self._taken:
            space.give(pieces)
        self._taken.clear()


def check_access(access: AccessFlags) -> None:
    """Refuse flags that do not go together, or that no simulated NIC has."""
    if access & _REMOTE_WRITES and not access & AccessFlags.LOCAL_WRITE:
        raise RegistrationError(
            _("Remote writes or atomics without local_write are refused: EINVAL (22)."),
            _("Add local_write."),
            errno=errno.EINVAL,
        )
    if access & _NOT_OFFERED:
        raise RegistrationError(
            _("The simulated NIC does not offer {flags}: EOPNOTSUPP (95).").format(
                flags=(access & _NOT_OFFERED).text
            ),
            errno=errno.EOPNOTSUPP,
        )


def pin(device: SimulatedDevice, buffer: SimulatedBuffer, offset: int, length: int) -> Pinned:
    """Pin a range of a buffer for a NIC.

    Raises
    ------
    RegistrationError
        With the errno of a real host.
    """
    check_range(buffer, offset, length)
    if buffer.location.kind == "gpu":
        return _pin_gpu(device, buffer, offset, length)
    return _pin_host(device, buffer, offset, length)


def _pages(offset: int, length: int, page_bytes: int) -> tuple[int, int]:
    """Return the start and the length of the whole pages around a range."""
    start = offset - offset % page_bytes
    end = -(-(offset + length) // page_bytes) * page_bytes
    return start, end - start


def _pin_host(device: SimulatedDevice, buffer: SimulatedBuffer, offset: int, length: int) -> Pinned:
    provider = device.provider
    start, span = _pages(offset, length, HOST_PAGE_BYTES)
    limit = provider.settings.memlock_bytes
    pinned = provider.pinned_host_bytes()
    if limit is not None and pinned + span > limit:
        raise RegistrationError(
            _("{size} more would pass the memlock limit of {limit} ({used} pinned): ENOMEM (12).").format(
                size=format_size(span), limit=format_size(limit), used=format_size(pinned)
            ),
            _("Raise it: `ulimit -l unlimited`, or `--ulimit memlock=-1` for a container."),
            errno=errno.ENOMEM,
        )
    # A host page's bus address is its physical address.
    physical = [(address, address, size) for address, size in _cut(buffer.physical, start, span)]
    return _translated(device, buffer, "host pages", HOST_PAGE_BYTES, start, span, physical)


def _pin_gpu(device: SimulatedDevice, buffer: SimulatedBuffer, offset: int, length: int) -> Pinned:
    provider = device.provider
    gpu = provider.machine.gpu(buffer.location.part)
    how = _how(device, gpu)
    start, span = _pages(offset, length, GPU_PAGE_BYTES)
    if provider.settings.iommu == "translate" and span > IOMMU_GPU_REGION_BYTES:
        raise RegistrationError(
            _("The IOMMU translates; {size} of GPU memory in one region are too much: ENOMEM (12).").format(
                size=format_size(span)
            ),
            _("Boot with iommu=pt, or register chunks of {size}.").format(
                size=format_size(IOMMU_GPU_REGION_BYTES)
            ),
            errno=errno.ENOMEM,
        )
    window = provider.bar1(gpu.id)
    bar = window.take(span)
    if bar is None:
        raise RegistrationError(
            _(
                "BAR1 full: {size} do not fit into the BAR1 window of GPU {gpu} ({free} of {all} are free): "
                "ENOMEM (12)."
            ).format(
                size=format_size(span),
                gpu=gpu.index,
                free=format_size(window.free_bytes),
                all=format_size(window.size_bytes),
            ),
            _("Deregister regions, register less, or enable Resizable BAR (Above 4G Decoding) in the BIOS."),
            errno=errno.ENOMEM,
        )
    pages = _side_by_side(_cut(buffer.physical, start, span), bar)
    pinned = _translated(device, buffer, how, GPU_PAGE_BYTES, start, span, pages)
    pinned.hold(window, bar)
    return pinned


#: NCCL writes gdr="0" for a part that cannot, and for any part of a host that lacks the way to it.
_GDR_0 = _(
    "NCCL writes that where the device cannot, or where neither dma-buf nor nvidia-peermem was there. "
    "Take another device, or a buffer in host memory."
)


def _how(device: SimulatedDevice, gpu: Gpu) -> How:
    """Return what pins GPU memory here, or refuse: dma-buf is tried first, then nvidia-peermem."""
    settings = device.provider.settings
    if gpu.gdr is False:
        code = errno.EOPNOTSUPP if settings.dma_buf else errno.EFAULT
        raise RegistrationError(
            _("GPU {gpu} ({name}) cannot be reached by the NIC: {error}. Its file says gdr=0.").format(
                gpu=gpu.index, name=gpu.name, error=f"{errno.errorcode[code]} ({code})"
            ),
            _GDR_0,
            errno=code,
        )
    if device.nic.gdr is False:
        raise RegistrationError(
            _("NIC {nic} ({model}) cannot reach GPU memory: EOPNOTSUPP (95). Its file says gdr=0.").format(
                nic=device.nic.name, model=device.nic.model
            ),
            _GDR_0,
            errno=errno.EOPNOTSUPP,
        )
    if settings.dma_buf:
        return "dma-buf"
    if settings.peermem:
        return "nvidia-peermem"
    raise RegistrationError(
        _(
            "GPU memory cannot be registered on {node}. By dma-buf: EOPNOTSUPP (95), kernel, driver or NIC "
            "do not support it. By nvidia-peermem: EFAULT (14), the module is not loaded."
        ).format(node=device.provider.node),
        _(
            "Either `modprobe nvidia-peermem`, or dma-buf: kernel 5.12 or later, open GPU kernel modules, "
            "rdma-core 34 or later."
        ),
        errno=errno.EFAULT,
    )


def _cut(pieces: list[tuple[int, int]], start: int, span: int) -> list[tuple[int, int]]:
    """Return the part of consecutive pieces from `start`, `span` bytes long."""
    found: list[tuple[int, int]] = []
    for address, length in pieces:
        first, last = max(0, start), min(length, start + span)
        if first < last:
            found.append((address + first, last - first))
        start -= length
    return found


def _side_by_side(left: list[tuple[int, int]], right: list[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Join two lists of pieces, equally long in all, into (address, address, length)."""
    joined: list[tuple[int, int, int]] = []
    first, second = list(reversed(left)), list(reversed(right))
    while first and second:
        (a, a_length), (b, b_length) = first.pop(), second.pop()
        part = min(a_length, b_length)
        joined.append((a, b, part))
        if a_length > part:
            first.append((a + part, a_length - part))
        if b_length > part:
            second.append((b + part, b_length - part))
    return joined


def _translated(
    device: SimulatedDevice,
    buffer: SimulatedBuffer,
    how: How,
    page_bytes: int,
    start: int,
    span: int,
    pages: list[tuple[int, int, int]],
) -> Pinned:
    iova: int | None = None
    taken = None
    if device.provider.settings.iommu == "translate":
        # The IOMMU joins scattered pages to one range.
        taken = device.iovas.take(span, whole=True)
        if taken is None:
            raise RegistrationError(
                _("The IOMMU has no address range left: ENOMEM (12)."), errno=errno.ENOMEM
            )
        iova = taken[0][0]
    virtual = buffer.address + start
    extents: list[Extent] = []
    for page, bus, length in pages:
        extents.append(Extent(virtual, page, bus, iova, length))
        virtual += length
        iova = None if iova is None else iova + length
    pinned = Pinned(Translation(how, page_bytes, tuple(extents)))
    if taken is not None:
        pinned.hold(device.iovas, taken)
    return pinned
