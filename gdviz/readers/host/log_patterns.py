"""Lines of the kernel's log that matter for GPUDirect RDMA, by kind."""

from __future__ import annotations

import re

_BDF = r"(?:[0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]"

#: Kinds of entries with their pattern; its named groups are the entry's values. The first that fits counts.
KINDS: dict[str, re.Pattern[str]] = {
    "iommu-domain": re.compile(r"Default domain type: (?P<type>\w+)(?P<how>.*)$"),
    "iommu-enabled": re.compile(
        r"DMAR: (?P<name>IOMMU enabled)|(?P<smmu>arm-smmu\S{0,40}).{0,200}?(?:ias|oas|probing)"
        r"|AMD-Vi: (?P<amd>.{0,200}?(?:Found IOMMU|enabled).*)"
    ),
    "iommu-disabled": re.compile(r"DMAR: IOMMU disabled|(?P<how>iommu=off|No IOMMU)", re.IGNORECASE),
    "iommu-group": re.compile(rf"(?P<busid>{_BDF}): Adding to iommu group (?P<group>\d+)"),
    "iommu-fault": re.compile(
        r"(?:DMAR: .{0,200}?\[?(?:DMA (?:Read|Write)|fault)|IO_PAGE_FAULT"
        r"|arm-smmu\S{0,40} .{0,200}?(?:event|fault))"
        rf"(?:.{{0,80}}?(?P<busid>{_BDF}))?"
    ),
    "symbol-version": re.compile(r"(?P<module>[\w-]+): disagrees about version of symbol (?P<symbol>\w+)"),
    "unknown-symbol": re.compile(
        r"(?P<module>[\w-]+): Unknown symbol (?P<symbol>\w+)(?: \(err (?P<error>-?\d+)\))?"
    ),
    "nvidia-module-open": re.compile(
        r"loading NVIDIA UNIX Open (?:\S+ )?Kernel Module(?:\s+for \S+)?\s+(?P<version>\d+\.\d+(?:\.\d+)?)"
    ),
    "nvidia-module-closed": re.compile(
        r"loading NVIDIA UNIX (?:\S+ )?Kernel Module(?:\s+for \S+)?\s+(?P<version>\d+\.\d+(?:\.\d+)?)"
    ),
    "module-licence": re.compile(
        r"(?P<module>[\w-]+): module license '(?P<licence>[^']{1,60})' taints kernel"
    ),
    "module-load-failed": re.compile(
        r"load (?P<module>[\w-]+) failed: (?P<error>.*)|could not insert '(?P<name>[\w-]+)': (?P<reason>.*)"
        r"|Failed to (?:insert|find|load) module '?(?P<missing>[\w-]+)'?(?P<why>.*)"
    ),
    "invalid-context": re.compile(r"(?P<function>nv_\w+)?(?::\d+)?\s*(?:ERROR )?detected invalid context"),
    "p2pdma-refused": re.compile(
        r"cannot be used for peer-to-peer DMA.*|do not share an upstream bridge or whitelisted host bridge.*"
    ),
    "pcie-topo-check": re.compile(
        r"GrdmaPciTopo\w*(?P<what>.*)|(?P<text>.{0,200}?(?:PCIe? topology).{0,200}?(?:not supported"
        r"|unsupported).*)"
    ),
    "p2p-error": re.compile(
        r"(?P<function>nvidia_p2p_\w+|RmP2P\w+|rm_p2p_\w+|nv_dma_buf\w*|nv_p2p\w*)(?P<text>.*)"
    ),
    "peermem": re.compile(r"(?:nvidia[-_]peermem|nv_peer_mem)\b:?\s*(?P<text>.*)"),
    "xid": re.compile(rf"Xid \(PCI:(?P<busid>{_BDF}|[0-9a-fA-F:]+)\): (?P<number>\d+)(?P<text>.*)"),
    "pcie-bandwidth": re.compile(
        rf"(?P<busid>{_BDF}): (?P<available>[\d.]+) Gb/s available PCIe bandwidth"
        rf"(?:, limited by (?P<speed>[\d.]+ ?GT/s)(?: PCIe)? x(?P<width>\d+) link(?: at (?P<limiter>{_BDF}))?"
        r"(?: \(capable of (?P<capable>[\d.]+) Gb/s with"
        r" (?P<max_speed>[\d.]+ ?GT/s)(?: PCIe)? x(?P<max_width>\d+) link\))?)?"
    ),
    "pcie-error": re.compile(
        rf"(?:pcieport )?(?P<busid>{_BDF})?.{{0,40}}(?:AER: |PCIe Bus Error: severity=)(?P<text>.*)"
    ),
    "bar": re.compile(
        rf"(?P<busid>{_BDF})?.{{0,20}}(?:BAR \d+.{{0,80}}(?:no space for|failed to assign|can't assign)"
        r"|This PCI I/O region assigned to your NVIDIA device is invalid)(?P<text>.*)"
    ),
    "acs": re.compile(
        rf"(?P<busid>{_BDF})?.{{0,20}}(?:ACS (?:redir|quirk|workaround)|config_acs)(?P<text>.*)"
    ),
    "hypervisor": re.compile(r"Hypervisor detected: (?P<name>\S.*)$"),
    "dmi": re.compile(r"DMI: (?P<product>\S.*?)(?:, BIOS (?P<bios>.*))?$"),
    "mlx5-firmware": re.compile(rf"mlx5_core (?P<busid>{_BDF}): firmware version: (?P<version>\S+)"),
    "mlx5-link": re.compile(
        rf"mlx5_core (?P<busid>{_BDF})(?: (?P<netdev>\S+))?: .{{0,200}}?Link (?P<state>up|down)",
        re.IGNORECASE,
    ),
    "mlx5-error": re.compile(
        rf"mlx5_(?:core|ib|\d+)\b:?(?: (?P<busid>{_BDF}))?.{{0,200}}?"
        r"(?P<text>(?:error|fail|timeout|syndrome|health|dump_cqe|bad status).*)",
        re.IGNORECASE,
    ),
}

#: What one of the kinds, or the kernel's first lines, need at least; cheap enough for every line.
HINT = re.compile(
    r"Default domain|DMAR|AMD-Vi|arm-smmu|IOMMU|iommu|IO_PAGE_FAULT|symbol|NVRM|NVIDIA UNIX|module license"
    r"|nsert|failed|invalid context|peer-to-peer|upstream bridge|Topo|topology|[pP]2[pP]|dma_buf"
    r"|peermem|peer_mem"
    r"|Xid|PCIe|AER|BAR |PCI I/O|ACS|config_acs|Hypervisor|DMI:|mlx5_|Linux version|ommand line"
)


def values_of(kind: str, text: str) -> dict[str, str] | None:
    """Return what a line says as an entry of one kind, None if it is none.

    Examples
    --------
    >>> values_of("iommu-domain", "iommu: Default domain type: Translated")["type"]
    'Translated'
    """
    match = KINDS[kind].search(text)
    if match is None:
        return None
    found = {key: value.strip() for key, value in match.groupdict().items() if value}
    if kind == "module-load-failed":
        module = found.get("module") or found.get("name") or found.get("missing") or ""
        error = found.get("error") or found.get("reason") or found.get("why") or ""
        return {"module": module.replace("-", "_"), "error": error}
    if "module" in found:
        found["module"] = found["module"].replace("-", "_")
    return found
