"""Questions about a node as a whole: virtual or not, what platform, what its IOMMU does."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gdviz.doctor.evidence.devices import Device
from gdviz.doctor.evidence.grep import grep
from gdviz.doctor.evidence.known import Known
from gdviz.doctor.evidence.node import NodeEvidence, assumption
from gdviz.doctor.evidence.pci import listings
from gdviz.machine import normal_bus_id
from gdviz.readers import Evidence
from gdviz.readers.host import KernelCommandLine, KernelLog, Product
from gdviz.readers.sysfs import Sysfs

#: Products that hypervisors give their machines (DMI).
_VIRTUAL_PRODUCT = re.compile(
    r"Standard PC|\bKVM\b|\bQEMU\b|VMware|Virtual Machine|HVM domU|VirtualBox|OpenStack|Bochs"
    r"|Google Compute Engine"
    r"|\bCVM\b|Alibaba Cloud ECS|\bHyper-V\b",
    re.IGNORECASE,
)

#: Vendors of devices that only hypervisors make: virtio and QEMU, VMware, Hyper-V, Xen.
_VIRTUAL_VENDORS = {0x1AF4, 0x1B36, 0x1234, 0x15AD, 0x1414, 0x5853}
_VIRTUAL_NAMES = re.compile(r"\bvirtio\b|\bQEMU\b|VMware|Hyper-V|\bXen\b", re.IGNORECASE)
_HYPERVISOR_LINE = re.compile(
    r"^\s*Hypervisor vendor:\s*\S|hypervisor detected:|Booting paravirtualized kernel on KVM"
)

#: EC2 instance types: family, generation, options, size.
_EC2 = re.compile(
    r"\b((?:[a-z]{1,4})(\d{1,2})[a-z0-9-]{0,12})\.(?:\d{0,2}x?large|metal(?:-\w+)?|micro|small|medium)\b"
)
_INSTANCE = re.compile(r"instance[-_ ]?type\b.{0,20}?\b[a-z]{1,4}\d{1,2}[a-z0-9-]{0,12}\.\w", re.IGNORECASE)
#: Those with GPUDirect RDMA over EFA: the P series from p4d on, and Trainium.
_EC2_WITH_GDR = re.compile(r"^p(?:4|5|6|[7-9])")

_GROUP_TYPE = re.compile(r"iommu_groups/\d+/type\S*\s*(?:DMA(?:-FQ)?|identity)\b")

_GRACE = re.compile(r"\bGH200\b|\bGB[23]00\b|\bGH100\b.*Grace|Grace", re.IGNORECASE)
_GB10 = re.compile(r"\bGB10\b|DGX[ _]?Spark|P3830", re.IGNORECASE)
GB10_DEVICES = {0x2E12, 0x2E2A}


def virtual(node: NodeEvidence) -> Known[bool] | None:
    """Return whether the node is a virtual machine."""
    if "virtual" in node.assumed:
        return Known(bool(node.assumed["virtual"]), (assumption("virtual"),))
    yes = tuple(_virtual_signs(node))
    if yes:
        return Known(True, yes)
    no = tuple(evidence for _statement, evidence in node.statements("bare-metal"))
    return Known(False, no) if no else None


def _virtual_signs(node: NodeEvidence) -> Iterator[Evidence]:
    for reading, log in node.own(KernelLog):
        for entry in log.of("hypervisor"):
            yield reading.cite(entry.line)
    for _statement, evidence in node.statements("virtual-machine"):
        yield evidence
    for reading, product in node.own(Product):
        if _VIRTUAL_PRODUCT.search(f"{product.vendor} {product.name}") or (
            _EC2.search(product.name) and ".metal" not in product.name
        ):
            yield reading.cite(product.line)
    yield from grep(node, _HYPERVISOR_LINE)[:2]
    for reading, listing in listings(node):
        for hint in listing.hypervisor[:2]:
            yield reading.cite(hint.line)
        for function in listing.functions:
            if not listing.hypervisor and (
                function.vendor in _VIRTUAL_VENDORS or _VIRTUAL_NAMES.search(function.name)
            ):
                yield reading.cite(function.line)
                return


def instance_type(node: NodeEvidence) -> Known[str] | None:
    """Return the cloud's name for the machine, such as ``g6e.24xlarge``."""
    for statement, evidence in node.statements("instance-type"):
        return Known(statement.value, (evidence,))
    for reading, product in node.own(Product):
        if _EC2.search(product.name):
            return Known(product.name, (reading.cite(product.line),))
    for evidence in grep(node, _INSTANCE)[:1]:
        match = _EC2.search(evidence.text)
        if match:
            return Known(match[0], (evidence,))
    return None


def platform_without_gdr(node: NodeEvidence, gpus: tuple[Device, ...]) -> Known[str] | None:
    """Return the platform's name if it has no GPUDirect RDMA whatever the GPU says, else None."""
    kind = instance_type(node)
    if kind is not None and (match := _EC2.search(kind.value)) and not _EC2_WITH_GDR.match(match[1]):
        family = match[1]
        if family[0] in "gp" or family.startswith("gr"):
            return Known(match[0], kind.evidence)
    for gpu in gpus:
        if _GB10.search(gpu.name) or (gpu.pci.vendor == 0x10DE and gpu.pci.device in GB10_DEVICES):
            return Known("GB10", tuple(names_of(node, gpu, _GB10)))
    for reading, product in node.own(Product):
        if _GB10.search(product.name):
            return Known("GB10", (reading.cite(product.line),))
    for statement, evidence in node.statements("gpu-name"):
        if _GB10.search(statement.value):
            return Known("GB10", (evidence,))
    return None


def names_of(node: NodeEvidence, gpu: Device, pattern: re.Pattern[str]) -> Iterator[Evidence]:
    """Go through lines that name a GPU's product or its bus id."""
    found = grep(node, pattern, job=True)[:3]
    yield from found
    if not found and gpu.busid:
        yield from grep(node, re.compile(re.escape(gpu.busid.removeprefix("0000:")), re.IGNORECASE))[:2]


def is_grace(name: str) -> bool:
    """Return whether a product is a GPU joined to a Grace CPU by NVLink-C2C."""
    return bool(_GRACE.search(name))


_OFF = {"intel_iommu=off", "amd_iommu=off", "iommu=off"}
_DISABLED = re.compile(r"DMAR: IOMMU disabled|AMD-Vi: (?:IOMMU )?disabled", re.IGNORECASE)


def iommu(node: NodeEvidence) -> Known[str] | None:
    """Return what the IOMMU does on the host: 'translate', 'pt' or 'off'; None if unknown."""
    if "iommu" in node.assumed:
        return Known(str(node.assumed["iommu"]), (assumption(f"iommu={node.assumed['iommu']}"),))
    domains = []
    for reading, log in node.own(KernelLog):
        domains += [
            (entry.values.get("type", entry.text), reading.cite(entry.line))
            for entry in log.of("iommu-domain")
        ]
    arguments = tuple(_command_lines(node))
    asked = tuple(evidence for words, evidence in arguments if _asks_for_iommu(words))
    # The kernel names a default domain type whether or not an IOMMU is there.
    off = [e for words, e in arguments if {word.lower() for word in words} & _OFF]
    if off or (off := list(grep(node, _DISABLED)[:1])):
        return Known("off", tuple(off[:1]))
    for kind, evidence in domains:
        if "passthrough" in kind.lower():
            return Known("pt", (evidence,))
        if "translated" in kind.lower():
            return Known("translate", (evidence, *asked))
    for words, evidence in arguments:
        values = {word.lower() for word in words}
        if values & {"iommu=pt", "iommu.passthrough=1"}:
            return Known("pt", (evidence,))
        if _asks_for_iommu(words):
            return Known("translate", (evidence,))
    return _by_groups(node)


def _by_groups(node: NodeEvidence) -> Known[str] | None:
    """Return what the types of the IOMMU groups say: DMA and DMA-FQ translate, identity passes through."""
    for reading, sysfs in node.own(Sysfs):
        kinds = {kind for _group, kind in sysfs.group_types if kind}
        if kinds:
            translates = any(kind.startswith("DMA") for kind in kinds)
            told = reading.cite(None, f"iommu_groups/*/type: {', '.join(sorted(kinds))}")
            return Known("translate" if translates else "pt", (told,))
    lines = grep(node, _GROUP_TYPE)
    if not lines:
        return None
    translated = tuple(e for e in lines if "identity" not in e.text)
    return Known("translate", translated[:2]) if translated else Known("pt", lines[:1])


def _asks_for_iommu(words: tuple[str, ...]) -> bool:
    for word in words:
        name, _, value = word.lower().partition("=")
        if name in ("intel_iommu", "amd_iommu") and "on" in value.split(","):
            return True
    return False


def _command_lines(node: NodeEvidence) -> Iterator[tuple[tuple[str, ...], Evidence]]:
    for reading, line in node.own(KernelCommandLine):
        yield line.arguments, reading.cite(line.line)
    for reading, log in node.own(KernelLog):
        if log.command_line is not None:
            yield log.command_line.arguments, reading.cite(log.command_line.line)


def iommu_groups(node: NodeEvidence) -> dict[str, Known[int]]:
    """Return IOMMU groups by bus id, in its normal spelling."""
    found: dict[str, Known[int]] = {}
    for statement, evidence in node.statements("iommu-group"):
        busid = normal_bus_id(statement.subject)
        if busid and statement.value.isdecimal():
            found.setdefault(busid, Known(int(statement.value), (evidence,)))
    for reading, log in node.own(KernelLog):
        for entry in log.of("iommu-group"):
            busid = normal_bus_id(entry.values.get("busid", ""))
            group = entry.values.get("group", "")
            if busid and group.isdecimal():
                found.setdefault(busid, Known(int(group), (reading.cite(entry.line),)))
    for reading, listing in listings(node):
        for function in listing.functions:
            busid = normal_bus_id(function.busid)
            if busid and function.iommu_group is not None:
                found.setdefault(
                    busid,
                    Known(function.iommu_group, (reading.cite(function.iommu_group_line or function.line),)),
                )
    return found
