"""What the running kernel and this process's rights are, from files alone."""

from __future__ import annotations

import gzip
import re
import zlib
from pathlib import Path

#: Bits of a process's capabilities (linux/capability.h): it may set up networks, lock memory without a
#: limit, load modules.
NET_ADMIN, IPC_LOCK, SYS_MODULE = 1 << 12, 1 << 14, 1 << 16


def text_of(path: Path) -> str:
    """Return a file's text without blanks around it, empty where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def capabilities(top: Path) -> int | None:
    """Return this process's capabilities; None where the kernel does not say."""
    found = re.search(r"^CapEff:\s*([0-9a-fA-F]+)", text_of(top / "proc/self/status"), re.MULTILINE)
    return None if found is None else int(found[1], 16)


def memlock_bytes(top: Path) -> int | None:
    """Return how much memory may be locked; None: as much as one likes."""
    try:
        import resource
    except ImportError:
        return None
    if (capabilities(top) or 0) & IPC_LOCK:
        return None
    soft, _hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    return None if soft == resource.RLIM_INFINITY else soft


def has_soft_roce(top: Path, release: str) -> bool | None:
    """Return whether a kernel has soft-RoCE, loaded, built in or as a module; None where nothing tells.

    Parameters
    ----------
    release
        The running kernel's, whose modules are looked through.
    """
    if (top / "sys/module/rdma_rxe").exists():
        return True
    folder = top / "lib/modules" / release
    listed = text_of(folder / "modules.dep") + text_of(folder / "modules.builtin")
    if listed:
        return "/rdma_rxe.ko" in listed
    config = _unpacked(top / "proc/config.gz") or text_of(top / f"boot/config-{release}")
    return bool(re.search(r"^CONFIG_RDMA_RXE=[ym]$", config, re.MULTILINE)) if config else None


def version_of(release: str) -> tuple[int, int] | None:
    """Return a kernel's version, ``(6, 1)`` of ``6.1.0-37-amd64``."""
    found = re.match(r"(\d{1,4})\.(\d{1,4})", release)
    return None if found is None else (int(found[1]), int(found[2]))


def _unpacked(path: Path) -> str:
    try:
        return gzip.decompress(path.read_bytes()).decode(errors="replace")
    except (OSError, EOFError, zlib.error):
        return ""
