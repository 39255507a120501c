"""What the facts mean: which provider, why not a better one, and the command that helps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gdviz.messages import _
from gdviz.nodes.discovery.probe import Probe
from gdviz.quantities import format_size

#: Locked memory below this holds no buffer worth measuring with.
_LEAST_MEMLOCK = 2**30


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Something that is missing.

    Attributes
    ----------
    what
        For what it is needed: ``verbs``, ``soft-RoCE``, ``GPU``.
    why
        One sentence.
    command
        The one command that helps; empty where none does.
    blocks
        Whether nothing works without it, or only less.
    """

    what: str
    why: str
    command: str
    blocks: bool = True


@dataclass(frozen=True, slots=True)
class Found:
    """What a host offers.

    Attributes
    ----------
    host
        Its name.
    provider
        ``simulated``, or ``verbs`` with the binding's name and version.
    devices
        RDMA devices that can be used.
    gpu_memory
        Whether transfers use GPU memory; else host memory stands for it.
    obstacles
        What is missing for more, the blocking first.
    """

    host: str
    provider: str
    devices: tuple[str, ...]
    gpu_memory: bool
    obstacles: tuple[Obstacle, ...]

    @property
    def simulated(self) -> bool:
        """Whether only the simulated provider can be used."""
        return self.provider == "simulated"

    def as_dict(self) -> dict[str, Any]:
        """Return it as ``gdviz nodes --json`` prints it."""
        return {
            "host": self.host,
            "provider": self.provider,
            "devices": list(self.devices),
            "gpu_memory": self.gpu_memory,
            "obstacles": [
                {"what": each.what, "why": each.why, "command": each.command or None, "blocks": each.blocks}
                for each in self.obstacles
            ],
        }

    def __str__(self) -> str:
        lines = [_("{host}: provider {provider}").format(host=self.host, provider=self.provider)]
        if self.devices:
            memory = _("GPU memory") if self.gpu_memory else _("host memory, which stands for a GPU's")
            lines.append(
                _("devices: {names}; buffers in {memory}").format(
                    names=", ".join(self.devices), memory=memory
                )
            )
        for each in self.obstacles:
            lines.append(f"- {each.what}: {each.why}")
            if each.command:
                lines.append(f"    {each.command}")
        return "\n".join(lines)


def judge(probe: Probe) -> Found:
    """Return what a host with these facts offers."""
    verbs = list(_verbs(probe))
    usable = not any(each.blocks for each in verbs)
    gpu = list(_gpu(probe)) if usable or probe.gpus else []
    gpu_memory = usable and bool(probe.gpus) and not any(each.blocks for each in gpu)
    provider = _("verbs ({binding})").format(binding=probe.binding) if usable else "simulated"
    found = (*verbs, *gpu)
    return Found(
        probe.host,
        provider,
        probe.rdma_devices if usable else (),
        gpu_memory,
        tuple(sorted(found, key=lambda each: not each.blocks)),
    )


def _verbs(probe: Probe) -> Iterator[Obstacle]:
    if probe.system != "linux":
        yield Obstacle("verbs", _("RDMA needs Linux, and this is {system}.").format(system=probe.system), "")
        return
    if not probe.rdma_devices:
        yield Obstacle(
            "verbs",
            _("There is no RDMA device in /sys/class/infiniband."),
            "lspci | grep -i -e mellanox -e infiniband",
        )
        yield from _soft_roce(probe)
    elif not probe.verbs_files:
        if probe.in_container:
            why = _("This container has not been given /dev/infiniband.")
            command = "docker run --device /dev/infiniband --ulimit memlock=-1 --cap-add IPC_LOCK ..."
        else:
            why, command = (
                _("There is no /dev/infiniband: ib_uverbs is not loaded."),
                "sudo modprobe ib_uverbs",
            )
        yield Obstacle("verbs", why, command)
    elif not probe.verbs_allowed:
        why = _("This user may not open /dev/infiniband/{name}.").format(name=probe.verbs_files[0])
        yield Obstacle("verbs", why, f"sudo chmod a+rw /dev/infiniband/{probe.verbs_files[0]}")
    if not probe.binding:
        yield Obstacle("verbs", probe.binding_error, "pip install 'gdviz[rdma]'")
    if probe.memlock_bytes is not None and probe.memlock_bytes < _LEAST_MEMLOCK and not probe.is_root:
        why = _("Only {size} may be locked: larger registrations fail with ENOMEM (12).").format(
            size=format_size(probe.memlock_bytes)
        )
        command = "echo '* - memlock unlimited' | sudo tee /etc/security/limits.d/rdma.conf"
        yield Obstacle("verbs", why, command, blocks=False)


def _soft_roce(probe: Probe) -> Iterator[Obstacle]:
    """Offer soft-RoCE, the verbs over any network card."""
    if not probe.netdevs:
        yield Obstacle("soft-RoCE", _("There is no network interface that it could use."), "", blocks=False)
        return
    command = f"rdma link add rxe0 type rxe netdev {probe.netdevs[0]}"
    command = command if probe.is_root else f"sudo {command}"
    if probe.in_container:
        why = _(
            "Soft-RoCE is made by the host, not in a container: run this there, and pass /dev/infiniband in."
        )
    elif probe.has_rxe is False:
        why = _(
            "The running kernel has no module rdma_rxe (Debian's cloud kernels and many virtual machines)."
        )
        yield Obstacle("soft-RoCE", why, "sudo apt install linux-image-amd64", blocks=False)
        return
    else:
        why = _("Without a NIC for RDMA the verbs run over {netdev}, in software.").format(
            netdev=probe.netdevs[0]
        )
        command = f"{'' if probe.is_root else 'sudo '}modprobe rdma_rxe && {command}"
    yield Obstacle("soft-RoCE", why, command, blocks=False)


def _gpu(probe: Probe) -> Iterator[Obstacle]:
    if not probe.gpus:
        yield Obstacle(
            "GPU", _("NVIDIA's driver knows no GPU here: host memory stands for one."), "", blocks=False
        )
        return
    if not probe.has_cuda:
        yield Obstacle(
            "GPU", _("libcuda.so.1 is not found: the driver's user part is missing."), "nvidia-smi"
        )
    if not probe.cupy:
        yield Obstacle("GPU", _("CuPy is not installed."), "pip install 'gdviz[gpu]'")
    if not probe.nvml:
        why = _("nvidia-ml-py is not installed: no BAR1 and no PCIe counters.")
        yield Obstacle("GPU", why, "pip install nvidia-ml-py", blocks=False)
    if not probe.has_peermem and probe.open_driver is False:
        why = _(
            "GPU memory cannot be registered: nvidia_peermem is not loaded, "
            "and the closed driver has no DMA-BUF."
        )
        yield Obstacle("GPUDirect RDMA", why, "sudo modprobe nvidia-peermem", blocks=False)
