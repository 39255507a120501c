"""The kernel and the first file system of a guest, made from Debian's packages.

The kernel's package is unpacked, not installed. The initramfs holds busybox, the modules for virtio, 9p,
overlay and soft-RoCE, and `init.sh`, which mounts this machine's own root (read-only, below a RAM disk) and
runs the job there: so a guest has every program that the machine has, and can spoil nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent

#: What has to be installed, by the program or file that shows it.
NEEDED = {
    "qemu-system-x86_64": "qemu-system-x86",
    "busybox": "busybox-static",
    "depmod": "kmod",
    "cpio": "cpio",
    "rdma": "iproute2",
    "ib_write_bw": "perftest",
    "ibv_devices": "ibverbs-utils",
    "apt-get": "apt",
}

#: Loaded in this order; each brings its dependencies. Without crc32_generic soft-RoCE refuses its network.
MODULES = (
    "virtio_pci",
    "virtio_net",
    "9p",
    "9pnet_virtio",
    "overlay",
    "crc32_generic",
    "rdma_rxe",
    "ib_uverbs",
    "rdma_ucm",
    "veth",
)


@dataclass(frozen=True)
class Image:
    """A kernel and its initramfs."""

    kernel: Path
    initramfs: Path


def missing() -> str:
    """Return why no guest can be started here, empty if one can."""
    if not shutil.which("dpkg"):
        return "guests are made from Debian's packages, and this is no Debian"
    absent = [package for program, package in NEEDED.items() if not shutil.which(program)]
    return f"not installed: {', '.join(sorted(absent))} (scripts/install-debian.sh)" if absent else ""


def build(folder: Path) -> Image:
    """Return the image in a folder; it is made on the first call and kept.

    Raises
    ------
    RuntimeError
        The kernel's package cannot be had.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tree = folder / "kernel"
    if not tree.exists():
        _unpack_kernel(folder, tree)
    kernel = next(tree.glob("boot/vmlinuz-*"))
    release = kernel.name.removeprefix("vmlinuz-")
    initramfs = folder / f"initramfs-{release}.gz"
    newest = max((HERE / name).stat().st_mtime for name in ("init.sh", "image.py"))
    if not initramfs.exists() or initramfs.stat().st_mtime < newest:
        _make_initramfs(folder / "initramfs", tree, release, initramfs)
    return Image(kernel, initramfs)


def _run(*command: str, cwd: Path, **more: object) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300, **more)  # type: ignore[call-overload]
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed: {done.stderr.strip()[-400:]}")
    return str(done.stdout)


def _unpack_kernel(folder: Path, tree: Path) -> None:
    depends = _run("apt-cache", "depends", "linux-image-amd64", cwd=folder)
    names = [
        line.split()[-1] for line in depends.splitlines() if "linux-image-" in line and "Depends:" in line
    ]
    if not names:
        raise RuntimeError("apt-cache knows no linux-image-amd64; run apt-get update")
    # As root apt would drop its rights to write here.
    _run("apt-get", "-o", "APT::Sandbox::User=root", "download", names[0], cwd=folder)
    (package,) = folder.glob(f"{names[0]}_*.deb")
    partial = tree.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    _run("dpkg", "-x", str(package), str(partial), cwd=folder)
    package.unlink()
    partial.rename(tree)


def _make_initramfs(root: Path, tree: Path, release: str, target: Path) -> None:
    shutil.rmtree(root, ignore_errors=True)
    for name in ("bin", "proc", "sys", "dev", "mnt", "modules"):
        (root / name).mkdir(parents=True)
    busybox = shutil.which("busybox")
    assert busybox is not None
    shutil.copy(busybox, root / "bin/busybox")
    shutil.copy(HERE / "init.sh", root / "init")
    (root / "init").chmod(0o755)
    _run("depmod", "-b", str(tree), release, cwd=root)
    order: list[str] = []
    for module in MODULES:
        shown = _run("modprobe", "-d", str(tree), "-S", release, "--show-depends", module, cwd=root)
        for line in shown.splitlines():
            if line.startswith("insmod ") and (path := line.split()[1]) not in order:
                order.append(path)
    names = []
    for number, path in enumerate(order):
        name = f"{number:03d}-{Path(path).name}"
        shutil.copy(path, root / "modules" / name)
        names.append(name)
    files = sorted(str(path.relative_to(root)) for path in root.rglob("*"))
    packed = subprocess.run(
        ["cpio", "-o", "-H", "newc", "--quiet"],
        cwd=root,
        input="\n".join([".", *files]).encode(),
        capture_output=True,
        timeout=120,
        check=True,
    )
    import gzip

    partial = target.with_suffix(f".{os.getpid()}")
    partial.write_bytes(gzip.compress(packed.stdout, 1))
    partial.rename(target)
