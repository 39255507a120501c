"""One look at the host: plain facts, no judgement, nothing opened and nothing changed."""

from __future__ import annotations

import ctypes.util
import importlib.util
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

#: Interfaces on which nobody would put soft-RoCE.
_NO_NETDEV = ("lo", "docker", "veth", "br-", "virbr", "tun", "tap", "wl", "cni", "flannel", "cali")


@dataclass(frozen=True, slots=True)
class Probe:
    """What was found; every field is a fact that a test can make up.

    Attributes
    ----------
    system, host
        ``linux``, and the host's name.
    rdma_devices
        Names in ``/sys/class/infiniband``.
    verbs_files
        Device files in ``/dev/infiniband`` by which programs reach them.
    verbs_allowed
        Whether this user may open them.
    memlock_bytes
        Limit of locked memory; None: unlimited.
    binding
        Name and version of the Python binding that can be used; empty where none can.
    binding_error
        Why none can, with its remedy.
    netdevs
        Network interfaces that soft-RoCE could use, those with a cable first.
    has_rxe
        Whether the running kernel has soft-RoCE's module; None where that cannot be seen.
    is_root, in_container
        Of this process.
    gpus
        Bus ids that NVIDIA's driver knows.
    has_cuda, cupy, nvml
        libcuda; versions of CuPy and nvidia-ml-py, empty where they are missing.
    has_peermem, open_driver
        Whether nvidia_peermem is loaded, and whether the driver's kernel modules are the open ones (None
        where there is no driver).
    """

    system: str = "linux"
    host: str = "host"
    rdma_devices: tuple[str, ...] = ()
    verbs_files: tuple[str, ...] = ()
    verbs_allowed: bool = True
    memlock_bytes: int | None = None
    binding: str = ""
    binding_error: str = ""
    netdevs: tuple[str, ...] = ()
    has_rxe: bool | None = None
    is_root: bool = False
    in_container: bool = False
    gpus: tuple[str, ...] = ()
    has_cuda: bool = False
    cupy: str = ""
    nvml: str = ""
    has_peermem: bool = False
    open_driver: bool | None = None


def look(root: str | os.PathLike[str] = "/") -> Probe:
    """Look at a host's files below a root, and at this Python's packages."""
    top = Path(root)
    binding, trouble = _binding()
    files = _names(top / "dev/infiniband", "uverbs")
    return Probe(
        system=sys.platform,
        host=os.uname().nodename if hasattr(os, "uname") else "host",
        rdma_devices=_names(top / "sys/class/infiniband"),
        verbs_files=files,
        verbs_allowed=all(os.access(top / "dev/infiniband" / name, os.R_OK | os.W_OK) for name in files),
        memlock_bytes=_memlock(),
        binding=binding,
        binding_error=trouble,
        netdevs=_netdevs(top),
        has_rxe=_has_rxe(top),
        is_root=hasattr(os, "geteuid") and os.geteuid() == 0,
        in_container=_exists(top, (".dockerenv", "run/.containerenv")),
        gpus=_names(top / "proc/driver/nvidia/gpus"),
        has_cuda=ctypes.util.find_library("cuda") is not None,
        cupy=_version(("cupy", "cupy-cuda12x", "cupy-cuda13x"), "cupy"),
        nvml=_version(("nvidia-ml-py",), "pynvml"),
        has_peermem=_exists(top, ("sys/module/nvidia_peermem", "sys/kernel/mm/memory_peers/nv_mem/version")),
        open_driver=_open_driver(top),
    )


def _names(folder: Path, begin: str = "") -> tuple[str, ...]:
    try:
        return tuple(sorted(name for name in os.listdir(folder) if name.startswith(begin)))  # noqa: PTH208
    except OSError:
        return ()


def _exists(top: Path, names: Iterable[str]) -> bool:
    return any((top / name).exists() for name in names)


def _memlock() -> int | None:
    try:
        import resource
    except ImportError:
        return None
    soft, _hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    return None if soft == resource.RLIM_INFINITY else soft


def _binding() -> tuple[str, str]:
    from gdviz.errors import MissingDependencyError
    from gdviz.rdma.hardware.backends.choose import choose

    try:
        backend = choose()
    except MissingDependencyError as error:
        return "", str(error)
    return f"{backend.name} {getattr(backend, 'version', '')}".strip(), ""


def _netdevs(top: Path) -> tuple[str, ...]:
    found = []
    for name in _names(top / "sys/class/net"):
        if name.startswith(_NO_NETDEV):
            continue
        carrier = _text(top / "sys/class/net" / name / "carrier") == "1"
        found.append((not carrier, name))
    return tuple(name for _without, name in sorted(found))


def _has_rxe(top: Path) -> bool | None:
    if (top / "sys/module/rdma_rxe").exists():
        return True
    release = os.uname().release if hasattr(os, "uname") else ""
    listed = _text(top / "lib/modules" / release / "modules.dep")
    return "/rdma_rxe.ko" in listed if listed else None


def _open_driver(top: Path) -> bool | None:
    text = _text(top / "proc/driver/nvidia/version")
    return "Open Kernel Module" in text if text else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _version(distributions: Iterable[str], module: str) -> str:
    if importlib.util.find_spec(module) is None:
        return ""
    for name in distributions:
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return "?"
