"""What went wrong as the files show it, and which findings explain it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gdviz.doctor import support
from gdviz.doctor.evidence.known import evidence_of, value_of
from gdviz.doctor.evidence.node import CaseEvidence, NodeEvidence
from gdviz.doctor.evidence.patterns import COMPLETION, MODIFY_QP
from gdviz.doctor.evidence.topo_xml import documents, walk
from gdviz.doctor.failures import failures
from gdviz.doctor.normal import low_runs
from gdviz.messages import _
from gdviz.quantities import format_rate
from gdviz.readers import Evidence

_NO_WAY = frozenset(
    {"peermem-missing", "peermem-invisible-to-nccl", "peermem-build-mismatch", "dmabuf-unsupported-kernel"}
    | {
        "dmabuf-closed-module",
        "dmabuf-unsupported-rdma",
        "gpu-no-gdr",
        "platform-no-gdr",
        "pcie-topo-check-refused",
    }
)
_BY_DISTANCE = frozenset(
    {"distance-beyond-level", "gdr-level-forbids", "c2c-needs-setting", "vm-flat-topology", "no-near-nic"}
    | {"gdr-off-is-right", "mixed-distance-nics"}
)
_PATH = frozenset({"acs-on-path", "ats-off-in-vm", "iommu-translating"})
_WIRE = frozenset({"gid-index-wrong", "mtu-mismatch", "lossy-fabric", "port-down"})
_SLOW = frozenset(
    {"lossy-fabric", "port-down", "port-rate-low", "link-degraded", "one-sided-gdr", "staging-by-middleware"}
    | {"virtual-bridge-bottleneck", "link-speed-unknown", "nvlink-asymmetric", "gdr-level-forbids"}
)

#: Which codes explain which kind of symptom.
EXPLAINED_BY: dict[str, frozenset[str]] = {
    "refused": _NO_WAY,
    "staged": _NO_WAY | _BY_DISTANCE,
    "no-memory": frozenset({"memlock-limit", "bar1-too-small", "iommu-translating"}),
    "bad-address": _NO_WAY | {"bar1-too-small"},
    "refused-export": frozenset({"pcie-topo-check-refused"}),
    "no-verb": frozenset({"dmabuf-unsupported-rdma", "dmabuf-unsupported-kernel"}),
    "invalid": _NO_WAY | {"bar1-too-small"},
    "protection": _PATH | {"pcie-topo-check-refused"},
    "unreachable": _WIRE | _PATH,
    "sockets": frozenset({"staging-by-middleware", "port-down", "platform-no-gdr"}),
    "slow": _NO_WAY | _BY_DISTANCE | _PATH | _WIRE | _SLOW,
}


#: Status of a completion whose retries were used up.
RETRIES = 12


@dataclass(frozen=True, slots=True)
class Symptom:
    """Something that went wrong.

    Attributes
    ----------
    kind
        A key of `EXPLAINED_BY`.
    text
        One sentence.
    bring
        What would settle the cause.
    """

    kind: str
    node: str
    text: str
    bring: str
    evidence: tuple[Evidence, ...]


def symptoms(case: CaseEvidence) -> list[Symptom]:
    """Return the symptoms of all nodes."""
    found = [symptom for node in case.nodes for symptom in _of_node(node)]
    if not found or all(s.kind == "slow" for s in found):
        for low in low_runs(case):
            best = format_rate(low.best_bytes_per_s)
            text = _("{what} reaches {best} ({why})").format(
                what=low.what, best=best, why=low.why.rstrip(".")
            )
            bring = _(
                "the NCCL log (NCCL_DEBUG=INFO) of the run, and before and after it the counters in"
                " /sys/class/infiniband/*/ports/*/hw_counters of all nodes"
            )
            found.append(Symptom("slow", low.node, text, bring, (low.evidence,)))
    return found


def _of_node(node: NodeEvidence) -> Iterator[Symptom]:
    yield from _refused(node)
    yield from _staged(node)
    yield from _failed(node)
    yield from _completions(node)
    if node.log.sockets and not node.log.channels:
        yield Symptom(
            "sockets",
            node.name,
            _("NCCL goes over sockets, not over RDMA"),
            _(
                "ibv_devices; ibv_devinfo; ls /dev/infiniband; env | grep -e NCCL_IB -e NCCL_NET; the log's "
                "lines with NET/"
            ),
            tuple(node.log.sockets[:3]),
        )


def _refused(node: NodeEvidence) -> Iterator[Symptom]:
    refused = node.log.refused_hcas
    if refused:
        yield Symptom(
            "refused",
            node.name,
            _("NCCL found no GPUDirect RDMA with {nics}").format(nics=", ".join(refused)),
            _bring_for_refusal(node),
            (*evidence_of(*refused.values())[:3], *evidence_of(node.log.version)),
        )
    elif not node.log.present and support.hardware_capable(node):
        lines = _elements_without(node)
        if lines:
            yield Symptom(
                "refused",
                node.name,
                _("NCCL's topology says gdr=0 for its NICs, but 1 for its GPUs"),
                _("lsmod; cat /proc/driver/nvidia/version; the NCCL log (NCCL_DEBUG=INFO) of a run"),
                lines,
            )


def _elements_without(node: NodeEvidence) -> tuple[Evidence, ...]:
    for reading, root in documents(node):
        elements = list(walk(reading, root))
        gpus = [e for e in elements if e.element.tag == "gpu" and e.get("gdr")]
        nets = [e for e in elements if e.element.tag == "net" and e.get("gdr")]
        if (
            gpus
            and nets
            and all(e.get("gdr") == "1" for e in gpus)
            and all(e.get("gdr") == "0" for e in nets)
        ):
            return tuple(e.evidence for e in nets[:3])
    return ()


def _bring_for_refusal(node: NodeEvidence) -> str:
    if value_of(node.log.version) is None:
        return _(
            "the NCCL version (first lines of NCCL_DEBUG=INFO, or the package): up to 2.22 NCCL looks for "
            "the module"
            " only below /sys/kernel/mm/memory_peers"
        )
    return _(
        "lsmod and what the job itself sees (inside its container): ls -l "
        "/sys/kernel/mm/memory_peers/*/version"
        " /sys/module/nvidia_peermem/version; cat /proc/driver/nvidia/version; dmesg | grep -i peermem;"
        " and ib_write_bw --use_cuda=0 on the same pair"
    )


def _staged(node: NodeEvidence) -> Iterator[Symptom]:
    if node.log.refused_hcas:
        return
    off = [c for c in node.log.channels if not c.gdr]
    on = [c for c in node.log.channels if c.gdr]
    if not off or (on and all(c.sends for c in off)):
        # Sends alone are staged on GPUs before Ampere: NCCL's own choice, told at the pair.
        return
    yield Symptom(
        "staged",
        node.name,
        _("channels go over the network without GDRDMA"),
        _(
            "nvidia-smi topo -m, env | grep NCCL, and the whole NCCL log with its 'GPU Direct RDMA' lines "
            "(or the topology dump)"
        ),
        tuple(c.evidence for c in off[:3]),
    )


_KIND_OF = {
    support.ENOMEM: "no-memory",
    support.EFAULT: "bad-address",
    support.ENOTSUPP: "refused-export",
    support.EOPNOTSUPP: "no-verb",
    support.EPROTONOSUPPORT: "no-verb",
    support.EINVAL: "invalid",
    support.ETIMEDOUT: "unreachable",
}
_BRING = {
    "no-memory": "ulimit -l (inside the job); nvidia-smi -q -d MEMORY; cat /proc/cmdline",
    "bad-address": "lsmod; cat /proc/driver/nvidia/version; NCCL_CUMEM_ENABLE; nvidia-smi -q",
    "refused-export": "readlink /sys/bus/pci/devices/*/iommu_group; rdma_topo check",
    "no-verb": "ofed_info -s; dpkg -l rdma-core; uname -r; grep P2PDMA /boot/config-*",
    "invalid": "dmesg | tail -50; nvidia-smi -q; lsmod",
    "unreachable": "show_gids, ibv_devinfo -v, ibstat",
}


def _failed(node: NodeEvidence) -> Iterator[Symptom]:
    seen: set[str] = set()
    for failure in failures(node):
        kind = _KIND_OF.get(failure.errno or 0)
        if kind is None or kind in seen or MODIFY_QP.search(f"{failure.call} failed"):
            continue  # a connection that came to nothing is told below
        seen.add(kind)
        text = _("{call} failed with errno {errno}").format(call=failure.call, errno=failure.errno)
        yield Symptom(kind, node.name, text, _BRING[kind], failure.evidence)


def _completions(node: NodeEvidence) -> Iterator[Symptom]:
    seen: set[str] = set()
    for warning in node.log.warnings:
        match = COMPLETION.search(warning.text)
        if match is None and warning.status is None and not MODIFY_QP.search(warning.text):
            continue
        status = warning.status if warning.status is not None else int(match[1]) if match else RETRIES
        kind = "protection" if status in (4, 10, 11) else "unreachable"
        if kind in seen or status == 5:  # flushed with another error
            continue
        seen.add(kind)
        bring = (
            "sudo lspci -vvv; dmesg; cat /proc/cmdline; lscpu | grep Hypervisor"
            if kind == "protection"
            else "show_gids, ibv_devinfo -v, ibstat, hw_counters (both nodes)"
        )
        failed = match is not None or warning.status is not None
        text = (
            _("a completion came with status {n}").format(n=status) if failed else _("ibv_modify_qp failed")
        )
        yield Symptom(kind, node.name, text, bring, (warning.evidence,))
