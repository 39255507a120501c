"""One look at the host: plain facts, no judgement, nothing opened and nothing changed."""

from __future__ import annotations

import ctypes.util
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gdviz.nodes.discovery import kernel, packages
from gdviz.rdma.hardware.backends.choose import Tried, libibverbs_has, libibverbs_version, try_all

#: Interfaces on which nobody would put soft-RoCE.
_NO_NETDEV = (
    "lo", "docker", "veth", "br-", "virbr", "tun", "tap", "cni", "flannel", "cali", "ifb", "dummy", "wg",
)  # fmt: skip

#: PCI vendors: NVIDIA's NICs (Mellanox), and NVIDIA's GPUs.
_MELLANOX, _NVIDIA = "0x15b3", "0x10de"


@dataclass(frozen=True, slots=True)
class Port:
    """A port of an RDMA device and its state, such as ``ACTIVE``."""

    device: str
    number: int
    state: str


@dataclass(frozen=True, slots=True)
class Probe:
    """What was found; every field is a fact that a test can make up.

    Attributes
    ----------
    system, host
        ``linux``, and the host's name.
    family
        Of the distribution, by how packages are installed: ``debian``, ``rhel``, or empty.
    rdma_devices, ports
        Names in ``/sys/class/infiniband``, and their ports.
    cards
        Bus ids of NICs made by Mellanox or NVIDIA, whether they have an RDMA device or not.
    verbs_files
        Device files in ``/dev/infiniband`` by which programs reach them.
    verbs_allowed
        Whether this user may open them.
    memlock_bytes
        Limit of locked memory; None: unlimited, or this process may pass it.
    libibverbs
        Which libibverbs there is, by its private symbols: ``34``; empty where it is not found.
    registers_dmabuf
        Whether that libibverbs can register a dma-buf.
    bindings
        The Python bindings of libibverbs; those that can be used have no error.
    unseen_pyverbs, own_packages
        Folder of the distribution's pyverbs, where this Python could use it but does not see it; and folder
        of this Python's own packages.
    netdevs
        Network interfaces that soft-RoCE could use, the best first.
    kernel
        Release of the running kernel, ``6.1.0-37-amd64``.
    has_rxe
        Whether that kernel has soft-RoCE; None where that cannot be seen.
    is_root, in_container
        Of this process.
    may_change_kernel
        Whether root may load modules and set up networks here; containers and sandboxes often forbid it.
    pci_gpus, gpus
        Bus ids of NVIDIA's GPUs on the bus, and of those that its driver knows.
    has_cuda, cupy, nvml
        libcuda; versions of CuPy and nvidia-ml-py, empty where they are missing.
    has_peermem, open_driver
        Whether nvidia_peermem is loaded, and whether the driver's kernel modules are the open ones (None
        where there is no driver).
    """

    system: str = "linux"
    host: str = "host"
    family: str = ""
    rdma_devices: tuple[str, ...] = ()
    ports: tuple[Port, ...] = ()
    cards: tuple[str, ...] = ()
    verbs_files: tuple[str, ...] = ()
    verbs_allowed: bool = True
    memlock_bytes: int | None = None
    libibverbs: str = ""
    registers_dmabuf: bool = True
    bindings: tuple[Tried, ...] = ()
    unseen_pyverbs: str = ""
    own_packages: str = ""
    netdevs: tuple[str, ...] = ()
    kernel: str = ""
    has_rxe: bool | None = None
    is_root: bool = False
    in_container: bool = False
    may_change_kernel: bool = True
    pci_gpus: tuple[str, ...] = ()
    gpus: tuple[str, ...] = ()
    has_cuda: bool = False
    cupy: str = ""
    nvml: str = ""
    has_peermem: bool = False
    open_driver: bool | None = None


def look(root: str | os.PathLike[str] = "/") -> Probe:
    """Look at a host's files below a root, and at this process and its Python's packages."""
    top = Path(root)
    files = _names(top / "dev/infiniband", "uverbs")
    host, release = (os.uname().nodename, os.uname().release) if hasattr(os, "uname") else ("host", "")
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    return Probe(
        system=sys.platform,
        host=host,
        family=_family(kernel.text_of(top / "etc/os-release")),
        rdma_devices=_names(top / "sys/class/infiniband"),
        ports=_ports(top / "sys/class/infiniband"),
        cards=_on_the_bus(top, _MELLANOX, "0x02"),
        verbs_files=files,
        verbs_allowed=all(os.access(top / "dev/infiniband" / name, os.R_OK | os.W_OK) for name in files),
        memlock_bytes=kernel.memlock_bytes(top),
        libibverbs=libibverbs_version(),
        registers_dmabuf=libibverbs_has("ibv_reg_dmabuf_mr"),
        bindings=try_all(),
        unseen_pyverbs=packages.unseen_pyverbs(top),
        own_packages=packages.own_packages(),
        netdevs=_netdevs(top / "sys/class/net"),
        kernel=release,
        has_rxe=kernel.has_soft_roce(top, release),
        is_root=is_root,
        in_container=_exists(top, (".dockerenv", "run/.containerenv", "run/systemd/container")),
        may_change_kernel=not is_root or _may_change_kernel(top),
        pci_gpus=_on_the_bus(top, _NVIDIA, "0x03"),
        gpus=_names(top / "proc/driver/nvidia/gpus"),
        has_cuda=ctypes.util.find_library("cuda") is not None,
        cupy=packages.version(("cupy", "cupy-cuda12x", "cupy-cuda13x"), "cupy"),
        nvml=packages.version(("nvidia-ml-py",), "pynvml"),
        has_peermem=_exists(top, ("sys/module/nvidia_peermem", "sys/kernel/mm/memory_peers/nv_mem/version")),
        open_driver=_open_driver(kernel.text_of(top / "proc/driver/nvidia/version")),
    )


def _names(folder: Path, begin: str = "") -> tuple[str, ...]:
    try:
        return tuple(sorted(name for name in os.listdir(folder) if name.startswith(begin)))  # noqa: PTH208
    except OSError:
        return ()


def _exists(top: Path, names: Iterable[str]) -> bool:
    return any((top / name).exists() for name in names)


def _family(text: str) -> str:
    words = {
        word
        for line in text.splitlines()
        if line.startswith(("ID=", "ID_LIKE="))
        for word in line.partition("=")[2].strip("\"'").split()
    }
    if words & {"debian", "ubuntu"}:
        return "debian"
    return "rhel" if words & {"rhel", "fedora", "centos"} else ""


def _ports(folder: Path) -> tuple[Port, ...]:
    found = []
    for device in _names(folder):
        for number in _names(folder / device / "ports"):
            # The file says '4: ACTIVE'.
            state = kernel.text_of(folder / device / "ports" / number / "state").rpartition(":")[2].strip()
            if number.isdecimal():
                found.append(Port(device, int(number), state))
    return tuple(found)


def _on_the_bus(top: Path, vendor: str, kind: str) -> tuple[str, ...]:
    """Return the bus ids of a vendor's physical functions of a class."""
    devices = top / "sys/bus/pci/devices"
    return tuple(
        busid
        for busid in _names(devices)
        if kernel.text_of(devices / busid / "vendor") == vendor
        and kernel.text_of(devices / busid / "class").startswith(kind)
    )


def _may_change_kernel(top: Path) -> bool:
    held = kernel.capabilities(top)
    wanted = kernel.NET_ADMIN | kernel.SYS_MODULE
    return held is None or held & wanted == wanted


def _netdevs(folder: Path) -> tuple[str, ...]:
    found = []
    for name in _names(folder):
        if not name.startswith(_NO_NETDEV):
            carrier = kernel.text_of(folder / name / "carrier") == "1"
            found.append((not carrier, name.startswith("wl"), name))
    return tuple(name for _down, _wireless, name in sorted(found))


def _open_driver(text: str) -> bool | None:
    return "Open Kernel Module" in text if text else None
