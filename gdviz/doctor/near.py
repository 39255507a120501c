"""Which GPUs have a near NIC, and whether staging is right where none has."""

from __future__ import annotations

from gdviz.doctor import support
from gdviz.doctor.evidence.devices import Device
from gdviz.doctor.evidence.fabric import hca_list
from gdviz.doctor.evidence.known import value_of
from gdviz.doctor.evidence.machines import shows_places
from gdviz.doctor.evidence.node import CaseEvidence, NodeEvidence
from gdviz.doctor.evidence.results import Run, case_runs
from gdviz.doctor.pairs import nccl_distance, question_of, shown_distance
from gdviz.doctor.verdict import counted_distance, level_in_force
from gdviz.doctor.versions import rank_of

#: Share of the port's rate from which a NIC counts as full.
FULL = 0.85


def gpus_without_near_nic(node: NodeEvidence) -> list[tuple[Device, str]]:
    """Return GPUs that only have NICs beyond the level, with their nearest distance.

    Only a machine that is whole can show that something is missing. What NCCL_NET_GDR_LEVEL says counts
    upwards only: a level that forbids everything is another finding.
    """
    best = node.joined.best
    if best is None or best[0].truncated or not best[1].nics or not shows_places(best[0]):
        return []
    found = []
    for gpu in node.joined.gpus:
        if 0 not in gpu.parts:
            continue
        kinds = []
        for nic in node.joined.nics:
            if 0 in nic.parts:
                question = question_of(node, gpu, nic)
                counted = counted_distance(question) or "SYS"
                raised = question.level is not None and rank_of(level_in_force(question)) > rank_of("PXB")
                within = rank_of(counted) <= rank_of("PXB") or question.distance == "P2C"
                if within or (raised and rank_of(counted) <= rank_of(level_in_force(question))):
                    break
                kinds.append((rank_of(counted), shown_distance(node, gpu, nic, question)))
        else:
            if kinds:
                found.append((gpu, min(kinds)[1]))
    return found


def near_pairs(node: NodeEvidence) -> list[tuple[Device, Device]]:
    """Return the pairs that share a switch."""
    if "near_pairs" not in node.memo:
        node.memo["near_pairs"] = [
            (gpu, nic)
            for gpu in node.joined.gpus
            for nic in node.joined.nics
            if nccl_distance(node, gpu, nic) in ("PIX", "PXB")
        ]
    found: list[tuple[Device, Device]] = node.memo["near_pairs"]
    return found


def used_nics(node: NodeEvidence) -> list[Device]:
    """Return the NICs that the job uses: of the log's list, else of NCCL_IB_HCA, else all."""
    if node.log.nics:
        names = {nic.name for nic in node.log.nics.values()}
        return [nic for nic in node.joined.nics if nic.name in names]
    listed = hca_list(node)
    if listed is not None:
        return [nic for nic in node.joined.nics if listed[0].allows(nic.name)]
    return list(node.joined.nics)


def line_rate(node: NodeEvidence) -> float | None:
    """Return what the ports in use carry together, bytes per second; None if one is unknown."""
    total = 0.0
    rates = {port.device: value_of(port.rate_bytes_per_s) for port in node.ports}
    nics = used_nics(node)
    for nic in nics:
        rate = rates.get(nic.name) or nic.speed_bytes_per_s
        if rate is None:
            return None
        total += rate
    return total or None


def full_run(case: CaseEvidence, node: NodeEvidence) -> Run | None:
    """Return a benchmark over the network that fills the ports in use, None if there is none."""
    rate = line_rate(node)
    if rate is None:
        return None
    for run in case_runs(case):
        best = run.best_bytes_per_s
        if run.tool in ("nccl-tests", "perftest") and best is not None and best >= FULL * rate:
            return run
    return None


def right_to_be_off(case: CaseEvidence, node: NodeEvidence) -> bool:
    """Return whether staging costs nothing here: all pairs meet at the CPU, and the ports are full."""
    if node.log.refused_hcas or not support.hardware_capable(node):
        return False
    setting = node.env("NCCL_NET_GDR_LEVEL", "NCCL_IB_GDR_LEVEL")
    if setting is not None or not node.joined.gpus or near_pairs(node):
        return False
    if any(gpu.c2c for gpu in node.joined.gpus):
        return False
    off = any(not d.enabled for d in node.log.decisions) or any(not c.gdr for c in node.log.channels)
    on = any(c.gdr for c in node.log.channels) or any(d.enabled for d in node.log.decisions)
    return off and not on and full_run(case, node) is not None
