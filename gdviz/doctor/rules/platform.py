"""GPUs and platforms that have no GPUDirect RDMA: nothing to repair (R15, R16)."""

from __future__ import annotations

from collections.abc import Iterator

from gdviz.doctor import support
from gdviz.doctor.evidence.grep import grep
from gdviz.doctor.evidence.known import evidence_of
from gdviz.doctor.evidence.node import CaseEvidence, NodeEvidence
from gdviz.doctor.evidence.patterns import P2P_PAGES
from gdviz.doctor.evidence.platform import platform_without_gdr
from gdviz.doctor.evidence.topo_xml import documents, walk
from gdviz.doctor.findings import finding
from gdviz.doctor.rules.base import Answer, rule
from gdviz.machine.known import GPUS
from gdviz.messages import _
from gdviz.readers import Evidence
from gdviz.readers.xml_positions import Element


@rule("gpu-no-gdr", number="R15")
def gpu(case: CaseEvidence) -> Iterator[Answer]:
    """Find: GPUs of a class that offers none."""
    for node in case.nodes:
        if platform_without_gdr(node, node.joined.gpus) is not None:
            continue
        consumer = support.consumer_gpus(node)
        if consumer:
            first = consumer[0][0]
            what = first.name if first.name not in ("", "GPU") else f"10de:{first.pci.device or 0:04x}"
            ids = f" (10de:{first.pci.device:04x})" if first.pci.device else ""
            evidence = tuple(dict.fromkeys(e for _gpu, lines in consumer for e in lines))[:6]
        else:
            evidence = (*_unsupported_elements(node), *grep(node, P2P_PAGES, job=True)[:2])
            unknown = [g for g in node.joined.gpus if (g.pci.vendor or 0, g.pci.device or 0) not in GPUS]
            if not evidence or (node.joined.gpus and not unknown):
                continue
            what, ids = _("its GPU"), ""
        refused = evidence_of(*node.log.refused_hcas.values())[:2]
        yield finding(
            "gpu-no-gdr",
            _("{node}: the driver offers no GPUDirect RDMA for {gpu}{ids}").format(
                node=node.name, gpu=what, ids=ids
            ),
            *evidence,
            *refused,
            node=node.name,
            effect=_(
                "GeForce cards have none, whatever module is loaded; data go through host memory. That NCCL "
                "finds"
                " none with the NICs, and gdr=0 in its topology, follow from that. Data-centre and "
                "professional"
                " cards have it."
            ),
            check=_("cuDeviceGetAttribute(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED) gives 0"),
        )


def _is_nvidia(pci: Element | None) -> bool:
    return pci is not None and pci.attributes.get("vendor", "").lower() == "0x10de"


def _unsupported_elements(node: NodeEvidence) -> tuple[Evidence, ...]:
    """Return the lines of a topology file in which every GPU says that it has none."""
    found = []
    for reading, root in documents(node):
        gpus = [
            each
            for each in walk(reading, root)
            if each.element.tag == "gpu" and each.get("gdr") and _is_nvidia(each.parent)
        ]
        if gpus and all(each.get("gdr") == "0" for each in gpus):
            found += [each.evidence for each in gpus[:3]]
    return tuple(found)


@rule("platform-no-gdr", number="R16")
def platform(case: CaseEvidence) -> Iterator[Answer]:
    """Find: platforms without it, whatever the GPU says."""
    for node in case.nodes:
        found = platform_without_gdr(node, node.joined.gpus)
        if found is None:
            continue
        if found.value == "GB10":
            effect = _(
                "GB10 (DGX Spark) has no GPUDirect RDMA by design: no peer memory, no DMA-BUF export, no "
                "GDRCopy;"
                " loading nvidia_peermem fails with Invalid argument there, and no setting of NCCL helps. "
                "Its memory"
                " is shared by CPU and GPU, so that host buffers cost little: the rate through the host is "
                "what"
                " there is. The PCIe speed that its GPU shows means nothing."
            )
        else:
            effect = _(
                "On EC2 only the P series from p4d on has GPUDirect RDMA over EFA; {kind} stages through "
                "the host."
                " A CUDA attribute of 1 speaks of the GPU, not of the instance; nvidia_peermem does not "
                "load there."
            ).format(kind=found.value)
        yield finding(
            "platform-no-gdr",
            _("{node}: {platform} has no GPUDirect RDMA").format(node=node.name, platform=found.value),
            *found.evidence,
            *evidence_of(*node.log.refused_hcas.values())[:2],
            node=node.name,
            effect=effect,
            check=_("the maker's list of platforms; here: {what}").format(what=found.value),
        )
