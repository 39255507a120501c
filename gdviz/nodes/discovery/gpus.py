"""What a host lacks for buffers in GPU memory."""

from __future__ import annotations

from collections.abc import Iterator

from gdviz.messages import _
from gdviz.nodes.discovery.obstacle import Obstacle
from gdviz.nodes.discovery.probe import Probe
from gdviz.nodes.discovery.verbs import as_root

#: How NVIDIA's driver is installed.
DRIVER = {"debian": "apt install nvidia-driver", "rhel": "dnf install nvidia-open", "": ""}


def gpu_obstacles(probe: Probe) -> Iterator[Obstacle]:
    """Yield what is missing; without a GPU host memory stands for its memory."""
    if not probe.gpus:
        if probe.pci_gpus:
            why = _("The GPU at {busid} has no driver: its memory cannot be used.").format(
                busid=probe.pci_gpus[0]
            )
            yield Obstacle("GPU", why, as_root(probe, DRIVER[probe.family]))
        else:
            why = _("There is no GPU of NVIDIA's here: host memory stands for one.")
            yield Obstacle("GPU", why, blocks=False)
        return
    if not probe.has_cuda:
        why = _("libcuda.so.1 is not found: the part of the driver that programs use is missing.")
        yield Obstacle("GPU", why, as_root(probe, DRIVER[probe.family]))
    if not probe.cupy:
        yield Obstacle("GPU", _("CuPy is not installed."), "pip install 'gdviz[gpu]'")
    if not probe.nvml:
        why = _("nvidia-ml-py is not installed: BAR1 and the PCIe counters cannot be read.")
        yield Obstacle("GPU", why, "pip install 'gdviz[gpu]'", blocks=False)
    if not probe.has_peermem and probe.open_driver is False:
        why = _(
            "GPU memory cannot be registered: nvidia_peermem is not loaded, "
            "and the closed kernel modules have no dma-buf."
        )
        yield Obstacle("GPUDirect RDMA", why, as_root(probe, "modprobe nvidia-peermem"), blocks=False)
