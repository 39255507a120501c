"""Peer-memory modules: missing, not fitting, or there but not seen (R2, R6)."""

from __future__ import annotations

from collections.abc import Iterator

from gdviz.doctor import support
from gdviz.doctor.evidence import software
from gdviz.doctor.evidence.known import evidence_of, value_of
from gdviz.doctor.evidence.node import CaseEvidence, NodeEvidence
from gdviz.doctor.evidence.results import gpu_runs
from gdviz.doctor.failures import failures
from gdviz.doctor.findings import Untold, finding
from gdviz.doctor.rules.base import Answer, rule
from gdviz.doctor.versions import MODULE, NcclVersion
from gdviz.doctor.words import sentences, staged_words
from gdviz.messages import _
from gdviz.readers import Evidence

#: The first release that looks at /sys/module/nvidia_peermem.
SEES_MODULE = NcclVersion(2, 23, 4)


def refusals(node: NodeEvidence) -> tuple[Evidence, ...]:
    """Return the lines in which NCCL finds no GPUDirect RDMA with a NIC, the first three."""
    return evidence_of(*node.log.refused_hcas.values())[:3]


def unregistered(node: NodeEvidence) -> tuple[Evidence, ...]:
    """Return the lines in which GPU memory could not be registered for want of a module."""
    found: list[Evidence] = []
    for failure in failures(node):
        if failure.errno == support.EFAULT and failure.registers and not failure.dma_buf:
            found += failure.evidence
    return tuple(found)


@rule("peermem-missing", number="R2")
def missing(case: CaseEvidence) -> Iterator[Answer]:
    """Find: no peer-memory module is loaded, and DMA-BUF is no way out either."""
    for node in case.nodes:
        loaded = software.peermem_loaded(node)
        symptoms = (*refusals(node), *unregistered(node))
        if not support.hardware_capable(node) or software.load_refused(node) or support.is_amd(node):
            continue
        if loaded is None:
            if symptoms and value_of(node.log.version) is not None:
                yield Untold(
                    "peermem-missing",
                    _("No list of kernel modules is among the files."),
                    "lsmod | grep -e peermem -e peer_mem; ls /sys/kernel/mm/memory_peers "
                    "/sys/module/nvidia_peermem",
                    node.name,
                )
            continue
        other_way = support.dma_buf(node)
        works = any(known.value for known in node.log.hcas.values()) or bool(gpu_runs(node))
        # What a tool asks of ibv_reg_mr goes to peer memory, whether or not DMA-BUF would do.
        by_module = bool(unregistered(node))
        if loaded.value or (value_of(other_way) and not by_module) or (works and not symptoms):
            continue
        if other_way is None and not symptoms:
            yield Untold(
                "peermem-missing",
                _("No peer-memory module is loaded; whether DMA-BUF does instead is not in the files."),
                "cat /proc/driver/nvidia/version; uname -r",
                node.name,
            )
            continue
        words, cost = staged_words(node)
        effect = _("NCCL finds no way to register GPU memory with the NICs: no pair uses GPUDirect RDMA.")
        yield finding(
            "peermem-missing",
            _(
                "{node}: no peer-memory module is loaded (nvidia_peermem), and DMA-BUF is not available"
            ).format(node=node.name),
            *loaded.evidence,
            *symptoms,
            *evidence_of(other_way),
            node=node.name,
            effect=sentences((effect, _("(gdrdrv, of GDRCopy, is not this module.)"), words)),
            check=_("lsmod | grep nvidia_peermem, and NCCL's line 'GPU Direct RDMA Enabled for HCA'"),
            fix=(
                _(
                    "modprobe nvidia_peermem, and its name into a file below /etc/modules-load.d/ so that "
                    "it stays"
                ),
                _("or the open kernel modules of the driver, with DMA-BUF: Linux 5.12, CUDA 11.7, NCCL 2.13"),
                *((_("perftest on the open modules: --use_cuda_dmabuf"),) if by_module else ()),
            ),
            cost_bytes_per_s=cost,
        )


@rule("peermem-invisible-to-nccl", number="R2")
def invisible(case: CaseEvidence) -> Iterator[Answer]:
    """Find: the module is loaded, but this NCCL looks for it elsewhere."""
    for node in case.nodes:
        loaded = software.peermem_loaded(node)
        refused = refusals(node)
        version = node.log.version
        if not refused or not value_of(loaded) or not support.hardware_capable(node) or version is None:
            continue
        places = version.value.peermem_places
        there = {path for path, is_there, _e in software.peer_memory_paths(node) if is_there}
        if version.value >= SEES_MODULE or there & set(places):
            continue
        words, cost = staged_words(node)
        yield finding(
            "peermem-invisible-to-nccl",
            _("{node}: the peer-memory module is loaded, but NCCL {version} looks for it elsewhere").format(
                node=node.name, version=version.value
            ),
            *version.evidence,
            *refused,
            *evidence_of(loaded, software.memory_peers(node)),
            node=node.name,
            effect=sentences(
                (
                    _("NCCL {version} looks only at {places}; the module shows itself at {module}.").format(
                        version=version.value, places=", ".join(places), module=MODULE
                    ),
                    _("Other programs (perftest) use it; loading it once more changes nothing."),
                    words,
                )
            ),
            check=_("ls {places} {module}").format(places=" ".join(places), module=MODULE),
            fix=_("NCCL 2.23.4 or newer, which looks there too"),
            cost_bytes_per_s=cost,
        )


@rule("peermem-build-mismatch", number="R6")
def mismatch(case: CaseEvidence) -> Iterator[Answer]:
    """Find: the kernel refuses to load the module against the RDMA stack in use."""
    for node in case.nodes:
        symbols = software.symbol_errors(node)
        refused = [e for e in software.load_refused(node) if "nvalid argument" in e.text]
        if not (symbols or refused) or not support.hardware_capable(node):
            continue
        if value_of(software.peermem_loaded(node)):
            continue
        stack = software.uses_ofed(node)
        inbox = value_of(stack) is False
        words, cost = staged_words(node)
        effect = _(
            "The module was built for another kernel or RDMA stack: GPU memory cannot be registered through "
            "it."
        )
        inbox_effect = _(
            "The kernel's own RDMA stack exports no ib_register_peer_memory_client; no build of the module "
            "loads there."
        )
        yield finding(
            "peermem-build-mismatch",
            _("{node}: the kernel refuses to load nvidia_peermem against the RDMA stack in use").format(
                node=node.name
            ),
            *symbols,
            *refused,
            *evidence_of(stack),
            *refusals(node),
            node=node.name,
            effect=sentences((inbox_effect if inbox else effect, words)),
            check=_("dmesg | grep -e peermem -e ib_register_peer_memory_client; ofed_info -s"),
            fix=_("DMA-BUF on this inbox stack: open kernel modules, Linux 5.12 with CONFIG_PCI_P2PDMA")
            if inbox
            else (
                _(
                    "rebuild or reinstall the NVIDIA driver (its peermem module) for the running kernel and "
                    "OFED"
                ),
                _("or DMA-BUF, which needs no module: the driver's open kernel modules and Linux 5.12"),
            ),
            cost_bytes_per_s=cost,
        )
