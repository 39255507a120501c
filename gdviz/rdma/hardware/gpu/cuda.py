"""The few calls of the CUDA driver that CuPy does not have, by ctypes on ``libcuda.so.1``.

Numbers are those of ``cuda.h``.
"""

from __future__ import annotations

import ctypes
import ctypes.util
from functools import cache
from typing import Any

from gdviz.errors import GdvizError
from gdviz.messages import _

#: CUmemRangeHandleType, and the flag that asks for a mapping through PCIe (CUDA 12.8).
DMA_BUF_FD, MAPPING_PCIE = 1, 1

#: CUpointer_attribute: copies on this memory are synchronous, so that a NIC never sees a copy half done.
SYNC_MEMOPS = 6

#: CUdevice_attribute: which flushes the device knows, and how far it orders a NIC's writes by itself.
FLUSH_WRITES_OPTIONS, WRITES_ORDERING, DMA_BUF_SUPPORTED = 117, 118, 124

#: CUflushGPUDirectRDMAWritesOptions; scopes of the flush and of the ordering.
FLUSH_HOST, TO_OWNER = 1, 100
CURRENT_CONTEXT = 0


class CudaError(GdvizError):
    """A call of the CUDA driver failed; `code` is its CUresult."""

    def __init__(self, call: str, code: int, name: str) -> None:
        super().__init__(_("{call} fails: {name} ({code}).").format(call=call, name=name, code=code))
        self.code = code
        self.name = name


@cache
def library() -> Any:
    """Return the driver's library.

    Raises
    ------
    GdvizError
        There is none.
    """
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise GdvizError(
            _("There is no CUDA driver here: {error}.").format(error=error),
            _("Install NVIDIA's driver, or use host memory."),
        ) from error


def _call(name: str, *arguments: Any) -> None:
    driver = library()
    code = int(getattr(driver, name)(*arguments))
    if code:
        text = ctypes.c_char_p()
        driver.cuGetErrorName(code, ctypes.byref(text))
        raise CudaError(name, code, text.value.decode() if text.value else "?")


def export_dma_buf(address: int, length: int) -> int:
    """Return a file descriptor of a dma-buf over whole pages of GPU memory; the caller closes it.

    Tried through PCIe first: on machines where GPU and CPU are joined otherwise (NVLink-C2C), the plain
    handle may be of no use to a NIC. Drivers before CUDA 12.8 do not know the flag.

    Raises
    ------
    CudaError
        The driver, the kernel or the device cannot, or the memory is not of a kind that can be exported.
    """
    fd = ctypes.c_int(-1)
    for flags in (MAPPING_PCIE, 0):
        try:
            _call(
                "cuMemGetHandleForAddressRange",
                ctypes.byref(fd),
                ctypes.c_ulonglong(address),
                ctypes.c_size_t(length),
                ctypes.c_int(DMA_BUF_FD),
                ctypes.c_ulonglong(flags),
            )
        except CudaError:
            if not flags:
                raise
        else:
            return fd.value
    raise AssertionError  # the last attempt returns or raises


def set_sync_memops(address: int) -> None:
    """Make copies on this memory synchronous."""
    yes = ctypes.c_uint(1)
    _call("cuPointerSetAttribute", ctypes.byref(yes), ctypes.c_int(SYNC_MEMOPS), ctypes.c_ulonglong(address))


def device_attribute(gpu: int, attribute: int) -> int:
    """Return an attribute of a device, by its CUDA ordinal."""
    value, device = ctypes.c_int(0), ctypes.c_int(0)
    _call("cuDeviceGet", ctypes.byref(device), ctypes.c_int(gpu))
    _call("cuDeviceGetAttribute", ctypes.byref(value), ctypes.c_int(attribute), device)
    return value.value


def flush_inbound(gpu: int) -> bool:
    """Make what a NIC has written visible to work that is launched from here on; whether a call was needed.

    After a completion the data may still be on their way within the GPU, unless the device orders a NIC's
    writes for its owner by itself. The current context must be the memory's.
    """
    if device_attribute(gpu, WRITES_ORDERING) >= TO_OWNER:
        return False
    if not device_attribute(gpu, FLUSH_WRITES_OPTIONS) & FLUSH_HOST:
        return False
    _call("cuFlushGPUDirectRDMAWrites", ctypes.c_int(CURRENT_CONTEXT), ctypes.c_int(TO_OWNER))
    return True
