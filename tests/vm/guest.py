"""A small virtual machine with real verbs: soft-RoCE in a QEMU guest.

    guest = Guest(folder, "ib_devices")       # a shell script that runs in the guest as root
    outcome = guest.run(timeout_s=120)        # boots, runs it, powers off
    outcome.status, outcome.output            # exit status and all that it printed

The guest sees this machine's files read-only, below a RAM disk; `folder` is /job there and is shared. It has
an RDMA device ``rxe0`` on ``eth0`` (10.77.0.NODE, MTU 4200) in which GID index 1 is the IPv4 one. With `port`
two guests share a network: the first listens, the second connects. The processor is emulated (no KVM), so
only ratios of times mean anything.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from image import Image, build, missing

REPOSITORY = Path(__file__).parents[2]

#: Kept between runs: the kernel is some 60 MiB to fetch.
CACHE = Path(os.environ.get("GDVIZ_VM_CACHE", REPOSITORY / "artefacts" / "vm" / "image"))

#: What `init.sh` prints when it has brought the guest up, and the seconds that it has for that (some 3 on two
#: idle cores). An emulated processor now and then hangs in the kernel's first steps: then it is started anew.
READY = "gdviz guest ready"
BOOT_S = 60.0
BOOTS = 3

#: Debian's pyverbs, which matches Debian's libibverbs.
PYVERBS = Path("/usr/lib/python3/dist-packages/pyverbs")


@dataclass(frozen=True)
class Outcome:
    """What a job came to; `status` is None where the guest did not end in time."""

    status: int | None
    output: str
    console: str

    def __str__(self) -> str:
        return f"status {self.status}\n{self.output[-6000:]}\n--- console\n{self.console[-1500:]}"


@dataclass
class Guest:
    """One guest and its job.

    Attributes
    ----------
    folder
        Shared with the guest, where it is /job.
    script
        Shell commands, run as root in the guest.
    node
        Its number: host name ``node-NODE``, address 10.77.0.NODE.
    devices
        More of QEMU's options: bridges, NUMA nodes, an IOMMU.
    """

    folder: Path
    script: str
    node: int = 1
    cpus: int = 2
    memory_mib: int = 1024
    port: int | None = None
    devices: Sequence[str] = ()
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    def start(self, image: Image) -> None:
        """Boot it, and wait until it is up."""
        for _boot in range(BOOTS):
            self._boot(image)
            end = time.monotonic() + BOOT_S
            while time.monotonic() < end:
                if READY in self._text("console.txt"):
                    return
                if self._process is not None and self._process.poll() is not None:
                    return  # it ended; `wait` tells how
                time.sleep(0.1)
            self.kill()

    def _boot(self, image: Image) -> None:
        """Start the emulator."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "job.sh").write_text(self.script + "\n")
        for name in ("output.txt", "status"):
            (self.folder / name).unlink(missing_ok=True)
        if self.port is None:
            network = "user,id=net0,restrict=on"
        else:
            role = "listen" if self.node == 1 else "connect"
            network = f"socket,id=net0,{role}=127.0.0.1:{self.port}"
        with (self.folder / "console.txt").open("wb") as console:
            self._process = subprocess.Popen(
                [
                    "qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max", "-machine", "q35",
                    "-smp", str(self.cpus), "-m", str(self.memory_mib), "-nographic", "-no-reboot",
                    "-kernel", str(image.kernel), "-initrd", str(image.initramfs),
                    "-append", f"console=ttyS0 quiet panic=-1 no_timer_check gdviz.node={self.node}",
                    "-virtfs", _share("/", "root", readonly=True),
                    "-virtfs", _share(str(self.folder), "job"),
                    "-netdev", network,
                    "-device", f"virtio-net-pci,netdev=net0,mac=52:54:00:12:34:{self.node:02x}",
                    *self.devices,
                ],
                stdin=subprocess.DEVNULL, stdout=console, stderr=subprocess.STDOUT,
            )  # fmt: skip

    def wait(self, timeout_s: float) -> Outcome:
        """Wait for its end, at most so long; then it is stopped."""
        assert self._process is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout_s)
        self.kill()
        status = self._text("status").strip()
        return Outcome(
            int(status) if status.isdecimal() else None, self._text("output.txt"), self._text("console.txt")
        )

    def run(self, timeout_s: float = 180.0) -> Outcome:
        """Boot, run the job, power off."""
        self.start(image())
        return self.wait(timeout_s)

    def kill(self) -> None:
        """Pull the plug."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait(10)

    def _text(self, name: str) -> str:
        path = self.folder / name
        return path.read_text(errors="replace") if path.exists() else ""


def image() -> Image:
    """Return the image that all guests boot."""
    return build(CACHE)


def python(*arguments: str) -> str:
    """Return the shell command that runs this Python in a guest, Debian's pyverbs within reach.

    A folder with nothing but a link to pyverbs goes on the path: all of Debian's packages beside those of a
    virtual environment would shadow them.
    """
    words = " ".join(shlex.quote(word) for word in (sys.executable, *arguments))
    here = shlex.quote(str(REPOSITORY))
    return (
        f"mkdir -p /tmp/pyverbs && ln -sfn {PYVERBS} /tmp/pyverbs/pyverbs && cd {here} && "
        f"PYTHONDONTWRITEBYTECODE=1 PYTHONPATH={here}:/tmp/pyverbs {words}"
    )


@contextlib.contextmanager
def two_nodes(
    folders: Sequence[Path], scripts: Sequence[str], port: int, **more: object
) -> Iterator[list[Guest]]:
    """Boot two guests on one network."""
    guests = [
        Guest(folder, script, node=number, port=port, **more)  # type: ignore[arg-type]
        for number, (folder, script) in enumerate(zip(folders, scripts, strict=True), 1)
    ]
    try:
        for guest in guests:
            guest.start(image())  # the first one is up, so it listens, before the second connects
        yield guests
    finally:
        for guest in guests:
            guest.kill()


def _share(path: str, tag: str, *, readonly: bool = False) -> str:
    mode = ",readonly=on" if readonly else ""
    return f"local,path={path},mount_tag={tag},security_model=none,multidevs=remap{mode}"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="gdviz-guest-") as name:
        print(Guest(Path(name), " ".join(sys.argv[1:]) or "rdma link").run())

__all__ = ["CACHE", "Guest", "Outcome", "image", "missing", "python", "two_nodes"]
