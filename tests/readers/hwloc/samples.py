"""Small topologies of our own in hwloc's dialects."""

from __future__ import annotations

_NIC = (
    '<object type="PCIDev" gp_index="31" pci_busid="0000:1a:00.0" pci_type="0207 [15b3:1021] [15b3:0041] 00" '
    'pci_link_speed="63.015385">\n'
    '<object type="OSDev" gp_index="41" name="ib0" osdev_type="{net}"/>\n'
    '<object type="OSDev" gp_index="42" name="mlx5_0" osdev_type="{rdma}">'
    '<info name="NodeGUID" value="0c42:a103:0012:3456"/></object>\n</object>\n'
)
_GPU = (
    '<object type="PCIDev" gp_index="{index}" pci_busid="0000:{bus}:00.0" '
    'pci_type="0302 [10de:2330] [10de:16c1] a1" pci_link_speed="63.015385">\n'
    '<object type="OSDev" gp_index="{nvml}" name="nvml0" osdev_type="{gpu}">'
    '<info name="GPUModel" value="NVIDIA H100 80GB HBM3"/></object>\n</object>\n'
)
_BRIDGE = (
    '<object type="Bridge" gp_index="{index}" bridge_type="1-1" depth="{depth}" bridge_pci="0000:[{buses}]" '
    'pci_busid="0000:{busid}" pci_type="0604 [1000:c030] [1000:0072] b0" pci_link_speed="63.015385">\n'
)


def _switch(kinds: dict[str, int]) -> str:
    """A host bridge, a root port, a switch with three downstream ports: two GPUs and a NIC."""
    text = '<object type="Bridge" gp_index="20" bridge_type="0-1" depth="0" bridge_pci="0000:[15-1b]">\n'
    text += _BRIDGE.format(index=21, depth=1, buses="16-1b", busid="15:01.0")
    text += _BRIDGE.format(index=22, depth=2, buses="17-1b", busid="16:00.0")
    inside = (
        _GPU.format(index=30, bus="18", nvml=40, **kinds),
        _NIC.format(**kinds),
        _GPU.format(index=32, bus="1b", nvml=43, **kinds),
    )
    for number, device in enumerate(inside, 1):
        text += _BRIDGE.format(index=22 + number, depth=3, buses="xx", busid=f"17:0{number}.0")
        text += device + "</object>\n"
    return text + "</object>\n" * 3


_ALONE = (
    '<object type="Bridge" gp_index="50" bridge_type="0-1" depth="0" bridge_pci="0000:[97-98]">\n'
    '<object type="PCIDev" gp_index="51" pci_busid="0000:98:00.0" pci_type="0200 [15b3:1021] [15b3:0041] 00" '
    'pci_link_speed="0.000000"/>\n'
    '<object type="PCIDev" gp_index="52" pci_busid="0000:98:01.0" pci_type="0200 [8086:1533] 00"/>\n'
    "</object>\n"
)
_PACKAGE = '<info name="CPUVendor" value="GenuineIntel"/><info name="CPUFamilyNumber" value="6"/>'

LINKS = """<distances2hetero nbobjs="3" kind="25" name="NVLinkBandwidth">
<indexes length="30">OSDev:40 OSDev:43 PCIDev:99 </indexes>
<u64values length="30">1000000 100000 0 100000 1000000 </u64values>
<u64values length="10">25000 0 0 0 </u64values>
</distances2hetero>
"""


def version1() -> str:
    """NUMA nodes are around their devices; kinds are numbers."""
    kinds = {"net": 2, "rdma": 3, "gpu": 5}
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE topology SYSTEM "hwloc.dtd">\n<topology>\n'
        '<object type="Machine" os_index="0" cpuset="0x0000ffff">\n'
        '<info name="Architecture" value="x86_64"/>\n'
        '<object type="NUMANode" os_index="0" cpuset="0x000000ff">\n'
        f'<object type="Package" os_index="0" cpuset="0x000000ff">{_PACKAGE}</object>\n'
        + _switch(kinds)
        + '</object>\n<object type="NUMANode" os_index="1" cpuset="0x0000ff00">\n'
        + _ALONE
        + "</object>\n</object>\n</topology>\n"
    )


def _beside(version: str, kinds: dict[str, int]) -> str:
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n'
        f'<topology version="{version}">\n<object type="Machine" os_index="0" cpuset="0x0000ffff">\n'
        f'<object type="Package" os_index="0" cpuset="0x000000ff">{_PACKAGE}\n'
        '<object type="NUMANode" os_index="0" cpuset="0x000000ff"/>\n'
        + _switch(kinds)
        + '</object>\n<object type="Package" os_index="1" cpuset="0x0000ff00">\n'
        + '<object type="NUMANode" os_index="1" cpuset="0x0000ff00"/>\n'
        + _ALONE
        + '</object>\n<info name="DMIProductName" value="XE9680"/>\n</object>\n'
        + LINKS
        + '<info name="Architecture" value="x86_64"/>\n</topology>\n'
    )


def version2() -> str:
    """NUMA nodes hang beside their devices; kinds are numbers."""
    return _beside("2.0", {"net": 2, "rdma": 3, "gpu": 1})


def version3() -> str:
    """Kinds are bits."""
    return _beside("3.0", {"net": 16, "rdma": 32, "gpu": 12})


DIALECTS = {function.__name__: function() for function in (version1, version2, version3)}
