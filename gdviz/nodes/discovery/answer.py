"""What the facts mean: which provider, why not a better one, and the command that helps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gdviz.messages import _
from gdviz.nodes.discovery.gpus import gpu_obstacles
from gdviz.nodes.discovery.obstacle import Obstacle
from gdviz.nodes.discovery.probe import Probe
from gdviz.nodes.discovery.verbs import verbs_obstacles


@dataclass(frozen=True, slots=True, repr=False)
class Found:
    """What a host offers. Shown, it is text.

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
        return "\n".join(self._lines())

    __repr__ = __str__

    def _lines(self) -> Iterator[str]:
        yield _("{host}: provider {provider}").format(host=self.host, provider=self.provider)
        if self.devices:
            memory = _("GPU memory") if self.gpu_memory else _("host memory, which stands for a GPU's")
            yield _("devices: {names}; buffers in {memory}").format(
                names=", ".join(self.devices), memory=memory
            )
        for each in self.obstacles:
            yield f"- {each.what}: {each.why}"
            if each.command:
                yield f"    {each.command}"


def judge(probe: Probe) -> Found:
    """Return what a host with these facts offers."""
    verbs = tuple(verbs_obstacles(probe))
    usable = not any(each.blocks for each in verbs)
    gpu = tuple(gpu_obstacles(probe)) if usable or probe.gpus or probe.pci_gpus else ()
    bindings = [each for each in probe.bindings if not each.error]
    if probe.gpus and probe.has_cuda:
        # As `HardwareProvider` has it: GPU memory is registered by the wheel.
        bindings.sort(key=lambda each: each.name != "ibverbs")
    binding = bindings[0] if bindings else None
    provider = "simulated"
    if usable and binding is not None:
        provider = f"verbs ({binding.name} {binding.version})"
    gpu_memory = usable and bool(probe.gpus) and not any(each.blocks for each in gpu)
    obstacles = tuple(sorted((*verbs, *gpu), key=lambda each: not each.blocks))
    return Found(probe.host, provider, probe.rdma_devices if usable else (), gpu_memory, obstacles)
