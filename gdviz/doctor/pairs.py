"""Every GPU-NIC pair of a node: how far, will GPUDirect RDMA be used, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gdviz.doctor.evidence import software
from gdviz.doctor.evidence.devices import Device
from gdviz.doctor.evidence.known import value_of
from gdviz.doctor.evidence.node import NodeEvidence
from gdviz.doctor.evidence.platform import is_grace, platform_without_gdr
from gdviz.doctor.evidence.results import gpu_runs
from gdviz.doctor.records import Pair
from gdviz.doctor.support import (
    channels_for,
    decisions_for,
    gpu_support,
    is_consumer,
    nic_support,
    registration,
)
from gdviz.doctor.verdict import (
    Question,
    Verdict,
    counted_distance,
    nccl_verdict,
    ucx_verdict,
    verbs_verdict,
)
from gdviz.doctor.versions import LATEST, NcclVersion, level_of, type_without_version
from gdviz.machine import Distance, PeerKind
from gdviz.messages import _


def pairs_of(node: NodeEvidence) -> Iterator[Pair]:
    """Go through a node's pairs."""
    can_register = registration(node)
    for gpu in node.joined.gpus:
        for nic in node.joined.nics:
            if _worth_telling(node, gpu, nic):
                yield pair(node, gpu, nic, can_register)


def _worth_telling(node: NodeEvidence, gpu: Device, nic: Device) -> bool:
    if node.joined.path(gpu, nic) is not None:
        return True
    known_nic = not node.log.nics or not nic.name or node.log.nic_index_of(nic.name) is not None
    return known_nic and not (node.joined.best and gpu.parts and nic.parts)


def pair(node: NodeEvidence, gpu: Device, nic: Device, can_register: bool | None) -> Pair:
    """Return one pair with its verdicts."""
    question = question_of(node, gpu, nic)
    nccl = _with_proxy(node, gpu, nic, question, _nccl(node, gpu, nic, question))
    direct = node.env("UCX_IB_GPU_DIRECT_RDMA")
    tls = node.env("UCX_TLS")
    ucx = ucx_verdict(can_register, tls=value_of(tls), direct_rdma=value_of(direct))
    return Pair(
        node=node.name,
        gpu=gpu.label,
        nic=nic.label,
        gpu_ids=gpu.ids,
        nic_ids=nic.ids,
        distance=shown_distance(node, gpu, nic, question),
        gdr=nccl.gdr,
        why=nccl.why,
        verdicts={"nccl": nccl, "ucx": ucx, "verbs": verbs_verdict(can_register)},
    )


def nccl_version(node: NodeEvidence) -> NcclVersion | None:
    """Return NCCL's release: assumed, else of the log."""
    return value_of(node.log.version)


def question_of(node: NodeEvidence, gpu: Device, nic: Device) -> Question:
    """Return what NCCL looks at for a pair."""
    level = node.env("NCCL_NET_GDR_LEVEL", "NCCL_IB_GDR_LEVEL")
    c2c = node.env("NCCL_NET_GDR_C2C")
    reads = node.env("NCCL_NET_GDR_READ")
    reads_value = value_of(reads)
    return Question(
        nccl_distance(node, gpu, nic),
        nccl_version(node),
        value_of(nic_support(node, nic)),
        gpu_support(node, gpu),
        level_of(level.value) if level is not None else None,
        None if c2c is None else c2c.value.strip() != "0",
        None if reads_value is None or reads_value.strip() == "-2" else reads_value.strip() != "0",
        gpu.compute_capability,
        has_nvlink(node, gpu),
        len(node.joined.gpus),
    )


def nccl_distance(node: NodeEvidence, gpu: Device, nic: Device) -> str | None:
    """Return the pair's path type: of the best machine, else of the log's numbers."""
    found = node.joined.path(gpu, nic)
    if found is not None:
        kind = found[2].nccl.value
        far = kind in (Distance.PHB.value, Distance.NODE.value)
        return "P2C" if far and (gpu.c2c or is_grace(gpu.name)) else kind
    version = value_of(node.log.version)
    for decision in decisions_for(node, gpu, nic):
        if decision.distance is None:
            continue
        if version is not None:
            return version.type_of(decision.distance)
        if decision.level is not None and node.env("NCCL_NET_GDR_LEVEL", "NCCL_IB_GDR_LEVEL") is None:
            return type_without_version(decision.distance, decision.level)
    return None


def shown_distance(node: NodeEvidence, gpu: Device, nic: Device, question: Question) -> str:
    """Return the distance as people know it: nvidia-smi's classes, C2C as NCCL's release has it."""
    if question.distance in ("P2C", "C2C"):
        if question.version is None:
            return "C2C"
        return counted_distance(question) or "C2C"
    found = node.joined.path(gpu, nic)
    if found is not None:
        return found[2].distance.value
    return question.distance or "unknown"


def has_nvlink(node: NodeEvidence, gpu: Device) -> bool | None:
    """Return whether a GPU has an NVLink peer; None where no machine shows it."""
    best = node.joined.best
    if best is None or 0 not in gpu.parts:
        return None
    part = gpu.parts[0]
    return any(
        link.kind in (PeerKind.GPU, PeerKind.SWITCH) and part in (link.gpu, link.target)
        for link in best[1].nvlinks
    )


def _nccl(node: NodeEvidence, gpu: Device, nic: Device, question: Question) -> Verdict:
    if is_consumer(gpu):
        return Verdict(
            False, _("{gpu} is of a class without GPUDirect RDMA.").format(gpu=gpu.name or gpu.label)
        )
    platform = platform_without_gdr(node, node.joined.gpus)
    if platform is not None:
        return Verdict(False, _("{platform} has no GPUDirect RDMA.").format(platform=platform.value))
    seen = _seen(node, gpu, nic, question.version or LATEST)
    if seen is not None:
        return seen
    verdict = nccl_verdict(question)
    unloaded = value_of(software.peermem_loaded(node)) is False
    if verdict.gdr is False and question.nic_gdr is False and unloaded:
        why = _("NCCL finds no way to register GPU memory: no peer-memory module, no DMA-BUF.")
        return Verdict(False, why)
    return verdict


#: The first release that sends over NVLink to a GPU nearer to the NIC (PXN).
_PXN = NcclVersion(2, 12)


def _with_proxy(
    node: NodeEvidence, gpu: Device, nic: Device, question: Question, verdict: Verdict
) -> Verdict:
    """Add to a 'no' for distance that NCCL can send over NVLink through a GPU that is near the NIC."""
    near = ("PIX", "PXB")
    off = node.env("NCCL_PXN_DISABLE")
    disabled = off is not None and off.value.strip() not in ("", "0")
    if verdict.gdr is not False or not question.nvlink or question.distance in near or disabled:
        return verdict
    if question.nic_gdr is not True or (question.version or LATEST) < _PXN:
        return verdict
    peer = next(
        (other for other in node.joined.gpus if other is not gpu and nccl_distance(node, other, nic) in near),
        None,
    )
    if peer is None:
        return verdict
    text = _("With PXN, sends can go over NVLink to {peer}, which is near this NIC.").format(peer=peer.label)
    return replace(verdict, why=f"{verdict.why} {text}")


def _seen(node: NodeEvidence, gpu: Device, nic: Device, version: NcclVersion) -> Verdict | None:
    """Return what a log or a benchmark shows of a pair."""
    channels = channels_for(node, gpu, nic)
    if any(channel.gdr for channel in channels):
        return Verdict(True, _("The log shows GDRDMA on its channels."))
    decisions = decisions_for(node, gpu, nic)
    if any(decision.enabled for decision in decisions):
        return Verdict(True, _("The log says that GPUDirect RDMA is enabled for the pair."))
    if decisions:
        first = decisions[0]
        if first.distance is not None and first.level is not None:
            return Verdict(
                False,
                _("The log says: distance {n} ({type}) is beyond the level {level} ({level_type}).").format(
                    n=first.distance,
                    type=version.type_of(first.distance) or "?",
                    level=first.level,
                    level_type=version.type_of(first.level) or "?",
                ),
            )
        return Verdict(False, _("The log says that GPUDirect RDMA is disabled for the pair."))
    refused = node.log.hca(nic.name)
    if refused is not None and not refused.value:
        return Verdict(False, _("NCCL found no way to register GPU memory with this NIC."))
    if channels:
        return Verdict(False, _("The log shows its channels without GDRDMA."))
    for run in gpu_runs(node):
        if run.device == nic.name and nic.name and run.gpu_index == gpu.index and not node.log.present:
            return Verdict(True, _("{tool} moved GPU memory over this pair.").format(tool=run.tool))
    return None
