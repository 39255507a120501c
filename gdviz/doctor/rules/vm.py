"""Virtual machines: flat trees, and NICs without address translation (R10)."""

from __future__ import annotations

from collections.abc import Iterator

from gdviz.doctor import support
from gdviz.doctor.evidence.grep import grep_readings
from gdviz.doctor.evidence.known import evidence_of, value_of
from gdviz.doctor.evidence.machines import shows_places
from gdviz.doctor.evidence.nics import rdma_functions
from gdviz.doctor.evidence.node import CaseEvidence, NodeEvidence
from gdviz.doctor.evidence.patterns import TOPO_FILE
from gdviz.doctor.evidence.pci import listings
from gdviz.doctor.evidence.platform import virtual
from gdviz.doctor.findings import Untold, finding
from gdviz.doctor.rules.base import Answer, rule
from gdviz.machine import BridgeKind, Distance
from gdviz.messages import _
from gdviz.readers import Evidence


def is_flat_vm(node: NodeEvidence) -> bool:
    """Return whether the node is a virtual machine in which no GPU and NIC share a switch."""
    return bool(value_of(virtual(node))) and bool(_flat(node))


def _flat(node: NodeEvidence) -> tuple[Evidence, ...]:
    """Return lines that show a tree without switches; nothing if there is one, or no tree at all."""
    placed = ((r, m) for r, m in node.joined.sources if m.gpus and m.nics and shows_places(r))
    best = next(((r, m) for r, m in placed if not r.truncated), None)
    if best is None:
        return ()
    reading, machine = best
    if any(bridge.kind is BridgeKind.SWITCH for bridge in machine.bridges):
        return ()
    near = (Distance.PIX, Distance.PXB)
    for gpu in machine.gpus:
        for nic in machine.nics:
            if machine.path(gpu.id, nic.id).distance in near:
                return ()
    return (
        reading.cite(None, _("{kind}: every GPU and NIC directly below a CPU").format(kind=reading.kind)),
    )


@rule("vm-flat-topology", number="R10")
def flat(case: CaseEvidence) -> Iterator[Answer]:
    """Find: in a virtual machine there is no PCI hierarchy, so that NCCL sees no near NIC."""
    for node in case.nodes:
        hypervisor = virtual(node)
        if not value_of(hypervisor) or hypervisor is None or not support.hardware_capable(node):
            continue
        lines = _flat(node)
        told = node.env("NCCL_TOPO_FILE")
        loaded = grep_readings(node.log.readings, TOPO_FILE)
        own_file = any(reading.kind.startswith("nccl_topo") for reading, _m in node.machines)
        if not lines or ((told or loaded) and not own_file):
            continue
        yield finding(
            "vm-flat-topology",
            _("{node}: a virtual machine without a PCI hierarchy: NCCL sees no near NIC").format(
                node=node.name
            ),
            *hypervisor.evidence[:2],
            *lines,
            node=node.name,
            effect=_(
                "Every pair looks like PHB, so that NCCL's default level switches GPUDirect RDMA off and "
                "its choice of"
                " NICs is blind. ACS has to stay as the hypervisor sets it: it isolates the guests."
            ),
            check=_("lspci -tv in the guest and on the host; NCCL_TOPO_DUMP_FILE=/tmp/topo.xml"),
            fix=_(
                "NCCL_TOPO_FILE with a topology file equal to the host's tree (the cloud's own, or made "
                "from the host)"
            ),
        )


@rule("ats-off-in-vm", number="R10")
def ats(case: CaseEvidence) -> Iterator[Answer]:
    """Find: in a virtual machine the NIC has no address translation service."""
    for node in case.nodes:
        hypervisor = virtual(node)
        if not value_of(hypervisor) or hypervisor is None or not support.hardware_capable(node):
            continue
        off: list[tuple[str, Evidence]] = []
        seen = False
        for reading, _listing in listings(node):
            for function in rdma_functions(node, reading):
                seen = seen or function.ats is not None
                if function.ats is False:
                    off.append((function.busid, reading.cite(function.ats_line or function.line)))
        for statement, evidence in node.statements("mlxconfig"):
            if statement.subject.upper() == "ATS_ENABLED":
                seen = True
                if statement.value.lower().startswith(("false", "0")):
                    off.append(("ATS_ENABLED", evidence))
        if not off:
            if not seen and list(listings(node)):
                yield Untold(
                    "ats-off-in-vm",
                    _("Whether the NIC has ATS is not in the listing (that needs root)."),
                    "sudo lspci -vvv | grep -e ATSCtl; on the host: mlxconfig -d DEVICE query ATS_ENABLED",
                    node.name,
                )
            continue
        names = ", ".join(dict.fromkeys(name for name, _e in off))
        yield finding(
            "ats-off-in-vm",
            _("{node}: a virtual machine, and ATS is off in the NIC ({names})").format(
                node=node.name, names=names
            ),
            *(evidence for _name, evidence in off[:4]),
            *evidence_of(hypervisor)[:2],
            node=node.name,
            effect=_(
                "Without translated addresses the NIC's traffic to the GPU goes up to the IOMMU of the root "
                "complex:"
                " slow, or errors such as status 4 with vendor err 81. ACS must stay on in a virtual machine;"
                " switching it off is no remedy here and breaks the isolation of guests."
            ),
            check=_("sudo lspci -vvv | grep ATSCtl (Enable+); mlxconfig -d DEVICE query ATS_ENABLED"),
            fix=(
                _(
                    "on the host: mlxconfig -d DEVICE set ATS_ENABLED=1 and a cold reboot; direct "
                    "translated peer-to-peer on the ports"
                ),
                _("relaxed ordering: NCCL_IB_PCI_RELAXED_ORDERING=1"),
            ),
        )
