"""The library above: staging by its own setting, one end only, and staging that is right."""

from __future__ import annotations

from collections.abc import Iterator

from gdviz.doctor import support
from gdviz.doctor.evidence.known import Known, evidence_of
from gdviz.doctor.evidence.node import CaseEvidence, NodeEvidence
from gdviz.doctor.evidence.results import case_runs, gpu_runs
from gdviz.doctor.findings import finding
from gdviz.doctor.near import full_run, line_rate, right_to_be_off
from gdviz.doctor.rules.base import Answer, rule
from gdviz.doctor.verdict import ucx_knows_cuda
from gdviz.doctor.words import sentences, staged_words
from gdviz.messages import _
from gdviz.quantities import format_rate


@rule("staging-by-middleware")
def middleware(case: CaseEvidence) -> Iterator[Answer]:
    """Find: UCX or MPI stages through the host by its own setting, or plainly does although verbs do not."""
    for node in case.nodes:
        if not support.hardware_capable(node):
            continue
        tls = node.env("UCX_TLS")
        direct = node.env("UCX_IB_GPU_DIRECT_RDMA")
        blind = tls is not None and not ucx_knows_cuda(tls.value)
        off = direct is not None and direct.value.strip().lower() in ("n", "no", "0", "off")
        slow = [run for run in case_runs(case) if run.tool in ("osu", "ucx_perftest") and run.on_gpu]
        fast = gpu_runs(node)
        if blind or off:
            setting = tls if blind else direct
            assert setting is not None
            text, cost = staged_words(node)
            yield finding(
                "staging-by-middleware",
                _("{node}: UCX stages GPU memory by its own setting: {setting}").format(
                    node=node.name, setting=setting.evidence[0].text
                ),
                *setting.evidence,
                *(run.evidence for run in slow[:1]),
                node=node.name,
                effect=sentences(
                    (
                        _(
                            "Without cuda_copy UCX cannot recognise GPU memory: everything goes through the "
                            "host."
                        )
                        if blind
                        else _("UCX does not let the NIC reach GPU memory."),
                        text,
                    )
                ),
                check=_("ucx_info -d | grep -e cuda; UCX_LOG_LEVEL=info, UCX_PROTO_INFO=y"),
                fix=_("add cuda_copy (or cuda) to UCX_TLS, or remove the variable")
                if blind
                else _("remove UCX_IB_GPU_DIRECT_RDMA"),
                cost_bytes_per_s=cost,
            )
        elif fast and slow:
            quick = max(run.best_bytes_per_s or 0.0 for run in fast)
            best = max(run.best_bytes_per_s or 0.0 for run in slow)
            if 0 < best < 0.5 * quick:
                yield finding(
                    "staging-by-middleware",
                    _("{node}: verbs reach {quick} from GPU memory, the library above only {best}").format(
                        node=node.name, quick=format_rate(quick), best=format_rate(best)
                    ),
                    slow[0].evidence,
                    fast[0].evidence,
                    node=node.name,
                    effect=_(
                        "GPUDirect RDMA works on this pair; the library above stages through the host by "
                        "its own choice."
                    ),
                    check=_("env | grep -e UCX -e OMPI; ucx_info -d | grep cuda; UCX_PROTO_INFO=y"),
                    fix=_(
                        "a build with CUDA, and settings that leave it on (UCX_TLS with cuda_copy, "
                        "gdr_copy; no UCX_IB_GPU_DIRECT_RDMA=n)"
                    ),
                    cost_bytes_per_s=quick - best,
                )


@rule("staging-by-middleware")
def sockets(case: CaseEvidence) -> Iterator[Answer]:
    """Find: NCCL goes over sockets because it is told to."""
    for node in case.nodes:
        off, net = node.env("NCCL_IB_DISABLE"), node.env("NCCL_NET")
        told = off if off is not None and off.value.strip() not in ("", "0") else None
        told = told or (net if net is not None and net.value.strip().lower() == "socket" else None)
        if told is None or node.log.channels or not support.hardware_capable(node):
            continue
        yield finding(
            "staging-by-middleware",
            _("{node}: NCCL goes over sockets by its own setting: {setting}").format(
                node=node.name, setting=told.evidence[0].text
            ),
            *told.evidence,
            *node.log.sockets[:2],
            node=node.name,
            effect=_("No RDMA at all: every byte goes through the kernel's TCP and host memory."),
            check=_("'Using network' in an NCCL_DEBUG=INFO log"),
            fix=_("remove the setting (NCCL_IB_DISABLE, NCCL_NET)"),
        )


@rule("one-sided-gdr")
def one_sided(case: CaseEvidence) -> Iterator[Answer]:
    """Find: one host uses GPUDirect RDMA, the other does not."""
    state: dict[str, Known[bool]] = {}
    for node in case.nodes:
        known = uses_gdr(node)
        if known is not None:
            state[node.name] = known
    yes = [name for name, known in state.items() if known.value]
    no = [name for name, known in state.items() if not known.value]
    if not yes or not no:
        return
    yield finding(
        "one-sided-gdr",
        _("{yes} uses GPUDirect RDMA, {no} does not").format(yes=", ".join(yes[:8]), no=", ".join(no[:8])),
        *(evidence for name in (*no[:2], *yes[:2]) for evidence in state[name].evidence[:2]),
        node=no[0] if len(no) == 1 else "",
        effect=_("The slower end sets the pace: traffic of {no} is staged through its host memory.").format(
            no=", ".join(no[:8])
        ),
        check=_("/GDRDMA on the channels of every host; 'GPU Direct RDMA Enabled for HCA' on every host"),
        fix=_("repair {no}: it differs from {yes} in modules, driver, OFED or settings").format(
            no=", ".join(no[:8]), yes=yes[0]
        ),
    )


def uses_gdr(node: NodeEvidence) -> Known[bool] | None:
    """Return whether a log shows GPUDirect RDMA at work on a node; None where it shows nothing."""
    on = [c.evidence for c in node.log.channels if c.gdr]
    if on:
        return Known(True, tuple(on[:2]))
    off = [c.evidence for c in node.log.channels if not c.gdr]
    if off:
        return Known(False, (*off[:1], *evidence_of(*node.log.refused_hcas.values())[:1]))
    hcas = node.log.hcas
    if hcas and all(not known.value for known in hcas.values()):
        return Known(False, evidence_of(*hcas.values())[:2])
    if hcas and all(known.value for known in hcas.values()) and not node.log.decisions:
        return Known(True, evidence_of(*hcas.values())[:2])
    decided = [d for d in node.log.decisions if d.enabled]
    return Known(True, (decided[0].evidence,)) if decided else None


@rule("gdr-off-is-right")
def right(case: CaseEvidence) -> Iterator[Answer]:
    """Find: GPUDirect RDMA is off and would not help."""
    for node in case.nodes:
        if not right_to_be_off(case, node):
            continue
        run, rate = full_run(case, node), line_rate(node)
        if run is None or rate is None or run.best_bytes_per_s is None:
            continue
        lines = [d.evidence for d in node.log.decisions if not d.enabled][:2]
        yield finding(
            "gdr-off-is-right",
            _("{node}: GPUDirect RDMA is off, and need not be on").format(node=node.name),
            run.evidence,
            *lines,
            node=node.name,
            effect=_(
                "GPU and NIC only meet at the CPU, which direct traffic would cross as well; {tool} reaches "
                "{best} of the"
                " {rate} that the ports in use carry, as much as they give. Raising the level gains nothing "
                "here."
            ).format(tool=run.tool, best=format_rate(run.best_bytes_per_s), rate=format_rate(rate)),
            check=_("the measured rate beside the port's"),
        )
