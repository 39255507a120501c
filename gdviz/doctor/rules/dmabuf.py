"""DMA-BUF: kernel, driver, RDMA stack, and the driver's own check of the PCI tree (R3, R4, R5)."""

from __future__ import annotations

from collections.abc import Iterator

from gdviz.doctor import support
from gdviz.doctor.evidence import software
from gdviz.doctor.evidence.grep import grep
from gdviz.doctor.evidence.known import Known, evidence_of, value_of
from gdviz.doctor.evidence.node import CaseEvidence, NodeEvidence
from gdviz.doctor.evidence.patterns import CUMEM, DLVSYM_REG, NO_DMABUF
from gdviz.doctor.evidence.platform import iommu_groups, virtual
from gdviz.doctor.failures import Failure, failures
from gdviz.doctor.findings import finding
from gdviz.doctor.rules.base import Answer, rule
from gdviz.doctor.rules.modules import refusals
from gdviz.doctor.words import sentences, staged_words
from gdviz.messages import _
from gdviz.readers import Evidence


def _dma_buf_failures(node: NodeEvidence, *errnos: int) -> list[Failure]:
    return [f for f in failures(node) if f.dma_buf and (not errnos or f.errno in errnos)]


def _evidence(found: list[Failure]) -> tuple[Evidence, ...]:
    return tuple(dict.fromkeys(e for failure in found for e in failure.evidence))[:4]


@rule("dmabuf-unsupported-kernel", number="R3")
def kernel(case: CaseEvidence) -> Iterator[Answer]:
    """Find: the kernel has no DMA-BUF path for GPU memory, by its configuration or its age."""
    for node in case.nodes:
        lacking = _lacking_options(node)
        old = support.kernel_too_old(node)
        wants = (
            value_of(software.driver_open(node)) is True
            or bool(_dma_buf_failures(node))
            or support.is_amd(node)
        )
        too_old = old is not None and old.value and wants
        if not (lacking or too_old) or not support.hardware_capable(node):
            continue
        symptom = refusals(node) or _evidence(_dma_buf_failures(node))
        works = value_of(software.peermem_loaded(node)) or any(
            known.value for known in node.log.hcas.values()
        )
        if works and not symptom:
            continue
        names = ", ".join(lacking) or _("a kernel before 5.12")
        words, cost = staged_words(node)
        yield finding(
            "dmabuf-unsupported-kernel",
            _("{node}: the kernel cannot share GPU memory by DMA-BUF: {what}").format(
                node=node.name, what=names
            ),
            *evidence_of(*lacking.values()),
            *(old.evidence if too_old and old else ()),
            *symptom,
            node=node.name,
            effect=sentences(
                (_("ibv_reg_dmabuf_mr fails, and without peer memory no pair uses GPUDirect RDMA."), words)
            ),
            check=_(
                "grep -e CONFIG_PCI_P2PDMA -e CONFIG_DMABUF_MOVE_NOTIFY /boot/config-$(uname -r); uname -r"
            ),
            fix=(
                _("a kernel from 5.12 on with CONFIG_PCI_P2PDMA=y and CONFIG_DMABUF_MOVE_NOTIFY=y"),
                _("or peer memory with the RDMA stack of MLNX_OFED or DOCA-OFED"),
            ),
            cost_bytes_per_s=cost,
        )


def _lacking_options(node: NodeEvidence) -> dict[str, Known[str]]:
    wanted = ["CONFIG_PCI_P2PDMA"]
    if support.is_amd(node):
        wanted += ["CONFIG_DMABUF_MOVE_NOTIFY"]
    found = {name: software.config_option(node, name) for name in wanted}
    return {name: known for name, known in found.items() if known is not None and known.value == "n"}


@rule("dmabuf-closed-module", number="R3")
def closed(case: CaseEvidence) -> Iterator[Answer]:
    """Find: the closed NVIDIA kernel modules export no DMA-BUF, and something asked for it."""
    for node in case.nodes:
        driver = software.driver_open(node)
        if driver is None or driver.value or not support.hardware_capable(node):
            continue
        attribute = software.cuda_attribute(node, "DMA_BUF_SUPPORTED")
        said = grep(node, NO_DMABUF, job=True)[:2]
        bad_address = [f for f in failures(node) if f.errno == support.EFAULT and f.registers]
        loaded = bool(value_of(software.peermem_loaded(node)))
        only_vmm = bool(bad_address) and loaded and _cumem(node) is not None
        refuses = attribute is not None and not attribute.value
        asked = bool(refusals(node)) or bool(bad_address) or bool(_dma_buf_failures(node))
        if not (only_vmm or said or (refuses and asked)):
            continue
        cumem = _cumem(node)
        yield finding(
            "dmabuf-closed-module",
            _("{node}: the closed NVIDIA kernel modules export no DMA-BUF").format(node=node.name),
            *driver.evidence,
            *evidence_of(attribute),
            *said,
            *_evidence(bad_address),
            *evidence_of(cumem),
            node=node.name,
            effect=_(
                "Memory of cuMem (CUDA's VMM calls) can be registered by DMA-BUF only: Bad address (14). "
                "Peer memory"
                " serves memory of cudaMalloc alone."
            ),
            check=_(
                "modinfo -F license nvidia (closed: NVIDIA; open: Dual MIT/GPL); cat "
                "/proc/driver/nvidia/version"
            ),
            fix=(
                _("the open kernel modules of the same driver (nvidia-open)"),
                _("until then memory of cudaMalloc with peer memory: NCCL_CUMEM_ENABLE=0"),
            ),
        )


def _cumem(node: NodeEvidence) -> Known[str] | None:
    setting = node.env("NCCL_CUMEM_ENABLE")
    if setting is not None and setting.value.strip() not in ("0", ""):
        return setting
    found = grep(node, CUMEM, job=True)
    return Known("mentioned", found[:1]) if found else None


@rule("dmabuf-unsupported-rdma", number="R3")
def rdma(case: CaseEvidence) -> Iterator[Answer]:
    """Find: RDMA driver or user library has no verb for DMA-BUF."""
    for node in case.nodes:
        failed = _dma_buf_failures(node, support.EOPNOTSUPP, support.EPROTONOSUPPORT)
        library = grep(node, DLVSYM_REG, job=True)[:1]
        is_open = bool(value_of(software.driver_open(node)))
        old_library = bool(library) and bool(refusals(node)) and is_open
        if not failed and not old_library:
            continue
        if value_of(software.config_option(node, "CONFIG_PCI_P2PDMA")) == "n" or value_of(
            support.kernel_too_old(node)
        ):
            continue
        stack = software.uses_ofed(node)
        yield finding(
            "dmabuf-unsupported-rdma",
            _("{node}: the RDMA stack has no verb for DMA-BUF (ibv_reg_dmabuf_mr)").format(node=node.name),
            *_evidence(failed),
            *library,
            *evidence_of(stack, software.driver_open(node)),
            node=node.name,
            effect=_(
                "NCCL takes the DMA-BUF path because the GPU's driver offers it; registration then fails "
                "and the job with it."
            ),
            check=_(
                "ibv_reg_dmabuf_mr with a file descriptor of -1: errno 95 or 93 means that the verb is "
                "missing, 9 that it is there"
            ),
            fix=(
                _("a newer MLNX_OFED or DOCA-OFED, or rdma-core 34 with a driver that has the verb"),
                _("a newer NCCL, which asks first; until then NCCL_DMABUF_ENABLE=0 with peer memory"),
            ),
        )


@rule("pcie-topo-check-refused", number="R5")
def topology_check(case: CaseEvidence) -> Iterator[Answer]:
    """Find: NVIDIA's driver refuses to export a buffer to a NIC elsewhere in the tree: error 524."""
    for node in case.nodes:
        failed = [f for f in failures(node) if f.errno == support.ENOTSUPP]
        if not failed:
            continue
        groups = iommu_groups(node)
        named = _used_groups(node, groups)
        told = ", ".join(f"{label}: group {known.value}" for label, known in named)
        near = _sibling(node, groups)
        yield finding(
            "pcie-topo-check-refused",
            _("{node}: the NVIDIA driver refuses to export GPU memory to the NIC (error 524)").format(
                node=node.name
            ),
            *_evidence(failed),
            *evidence_of(*(known for _label, known in named)),
            node=node.name,
            effect=sentences(
                (
                    _(
                        "524 is ENOTSUPP: kernel, driver and verbs support DMA-BUF, but GPU and NIC do not "
                        "lie where the driver allows peer-to-peer traffic."
                    ),
                    _("IOMMU groups: {groups}.").format(groups=told) if told else "",
                )
            ),
            check=_("readlink /sys/bus/pci/devices/*/iommu_group of GPU and NIC; rdma_topo check"),
            fix=(
                _("the sibling NIC below the same switch{name}, by NCCL_IB_HCA or by placement").format(
                    name=f" ({near})" if near else ""
                ),
                *(() if value_of(virtual(node)) else (_acs_advice(),)),
                _("last: the driver's option NVreg_GrdmaPciTopoCheckOverride=1"),
            ),
        )


def _acs_advice() -> str:
    return _(
        "the ACS setting that the platform asks for: rdma_topo write-grub-acs (config_acs=...) and a reboot"
    )


def _used_groups(node: NodeEvidence, groups: dict[str, Known[int]]) -> list[tuple[str, Known[int]]]:
    devices = (*node.joined.gpus, *node.joined.nics)
    found = [(f"{d.label} {d.busid}", groups[d.busid]) for d in devices if d.busid in groups]
    named = {device.busid for device in devices}
    others = [(busid, known) for busid, known in groups.items() if busid not in named]
    return [*found, *others[: max(0, 8 - len(found))]]


def _sibling(node: NodeEvidence, groups: dict[str, Known[int]]) -> str:
    """Return the NIC nearest to the node's first GPU by bus number, of those not in use."""
    used = {node.log.nics[c.nic_index].name for c in node.log.channels if c.nic_index in node.log.nics}
    for gpu in node.joined.gpus:
        if not gpu.busid:
            continue
        bus = int(gpu.busid[-7:-5], 16)
        near = [
            (abs(int(nic.busid[-7:-5], 16) - bus), nic.label)
            for nic in node.joined.nics
            if nic.busid and nic.busid[:-8] == gpu.busid[:-8] and nic.name not in used
        ]
        if near:
            return min(near)[1]
    return ""
