"""A CUDA driver and a CuPy that note what they are asked; memory is this process's own."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

ODD_BYTES = 512  # CuPy's and CUDA's least alignment


class FakeDriver:
    """``libcuda.so.1``, with the calls that gdviz makes."""

    def __init__(self, **refusals: int) -> None:
        self.refusals = refusals
        self.calls: list[tuple[Any, ...]] = []
        self.attributes = {118: 0, 117: 1}

    def cuMemGetHandleForAddressRange(self, fd, address, length, kind, flags) -> int:
        self.calls.append(("export", address.value, length.value, kind.value, flags.value))
        if flags.value and "pcie" in self.refusals:
            return self.refusals["pcie"]
        if "export" in self.refusals:
            return self.refusals["export"]
        import os

        fd._obj.value = os.memfd_create("dma-buf")
        return 0

    def cuPointerSetAttribute(self, value, attribute, address) -> int:
        self.calls.append(("set", attribute.value, address.value))
        return 0

    def cuDeviceGet(self, device, ordinal) -> int:
        device._obj.value = ordinal.value
        return 0

    def cuDeviceGetAttribute(self, value, attribute, device) -> int:
        value._obj.value = self.attributes[attribute.value]
        return 0

    def cuFlushGPUDirectRDMAWrites(self, target, scope) -> int:
        self.calls.append(("flush", target.value, scope.value))
        return 0

    def cuGetErrorName(self, code, text) -> int:
        text._obj.value = {801: b"CUDA_ERROR_NOT_SUPPORTED"}.get(code, b"CUDA_ERROR_OTHER")
        return 0


class FakeMemory:
    """``cupy.cuda.Memory``: begins at an address that is not well aligned, as the driver may."""

    def __init__(self, size: int) -> None:
        self._held = ctypes.create_string_buffer(b"\x77" * (size + ODD_BYTES), size + ODD_BYTES)
        base = ctypes.addressof(self._held)
        self.ptr = base + (-base) % ODD_BYTES
        self.size = size


class FakeCupy:
    """As much of CuPy as is used."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.pending: list[tuple[int, int, int]] = []
        runtime = SimpleNamespace(
            CUDARuntimeError=type("CUDARuntimeError", (RuntimeError,), {}),
            deviceGetByPCIBusId=lambda busid: 3,
            memset=lambda address, value, size: ctypes.memset(address, value, size),
            memcpy=lambda to, source, size, kind: ctypes.memmove(to, source, size),
            memcpyAsync=lambda *arguments: self._later(*arguments),
            deviceSynchronize=lambda: self.calls.append(("synchronise",)),
            hostRegister=lambda *arguments: self.calls.append(("pin", *arguments)),
            hostUnregister=lambda *arguments: self.calls.append(("unpin", *arguments)),
        )
        self.cuda = SimpleNamespace(
            runtime=runtime,
            Memory=FakeMemory,
            Device=_Context,
            Stream=_Stream,
            Event=lambda **_: _Event(self),
        )

    def _later(self, to: int, source: int, size: int, kind: int, stream: int) -> None:
        self.calls.append(("copy", size, kind))
        self.pending.append((to, source, size))

    def finish_copies(self) -> None:
        """Let copies that have been started end."""
        for to, source, size in self.pending:
            ctypes.memmove(to, source, size)
        self.pending.clear()


class _Context:
    def __init__(self, *_arguments: Any) -> None:
        pass

    def __enter__(self) -> _Context:
        return self

    def __exit__(self, *exc: object) -> None:
        pass


class _Stream(_Context):
    ptr = 9

    def __init__(self, **_options: Any) -> None:
        pass


class _Event:
    def __init__(self, cupy: FakeCupy) -> None:
        self._cupy = cupy

    def record(self, stream: Any) -> None:
        pass

    @property
    def done(self) -> bool:
        return not self._cupy.pending
