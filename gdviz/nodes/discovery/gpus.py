"""What a host lacks for buffers in GPU memory."""

from __future__ import annotations

from collections.abc import Iterator

from gdviz.messages import _
from gdviz.nodes.discovery.kernel import version_of
from gdviz.nodes.discovery.obstacle import Obstacle
from gdviz.nodes.discovery.probe import Probe
from gdviz.nodes.discovery.verbs import as_root

#: How NVIDIA's driver is installed.
DRIVER = {"debian": "apt install nvidia-driver", "rhel": "dnf install nvidia-open", "": ""}

#: Linux that can register dma-bufs of GPU memory with a NIC (mlx5's support came with it).
DMABUF_KERNEL = (5, 12)


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
    if not probe.has_peermem:
        yield from _no_registration(probe)


def _no_registration(probe: Probe) -> Iterator[Obstacle]:
    """Yield what is missing for a dma-buf, where nvidia_peermem cannot stand in for it."""
    lacking = []
    version = version_of(probe.kernel)
    if version is not None and version < DMABUF_KERNEL:
        lacking.append(_("Linux 5.12 (this is {kernel})").format(kernel=probe.kernel))
    if probe.open_driver is False:
        lacking.append(_("the driver's open kernel modules (these are the closed ones)"))
    if not probe.registers_dmabuf:
        lacking.append(_("libibverbs of rdma-core 34 or later (ibv_reg_dmabuf_mr is missing here)"))
    # Where nothing else is missing this is the easier of the two ways.
    command = as_root(probe, "modprobe nvidia-peermem") if lacking else "pip install 'gdviz[rdma]'"
    if not any(each.name == "ibverbs" and not each.error for each in probe.bindings):
        lacking.append(_("the ibverbs wheel (pyverbs does not do it)"))
    if lacking:
        why = _(
            "GPU memory cannot be registered: nvidia_peermem is not loaded, and dma-buf needs {what}."
        ).format(what=", ".join(lacking))
        yield Obstacle("GPUDirect RDMA", why, command, blocks=False)
