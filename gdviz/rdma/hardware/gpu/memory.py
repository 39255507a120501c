"""GPU memory of a worker: allocation, registration with a NIC, and copies for the staged path."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from gdviz.errors import AllocationError, GdvizError, MissingDependencyError, RegistrationError
from gdviz.messages import _
from gdviz.rdma.hardware.backends.base import Domain, Region
from gdviz.rdma.hardware.errnos import named
from gdviz.rdma.hardware.gpu import cuda
from gdviz.rdma.hardware.worker.memory import PAGE_BYTES, HostMemory

#: CUDA maps GPU memory in these pages. A buffer has pages of its own: a dma-buf holds whole ones.
GPU_ALLOCATION_BYTES = 2 * 2**20


def cupy() -> Any:
    """Return CuPy.

    Raises
    ------
    MissingDependencyError
        It is not installed, or finds no CUDA.
    """
    try:
        import cupy as module
    except ImportError as error:
        raise MissingDependencyError(
            _("GPU memory needs CuPy, which cannot be imported: {error}.").format(error=error),
            _("Install it: pip install 'gdviz[gpu]'."),
        ) from error
    return module


class GpuMemory:
    """Memory of one GPU, outside of CuPy's pool."""

    on_gpu = True

    def __init__(self, busid: str, size_bytes: int, align: int) -> None:
        self._cupy = cupy()
        # CUDA counts GPUs as it likes (CUDA_VISIBLE_DEVICES); the bus id is the same for everybody.
        self.gpu = gpu = int(self._cupy.cuda.runtime.deviceGetByPCIBusId(busid))
        self.size_bytes = size_bytes
        step = max(align, GPU_ALLOCATION_BYTES)
        whole = -(-size_bytes // step) * step
        runtime = self._cupy.cuda.runtime
        with self._cupy.cuda.Device(gpu):
            try:
                # The extra step leaves room to begin at a multiple of it, whatever the driver gives.
                self._memory = self._cupy.cuda.Memory(whole + step)
            except runtime.CUDARuntimeError as error:
                raise AllocationError(str(error), errno=errno.ENOMEM) from error
            self.address = -(-self._memory.ptr // step) * step
            cuda.set_sync_memops(self._memory.ptr)
            runtime.memset(self.address, 0, whole)
            runtime.deviceSynchronize()
        self._whole = whole

    def read(self, offset: int, length: int) -> bytes:
        """Return bytes, those that a NIC has just written included."""
        target = bytearray(length)
        if not length:
            return b""
        runtime = self._cupy.cuda.runtime
        with self._cupy.cuda.Device(self.gpu):
            with suppress(GdvizError):  # an old driver: the synchronisation below does it there
                cuda.flush_inbound(self.gpu)
            runtime.deviceSynchronize()
            anchor = (ctypes.c_char * length).from_buffer(target)
            runtime.memcpy(ctypes.addressof(anchor), self.address + offset, length, _TO_HOST)
        return bytes(target)

    def write(self, offset: int, data: bytes) -> None:
        """Put bytes there; when this returns, a NIC may send them."""
        if not data:
            return
        runtime = self._cupy.cuda.runtime
        source = (ctypes.c_char * len(data)).from_buffer_copy(data)
        with self._cupy.cuda.Device(self.gpu):
            runtime.memcpy(self.address + offset, ctypes.addressof(source), len(data), _TO_DEVICE)
            runtime.deviceSynchronize()

    def close(self) -> None:
        """Give it back; nothing may be registered."""
        with self._cupy.cuda.Device(self.gpu):
            del self._memory


_TO_DEVICE, _TO_HOST = 1, 2  # cudaMemcpyKind


def register(
    domain: Domain, memory: GpuMemory, offset: int, length: int, access: int
) -> tuple[Region, str, Callable[[], None] | None]:
    """Register GPU memory: by dma-buf, and where that fails by nvidia-peermem.

    Returns
    -------
    tuple
        The region, how it was done, and what is to be called after its deregistration.

    Raises
    ------
    RegistrationError
        Neither way is there; it says both errors.
    """
    address = memory.address + offset
    start = address - address % PAGE_BYTES
    end = -(-(address + length) // PAGE_BYTES) * PAGE_BYTES
    fd = -1
    try:
        fd = cuda.export_dma_buf(start, end - start)
        region = domain.register_dmabuf(fd, address - start, length, address, access)
    except (GdvizError, OSError, NotImplementedError) as error:
        by_dma_buf = _told(error)
        code = error.errno if isinstance(error, OSError) else None
        if fd >= 0:
            os.close(fd)
    else:
        # The file stays open as long as the region: some drivers look at it again when it is given up.
        return region, "dma-buf", lambda: os.close(fd)
    try:
        return domain.register(address, length, access), "nvidia-peermem", None
    except OSError as error:
        raise RegistrationError(
            _("GPU memory cannot be registered. By dma-buf: {first}; by nvidia-peermem: {second}.").format(
                first=by_dma_buf, second=_told(error)
            ),
            _(
                "Either `modprobe nvidia-peermem`, or dma-buf: kernel 5.12 or later, open GPU kernel "
                "modules, rdma-core 34 or later, and the binding `pip install 'gdviz[rdma]'`."
            ),
            errno=error.errno or code or errno.EFAULT,
        ) from error


def _told(error: BaseException) -> str:
    if isinstance(error, OSError) and error.errno:
        return f"{named(error.errno)}, {os.strerror(error.errno)}"
    return str(error).rstrip(".")


class _Copied:
    def __init__(self, event: Any) -> None:
        self._event = event

    @property
    def done(self) -> bool:
        return bool(self._event.done)


def copier(memory: GpuMemory, bounce: HostMemory) -> Callable[[Any, int, Any, int, int], Any]:
    """Return what starts copies between a GPU's memory and a bounce buffer, on a stream of their own.

    The bounce buffer is pinned for CUDA once: only then do copies run beside everything else.
    """
    module = cupy()
    runtime = module.cuda.runtime
    with module.cuda.Device(memory.gpu):
        stream = module.cuda.Stream(non_blocking=True)
        if not bounce.before_close:
            runtime.hostRegister(bounce.address, bounce.size_bytes, 0)
            bounce.before_close.append(lambda: runtime.hostUnregister(bounce.address))

    def start(target: Any, to: int, source: Any, begin: int, length: int) -> _Copied:
        kind = _TO_HOST if source.on_gpu else _TO_DEVICE
        with module.cuda.Device(memory.gpu), stream:
            arguments = (target.address + to, source.address + begin, length, kind, stream.ptr)
            runtime.memcpyAsync(*arguments)
            event = module.cuda.Event(disable_timing=True)
            event.record(stream)
        return _Copied(event)

    return start
