"""Whether a GPU and a NIC can do GPUDirect RDMA at all, and whether it was seen at work."""

from __future__ import annotations

import re

from gdviz.doctor.evidence import software
from gdviz.doctor.evidence.devices import Device
from gdviz.doctor.evidence.known import Known, evidence_of, value_of
from gdviz.doctor.evidence.log import ChannelView, PairDecision
from gdviz.doctor.evidence.node import NodeEvidence
from gdviz.doctor.evidence.platform import names_of, platform_without_gdr
from gdviz.doctor.evidence.results import gpu_runs
from gdviz.doctor.geforce import GEFORCE_DEVICES
from gdviz.readers import Evidence
from gdviz.readers.host import KernelModules

#: GPUs without GPUDirect RDMA, by product.
CONSUMER = re.compile(r"\bGeForce\b|\bTITAN\b|\b[GR]TX\s*(?:[1-5]0[5-9]0|16[5-6]0)\b", re.IGNORECASE)
_PROFESSIONAL = re.compile(r"\bQuadro\b|\bTesla\b|\bRTX\s*(?:PRO|A?\d000)\b|Data ?Center", re.IGNORECASE)

#: Errors of a verbs call.
EFAULT, ENOMEM, EINVAL, EPROTONOSUPPORT, EOPNOTSUPP, ENOTSUPP, ETIMEDOUT = 14, 12, 22, 93, 95, 524, 110


def is_consumer(gpu: Device) -> bool:
    """Return whether a GPU is of a class without GPUDirect RDMA, by its PCI id or its name."""
    if gpu.pci.vendor == 0x10DE and gpu.pci.device in GEFORCE_DEVICES:
        return True
    return bool(CONSUMER.search(gpu.name)) and not _PROFESSIONAL.search(gpu.name)


def consumer_gpus(node: NodeEvidence) -> list[tuple[Device, tuple[Evidence, ...]]]:
    """Return a node's GPUs of such a class with the lines that show it."""
    found = []
    for gpu in node.joined.gpus:
        if is_consumer(gpu):
            pattern = re.compile(
                rf"0x{gpu.pci.device:04x}\b|\[10de:{gpu.pci.device:04x}\]"
                if gpu.pci.device
                else CONSUMER.pattern,
                re.IGNORECASE,
            )
            lines = tuple(names_of(node, gpu, CONSUMER)) + tuple(names_of(node, gpu, pattern))
            found.append((gpu, tuple(dict.fromkeys(lines))))
    return found


def is_amd(node: NodeEvidence) -> bool:
    """Return whether the GPUs are AMD's: their driver exports DMA-BUF itself."""
    vendors = {gpu.pci.vendor for gpu in node.joined.gpus}
    if vendors == {0x1002} or node.log.is_rccl:
        return True
    return any(
        modules.find("amdgpu") is not None and modules.find("nvidia") is None
        for _reading, modules in node.own(KernelModules)
    )


def kernel_too_old(node: NodeEvidence) -> Known[bool] | None:
    """Return whether the kernel is older than 5.12, the first with DMA-BUF for RDMA."""
    kernel = software.kernel(node)
    if kernel is None or len(kernel.value.version) < 2:
        return None
    return Known(kernel.value.version[:2] < (5, 12), kernel.evidence)


def dma_buf(node: NodeEvidence) -> Known[bool] | None:
    """Return whether GPU memory can be shared by DMA-BUF on this node."""
    if "dma_buf" in node.assumed:
        return Known(bool(node.assumed["dma_buf"]))
    enabled = node.env("NCCL_DMABUF_ENABLE")
    if enabled is not None and enabled.value.strip() == "0":
        return Known(False, enabled.evidence)
    offers = software.driver_open(node)
    attribute = software.cuda_attribute(node, "DMA_BUF_SUPPORTED")
    old = kernel_too_old(node)
    config = software.config_option(node, "CONFIG_PCI_P2PDMA")
    for known, refuses in (
        (offers, value_of(offers) is False),
        (attribute, value_of(attribute) is False),
        (old, value_of(old) is True),
        (config, value_of(config) == "n"),
    ):
        if known is not None and refuses:
            return Known(False, known.evidence)
    version = node.log.version
    if version is not None and not version.value.tries_dma_buf:
        return Known(False, version.evidence)
    seen = node.log.dma_buf_lines
    if seen:
        return Known(True, seen)
    if value_of(offers) and value_of(old) is False and (value_of(config) == "y" or value_of(attribute)):
        return Known(True, evidence_of(offers, old, config, attribute))
    return None


def nic_support(node: NodeEvidence, nic: Device) -> Known[bool] | None:
    """Return whether GPU memory can be registered with a NIC, as NCCL found or as software shows."""
    if {"peermem", "dma_buf", "open_driver", "nccl"} & set(node.assumed) and not node.log.hca(nic.name):
        ways = (value_of(software.peermem_loaded(node)), value_of(dma_buf(node)))
        if any(ways):
            return Known(True)
        return Known(False) if ways == (False, False) else None
    seen = node.log.hca(nic.name)
    if seen is not None:
        return seen
    if runs := [run for run in gpu_runs(node) if run.device == nic.name and nic.name]:
        return Known(True, (runs[0].evidence,))
    if nic.gdr is not None:
        return Known(nic.gdr)
    if value_of(software.peermem_loaded(node)) is False and value_of(dma_buf(node)) is False:
        return Known(False, evidence_of(software.peermem_loaded(node), dma_buf(node)))
    return None


def gpu_support(node: NodeEvidence, gpu: Device) -> bool | None:
    """Return whether a GPU offers GPUDirect RDMA."""
    if is_consumer(gpu) or platform_without_gdr(node, node.joined.gpus) is not None:
        return False
    if gpu.gdr is not None:
        return gpu.gdr
    return value_of(software.cuda_attribute(node, "GPU_DIRECT_RDMA_SUPPORTED"))


def hardware_capable(node: NodeEvidence) -> bool:
    """Return whether nothing in GPU or platform rules GPUDirect RDMA out."""
    if platform_without_gdr(node, node.joined.gpus) is not None:
        return False
    gpus = node.joined.gpus
    return not gpus or not all(is_consumer(gpu) for gpu in gpus)


def registration(node: NodeEvidence) -> bool | None:
    """Return whether plain verbs can register GPU memory on a node."""
    if not hardware_capable(node):
        return False
    if gpu_runs(node) or any(known.value for known in node.log.hcas.values()):
        return True
    ways = (value_of(software.peermem_loaded(node)), value_of(dma_buf(node)))
    if any(ways):
        return True
    return False if ways == (False, False) else None


def decisions_for(node: NodeEvidence, gpu: Device, nic: Device) -> list[PairDecision]:
    """Return what a log prints of a pair."""
    return [
        d
        for d in node.log.decisions
        if _same_gpu(gpu, d.gpu_busid, d.gpu_index) and _same_nic(node, nic, d.nic_index)
    ]


def channels_for(node: NodeEvidence, gpu: Device, nic: Device | None = None) -> list[ChannelView]:
    """Return a GPU's channels over the network, perhaps only those over one NIC."""
    return [
        c
        for c in node.log.channels
        if _same_gpu(gpu, c.gpu_busid, c.gpu_index) and (nic is None or _same_nic(node, nic, c.nic_index))
    ]


def _same_gpu(gpu: Device, busid: str | None, index: int | None) -> bool:
    if busid and gpu.busid:
        return busid == gpu.busid
    return index is not None and gpu.index == index


def _same_nic(node: NodeEvidence, nic: Device, index: int | None) -> bool:
    if index is None:
        return False
    known = node.log.nics.get(index)
    if known is not None:
        # Two ports that NCCL joins to one are called 'mlx5_0+mlx5_1'.
        return bool(nic.name and nic.name in known.name.split("+")) or bool(
            known.busid and known.busid == nic.busid
        )
    # A log without its list of NICs numbers them all the same; the only one is the first.
    only = not node.log.nics and len(node.joined.nics) == 1
    return nic.index == index or (only and index == 0)
