"""Distance and level: which pairs NCCL leaves out, and whether it should (R11, R21)."""

from __future__ import annotations

from collections.abc import Iterator

from gdviz.doctor import support
from gdviz.doctor.evidence.devices import Device
from gdviz.doctor.evidence.known import Known, evidence_of, value_of
from gdviz.doctor.evidence.log import PairDecision
from gdviz.doctor.evidence.node import CaseEvidence, NodeEvidence
from gdviz.doctor.evidence.platform import is_grace
from gdviz.doctor.findings import finding
from gdviz.doctor.near import gpus_without_near_nic, right_to_be_off
from gdviz.doctor.pairs import nccl_distance, nccl_version, question_of
from gdviz.doctor.rules.base import Answer, rule
from gdviz.doctor.rules.vm import is_flat_vm
from gdviz.doctor.verdict import counted_distance, level_in_force
from gdviz.doctor.versions import LATEST, NcclVersion, level_of, rank_of, type_without_version
from gdviz.doctor.words import sentences, staged_words
from gdviz.messages import _
from gdviz.readers import Evidence

#: Path types of pairs that share a switch.
NEAR = ("PIX", "PXB")


@rule("gdr-level-forbids", number="R11")
def forbidden(case: CaseEvidence) -> Iterator[Answer]:
    """Find: the environment forbids GPUDirect RDMA for near pairs as well."""
    for node in case.nodes:
        setting = _setting(node)
        level = level_of(setting.value) if setting is not None else None
        if setting is None or level is None or not support.hardware_capable(node):
            continue
        hit = _forbidden_pairs(node, level)
        if level != "LOC" and not hit and not _forbidden_decisions(node):
            continue
        if any(channel.gdr for channel in node.log.channels):
            continue
        lines = tuple(d.evidence for d in node.log.decisions if not d.enabled)[:3]
        first = hit[0] if hit else None
        words, cost = staged_words(node, *first[:2]) if first else staged_words(node)
        named = ", ".join(f"{gpu.label}-{nic.label} ({kind})" for gpu, nic, kind in hit[:4])
        yield finding(
            "gdr-level-forbids",
            _("{node}: NCCL_NET_GDR_LEVEL={value} forbids GPUDirect RDMA even for near pairs").format(
                node=node.name, value=setting.value
            ),
            *setting.evidence,
            *lines,
            node=node.name,
            effect=sentences(
                (
                    _("{value} means never.").format(value=setting.value)
                    if level == "LOC"
                    else _("{value} means no pair farther than {level}.").format(
                        value=setting.value, level=level
                    ),
                    _("From NCCL 2.29.2 on a NIC reached over NVLink-C2C counts as P2C, farther than PXB.")
                    if any(kind == "P2C" for _gpu, _nic, kind in hit)
                    else "",
                    _("It hits {pairs}.").format(pairs=named) if named else "",
                    words,
                )
            ),
            check=_("env | grep NCCL; the image's own environment; /etc/nccl.conf and ~/.nccl.conf"),
            fix=_("remove the variable (unset NCCL_NET_GDR_LEVEL; also from the image and nccl.conf)"),
            cost_bytes_per_s=cost,
        )


def _setting(node: NodeEvidence) -> Known[str] | None:
    """Return the level that is set; a log that prints a level of 0 had LOC, which is no default."""
    told = node.env("NCCL_NET_GDR_LEVEL", "NCCL_IB_GDR_LEVEL")
    if told is None:
        lines = tuple(d.evidence for d in node.log.decisions if d.level == 0 and not d.enabled)
        return Known("LOC", lines[:1]) if lines else None
    return told


def _forbidden_decisions(node: NodeEvidence) -> bool:
    """Return whether the log shows near pairs that were left out, whatever their NIC is called."""
    version = value_of(node.log.version)
    return version is not None and any(
        not d.enabled and d.distance is not None and version.type_of(d.distance) in NEAR
        for d in node.log.decisions
    )


def _forbidden_pairs(node: NodeEvidence, level: str) -> list[tuple[Device, Device, str]]:
    found = []
    for gpu in node.joined.gpus:
        for nic in node.joined.nics:
            question = question_of(node, gpu, nic)
            counted = counted_distance(question)
            near = counted in NEAR or question.distance == "P2C"
            if counted and near and rank_of(counted) > rank_of(level):
                found.append((gpu, nic, counted))
    return found


@rule("c2c-needs-setting", number="R21")
def c2c(case: CaseEvidence) -> Iterator[Answer]:
    """Find: Grace: this NCCL does not use GPUDirect RDMA over NVLink-C2C unless told to."""
    for node in case.nodes:
        pairs = [
            (gpu, nic)
            for gpu in node.joined.gpus
            if gpu.c2c or is_grace(gpu.name)
            for nic in node.joined.nics
            if nccl_distance(node, gpu, nic) in ("P2C", "C2C", "PHB")
        ]
        version = nccl_version(node)
        if not pairs or version is None or not support.hardware_capable(node):
            continue
        if any(c.gdr for c in node.log.channels) or any(d.enabled for d in node.log.decisions):
            continue
        gpu, nic = pairs[0]
        question = question_of(node, gpu, nic)
        counted = counted_distance(question) or "PHB"
        level = level_in_force(question)
        if question.level is not None or rank_of(counted) <= rank_of(level):
            continue
        setting = node.env("NCCL_NET_GDR_C2C")
        words, cost = staged_words(node, gpu, nic)
        words = words if cost else ""
        if version >= NcclVersion(2, 27):
            why = _("NCCL {version} would use it, but NCCL_NET_GDR_C2C=0 is set.")
            fix: tuple[str, ...] = (_("remove NCCL_NET_GDR_C2C=0 (2.27 and newer have 1 by default)"),)
        elif version.has_c2c:
            why = _("NCCL_NET_GDR_C2C exists in NCCL {version}, but its default is 0.")
            fix = (_("NCCL 2.27 or newer, where it is on"), _("or NCCL_NET_GDR_C2C=1 with this release"))
        else:
            why = _("NCCL {version} counts the NIC at the CPU as PHB and has no NCCL_NET_GDR_C2C yet.")
            fix = (_("NCCL 2.27 or newer, where it is on"), _("or NCCL_NET_GDR_LEVEL=PHB with this release"))
        yield finding(
            "c2c-needs-setting",
            _("{node}: NCCL {version} leaves GPUDirect RDMA over NVLink-C2C off by default").format(
                node=node.name, version=version
            ),
            *evidence_of(node.log.version, setting),
            *tuple(d.evidence for d in node.log.decisions if not d.enabled)[:3],
            node=node.name,
            effect=sentences(
                (
                    why.format(version=version),
                    _(
                        "Distance {distance} is beyond the level {level}; from 2.27 on NCCL_NET_GDR_C2C is 1."
                    ).format(distance=counted, level=level),
                    words,
                )
            ),
            check=_("NCCL_DEBUG=INFO: 'GPU Direct RDMA Enabled', or /GDRDMA on the channels"),
            fix=fix,
            cost_bytes_per_s=cost,
        )


@rule("distance-beyond-level", number="R11")
def beyond(case: CaseEvidence) -> Iterator[Answer]:
    """Find: NCCL leaves it off for a pair that is farther than the level, and uses that pair."""
    for node in case.nodes:
        if not support.hardware_capable(node) or right_to_be_off(case, node) or _is_grace_node(node):
            continue
        setting = node.env("NCCL_NET_GDR_LEVEL", "NCCL_IB_GDR_LEVEL")
        if setting is not None and level_of(setting.value) == "LOC":
            continue
        version = value_of(node.log.version)
        lines: list[tuple[str, Evidence]] = []
        farthest = "PIX"
        for decision in node.log.decisions:
            if decision.enabled or decision.distance is None or decision.level is None:
                continue
            if _not_taken(node, decision):
                continue
            kind = version.type_of(decision.distance) if version else _machine_type(node, decision)
            if kind is None or kind in NEAR:
                continue
            lines.append((_told(node, decision, kind), decision.evidence))
            farthest = max(farthest, kind, key=rank_of)
        if not lines:
            lines, farthest = _far_channels(node)
        if not lines:
            continue
        texts = list(dict.fromkeys(text for text, _e in lines))
        words, cost = "", 0.0
        if pair := _first_far(node):
            words, cost = staged_words(node, *pair)
        shown_version = _("NCCL {version}").format(version=version) if version else "NCCL"
        yield finding(
            "distance-beyond-level",
            _("{node}: {version} leaves GPUDirect RDMA off for pairs farther than the level").format(
                node=node.name, version=shown_version
            ),
            *dict.fromkeys(e for _t, e in lines[:8]),
            *evidence_of(node.log.version, setting),
            node=node.name,
            effect=sentences(
                (
                    "; ".join(texts[:8]) + ".",
                    _(
                        "Raising the level helps only where measured: through the CPU direct can be slower "
                        "than staged."
                    ),
                    words,
                )
            ),
            check=_("nvidia-smi topo -m: PIX or PXB between the GPU and the NIC it uses"),
            fix=_(
                "a nearer NIC for these GPUs, or the job on GPUs that have one (CUDA_VISIBLE_DEVICES, "
                "NCCL_IB_HCA)"
            ),
            cost_bytes_per_s=cost,
        )


def _not_taken(node: NodeEvidence, decision: PairDecision) -> bool:
    """Return whether a GPU's channels all go over other NICs than the one that was found too far."""
    gpu = node.joined.gpu(busid=decision.gpu_busid, index=decision.gpu_index)
    channels = support.channels_for(node, gpu) if gpu is not None else []
    return bool(channels) and all(channel.nic_index != decision.nic_index for channel in channels)


def _is_grace_node(node: NodeEvidence) -> bool:
    return any(gpu.c2c or is_grace(gpu.name) for gpu in node.joined.gpus)


def _machine_type(node: NodeEvidence, decision: PairDecision) -> str | None:
    for gpu in node.joined.gpus:
        for nic in node.joined.nics:
            if decision in support.decisions_for(node, gpu, nic):
                return nccl_distance(node, gpu, nic)
    return type_without_version(decision.distance or 0, decision.level or 0)


def _told(node: NodeEvidence, decision: PairDecision, kind: str) -> str:
    gpu = node.joined.gpu(busid=decision.gpu_busid, index=decision.gpu_index)
    who = gpu.label if gpu else decision.gpu_busid or f"GPU {decision.gpu_index}"
    nic = node.log.nics.get(decision.nic_index) if decision.nic_index is not None else None
    level = (value_of(node.log.version) or LATEST).type_of(decision.level or 0)
    return _("{gpu}-{nic}: distance {n} is {kind}, the level {m} is {level}").format(
        gpu=who,
        nic=nic.name if nic else f"HCA {decision.nic_index}",
        n=decision.distance,
        kind=kind,
        m=decision.level,
        level=level or "?",
    )


def _far_channels(node: NodeEvidence) -> tuple[list[tuple[str, Evidence]], str]:
    """Return channels without GDRDMA over a NIC that the tree shows to be beyond the level.

    Where NCCL refused the NICs altogether, the distance decides nothing.
    """
    lines: list[tuple[str, Evidence]] = []
    farthest = "PIX"
    if any(not known.value for known in node.log.hcas.values()):
        return [], farthest
    for gpu in node.joined.gpus:
        for nic in node.joined.nics:
            channels = support.channels_for(node, gpu, nic)
            if not channels or any(channel.gdr for channel in channels):
                continue
            question = question_of(node, gpu, nic)
            counted = counted_distance(question)
            if counted is None or counted in NEAR or rank_of(counted) <= rank_of(level_in_force(question)):
                continue
            text = _("{gpu}-{nic}: {kind} is beyond the level {level}").format(
                gpu=gpu.label, nic=nic.label, kind=counted, level=level_in_force(question)
            )
            lines.append((text, channels[0].evidence))
            farthest = max(farthest, counted, key=rank_of)
    return lines, farthest


def _first_far(node: NodeEvidence) -> tuple[Device, Device] | None:
    for gpu in node.joined.gpus:
        for nic in node.joined.nics:
            if any(not d.enabled for d in support.decisions_for(node, gpu, nic)):
                return gpu, nic
    return None


@rule("no-near-nic", number="R11")
def no_near_nic(case: CaseEvidence) -> Iterator[Answer]:
    """Find: a GPU has no NIC within the level."""
    for node in case.nodes:
        if not support.hardware_capable(node) or is_flat_vm(node) or right_to_be_off(case, node):
            continue
        without = gpus_without_near_nic(node)
        if not without:
            continue
        reading = node.joined.best[0] if node.joined.best else None
        names = ", ".join(f"{gpu.label} ({kind})" for gpu, kind in without)
        words, cost = "", 0.0
        nics = [nic for nic in node.joined.nics if node.joined.path(without[0][0], nic)]
        if nics:
            words, cost = staged_words(node, without[0][0], nics[0])
        nvlink = any(machine.nvlinks for _r, machine in node.joined.sources)
        fix = [
            _("another slot for the NIC or the GPU, so that both share a switch; a NIC for each pair of GPUs")
        ]
        if nvlink:
            fix.append(_("PXN (NCCL 2.12 or newer): over NVLink to a neighbour with a near NIC"))
        yield finding(
            "no-near-nic",
            _("{node}: GPUs without a NIC within the level: {names}").format(node=node.name, names=names),
            *_matrix_lines(node, [gpu for gpu, _kind in without]),
            *((reading.cite(None, _("distances of {kind}").format(kind=reading.kind)),) if reading else ()),
            node=node.name,
            effect=sentences(
                (_("At its default level NCCL stages everything that these GPUs send and receive."), words)
            ),
            check=_("nvidia-smi topo -m: each GPU's row should hold PIX or PXB below one NIC"),
            fix=tuple(fix),
            cost_bytes_per_s=cost,
        )


def _matrix_lines(node: NodeEvidence, gpus: list[Device]) -> tuple[Evidence, ...]:
    from gdviz.readers.nvidia_smi import TopoMatrix

    found = []
    for reading, matrix in node.own(TopoMatrix):
        for gpu in gpus[:4]:
            row = matrix.row(f"GPU{gpu.index}")
            if row is not None:
                found.append(reading.cite(row.line))
    return tuple(found)


@rule("mixed-distance-nics", number="R11")
def mixed(case: CaseEvidence) -> Iterator[Answer]:
    """Find: one GPU's traffic is spread over near and far NICs."""
    for node in case.nodes:
        if not support.hardware_capable(node):
            continue
        for gpu in node.joined.gpus:
            used = [(nic, nccl_distance(node, gpu, nic)) for nic in _used_nics(node, gpu)]
            kinds = {kind for _nic, kind in used if kind}
            near = {kind for kind in kinds if kind in NEAR}
            if not near or kinds == near:
                continue
            far = [nic for nic, kind in used if kind and kind not in NEAR]
            good = [nic for nic, kind in used if kind in NEAR]
            words, cost = staged_words(node, gpu, far[0])
            lines = [c.evidence for nic in (*good, *far) for c in support.channels_for(node, gpu, nic)[:1]]
            listing = node.env("UCX_NET_DEVICES")
            yield finding(
                "mixed-distance-nics",
                _("{node}: {gpu} is spread over near and far NICs: {nics}").format(
                    node=node.name,
                    gpu=gpu.label,
                    nics=", ".join(f"{nic.label} ({kind})" for nic, kind in used),
                ),
                *lines[:4],
                *(listing.evidence if listing and not lines else ()),
                node=node.name,
                effect=sentences(
                    (
                        _(
                            "The slower half sets the pace of a ring: the far channel is staged or crosses "
                            "sockets."
                        ),
                        words,
                    )
                ),
                check=_("'via NET/IB/<n>' of the channels of one rank: all over NICs of one distance"),
                fix=_(
                    "restrict {gpu} to {nics} (NCCL_IB_HCA per process, NCCL_CROSS_NIC=0, UCX_NET_DEVICES)"
                ).format(gpu=gpu.label, nics=", ".join(nic.label for nic in good)),
                cost_bytes_per_s=cost,
            )


def _used_nics(node: NodeEvidence, gpu: Device) -> list[Device]:
    used = [nic for nic in node.joined.nics if support.channels_for(node, gpu, nic)]
    if used:
        return used
    visible, devices = node.env("CUDA_VISIBLE_DEVICES"), node.env("UCX_NET_DEVICES")
    if visible is None or devices is None or visible.value.strip() != str(gpu.index):
        return []
    names = [name.partition(":")[0].strip() for name in devices.value.split(",")]
    return [nic for nic in node.joined.nics if nic.name in names]
