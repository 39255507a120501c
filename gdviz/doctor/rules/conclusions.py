"""What is left to say when all rules have spoken: inputs, unknown causes, health."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from gdviz.doctor import support
from gdviz.doctor.evidence.known import value_of
from gdviz.doctor.evidence.node import CaseEvidence, NodeEvidence
from gdviz.doctor.evidence.results import gpu_runs
from gdviz.doctor.evidence.topo_xml import documents
from gdviz.doctor.findings import Finding, Severity, finding
from gdviz.doctor.near import gpus_without_near_nic, near_pairs
from gdviz.doctor.rules.base import Answer, conclusion, rule
from gdviz.doctor.symptoms import EXPLAINED_BY, symptoms
from gdviz.doctor.words import sentences
from gdviz.messages import _
from gdviz.readers import Evidence

#: Findings that a healthy machine may have.
_HARMLESS = {"mtu-small"}

#: Reasons for which a file that was not used is told: one that no reader knows is often none of ours.
_BROKEN = {"empty", "binary", "refused", "unreadable"}


@rule("truncated-input")
def truncated(case: CaseEvidence) -> Iterator[Answer]:
    """Find: a file ends in the middle."""
    told: set[str] = set()
    for reading in case.readings:
        if not reading.truncated or reading.source in told:
            continue
        told.add(reading.source)
        last = len(reading.lines) or None
        yield finding(
            "truncated-input",
            _("{file} ends in the middle ({kind})").format(file=_short(reading.source), kind=reading.kind),
            reading.cite(last),
            effect=_(
                "What would follow is unknown: nothing is concluded from what is missing there. What was "
                "there is used."
            ),
            check=_("the last lines of the file"),
            fix=_("give the whole file"),
        )


@rule("unreadable-input")
def unreadable(case: CaseEvidence) -> Iterator[Answer]:
    """Find: a file given was not used."""
    for file, reason, why in case.unread:
        if why not in _BROKEN:
            continue
        yield finding(
            "unreadable-input",
            _("{file} was not used: {reason}").format(file=_short(file), reason=reason),
            Evidence(file, None, reason),
            effect=_("Nothing in it was considered."),
            check=_("file {file}").format(file=_short(file)),
            fix=_("give it as text, as the tool prints it"),
        )


def _short(path: str) -> str:
    return PurePath(path).name or path


@conclusion("unknown-cause")
def unknown_cause(case: CaseEvidence, found: tuple[Finding, ...]) -> Iterator[Answer]:
    """Find: a symptom that no finding explains."""
    codes = {each.code for each in found}
    open_ones = [s for s in symptoms(case) if not EXPLAINED_BY[s.kind] & codes]
    told: set[tuple[str, str]] = set()
    for symptom in open_ones:
        if (symptom.kind, symptom.bring) in told:
            continue
        told.add((symptom.kind, symptom.bring))
        node = next((n for n in case.nodes if n.name == symptom.node), None)
        yield finding(
            "unknown-cause",
            _("{node}: {text}; the inputs do not settle why").format(
                node=symptom.node or _("the job"), text=symptom.text
            ),
            *symptom.evidence,
            *(_contradiction(node) if node is not None and symptom.kind == "refused" else ()),
            node=symptom.node,
            effect=sentences(
                (
                    _not_it(node) if node is not None and symptom.kind == "refused" else "",
                    _("Bring next: {what}.").format(what=symptom.bring),
                )
            ),
            check=symptom.bring,
        )


def _contradiction(node: NodeEvidence) -> tuple[Evidence, ...]:
    from gdviz.doctor.evidence import software

    loaded = software.peermem_loaded(node)
    return (*(loaded.evidence if loaded else ()), *(run.evidence for run in gpu_runs(node)[:1]))


def _not_it(node: NodeEvidence) -> str:
    from gdviz.doctor.evidence import software

    parts = []
    if gpu_runs(node):
        parts.append(_("Verbs move GPU memory on this node (perftest), so that module and hardware work."))
    elif value_of(software.peermem_loaded(node)):
        parts.append(_("The peer-memory module is loaded, and this NCCL looks where it shows itself."))
    parts.append(
        _("The refusal comes before any distance is looked at: NCCL_NET_GDR_LEVEL cannot change it.")
    )
    return " ".join(parts)


@conclusion("healthy")
def healthy(case: CaseEvidence, found: tuple[Finding, ...]) -> Iterator[Answer]:
    """Find: nothing wrong was found, and GPUDirect RDMA is in use."""
    if any(each.code not in _HARMLESS or each.severity is not Severity.INFO for each in found):
        return
    if symptoms(case):
        return
    proofs = [(node, proof) for node in case.nodes if (proof := _in_use(node))]
    if not proofs:
        return
    names = ", ".join(node.name for node, _p in proofs[:8])
    yield finding(
        "healthy",
        _("Nothing wrong was found: GPUDirect RDMA is in use on {nodes}").format(nodes=names),
        *(evidence for _node, proof in proofs[:3] for evidence in proof[:3]),
        effect=(
            _("Every pair in use is near, and NIC and GPU support it.")
            if any(near_pairs(node) for node, _p in proofs)
            else _("NIC and GPU support it; where they lie in the machine is not among the inputs.")
        ),
        check=_("/GDRDMA on the channels of an NCCL_DEBUG=INFO log"),
    )


def _in_use(node: NodeEvidence) -> tuple[Evidence, ...]:
    """Return lines that show GPUDirect RDMA at work, or that NCCL would use it."""
    channels = [c.evidence for c in node.log.channels if c.gdr]
    if channels:
        return tuple(channels)
    decisions = [d.evidence for d in node.log.decisions if d.enabled]
    if decisions:
        return tuple(decisions)
    if gpus_without_near_nic(node):
        return ()
    if not near_pairs(node):
        # Where GPU and NIC lie is not told; that GPU memory went over the wire is (a slow run is a symptom).
        return () if node.joined.best else tuple(run.evidence for run in gpu_runs(node))
    hcas = [known for known in node.log.hcas.values() if known.value]
    if hcas:
        return tuple(e for known in hcas for e in known.evidence)
    if runs := gpu_runs(node):
        return tuple(run.evidence for run in runs)
    if any(gpu.gdr and nic.gdr for gpu, nic in near_pairs(node)) and support.hardware_capable(node):
        return tuple(reading.cite(root.line) for reading, root in documents(node))
    return ()
