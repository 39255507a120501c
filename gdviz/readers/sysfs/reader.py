"""A sysfs tree to readings: its machine, and what other tools would say of the same host."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from gdviz.machine import Machine, normal_bus_id
from gdviz.readers.fabric.counters import Counter, Counters
from gdviz.readers.fabric.ibstat import IbAdapter, IbPort, IbStat
from gdviz.readers.fabric.show_gids import GidRow, GidTable
from gdviz.readers.host import command_line, kernel, limits, modules, nvidia_driver
from gdviz.readers.host.notes import HostNotes, Statement
from gdviz.readers.host.product import Product
from gdviz.readers.notices import Notices
from gdviz.readers.reading import Reading
from gdviz.readers.sysfs.facts import Sysfs
from gdviz.readers.sysfs.functions import SysFunction, functions_of
from gdviz.readers.sysfs.listing import listing_of
from gdviz.readers.sysfs.machine import parts_of
from gdviz.readers.sysfs.rdma import SysRdmaDevice, rdma_devices
from gdviz.readers.sysfs.tree import SubTree, Tree, name_linked, number_of, text_of

KIND = "sysfs"
TITLE = "folder, archive or capture of /sys"

#: Where NCCL looks for peer memory.
PEER_MEMORY = (
    "kernel/mm/memory_peers/nv_mem/version",
    "kernel/mm/memory_peers/nv_mem_nc/version",
    "kernel/mm/memory_peers/nvidia-peermem/version",
    "module/nvidia_peermem/version",
)

#: Files of ``/proc`` with their readers.
_PROC: tuple[tuple[str, Callable[..., Reading]], ...] = (
    ("version", kernel.read),
    ("modules", modules.read),
    ("driver/nvidia/version", nvidia_driver.read),
    ("self/limits", limits.read),
)

_VIRTUAL = ("lo", "docker", "veth", "br-", "virbr", "cni", "flannel", "cali", "tun", "tap", "dummy")

#: Network interfaces and IOMMU groups that are read.
MAX_NETDEVS, MAX_GROUPS = 2000, 4096


def read_tree(tree: Tree, *, name: str = "node", source: str = "") -> tuple[Reading, ...]:
    """Return what a tree says: the machine first, then what lspci, ibstat and others would print of it.

    Parameters
    ----------
    tree
        A host's root, with ``sys`` and perhaps ``proc`` in it.
    name
        Name for the machine.
    source
        The folder or archive.
    """
    sys, proc = SubTree(tree, "sys"), SubTree(tree, "proc")
    notices = Notices()
    functions = _on_the_only_node(functions_of(sys), sys)
    endpoints = [(function.path, function.busid) for function in functions if not function.is_bridge]
    rdma = rdma_devices(sys, endpoints)
    listing, listed = listing_of(functions)
    netdevs = tuple(_netdevs(sys))
    by_busid = {busid: netdev for netdev, _mtu, _state, busid in netdevs if busid}
    parts = parts_of(sys, proc, listing, rdma, by_busid, notices)
    facts = Sysfs(tuple(functions), tuple(rdma), _groups(sys, functions), netdevs, tuple(_peer_memory(sys)))
    told = notices.all()
    found = [Reading(KIND, source, (Machine(name, parts, source, told),), facts, told)]
    if functions:
        found.append(Reading("lspci", source, facts=listing, lines=listed))
    found += _fabric(rdma, source)
    if notes := _notes(facts, source):
        found.append(notes)
    found += _proc_files(proc, name, source)
    product = text_of(sys, "class/dmi/id/product_name") or text_of(proc, "device-tree/model")
    if product:
        vendor = text_of(sys, "class/dmi/id/sys_vendor")
        lines = (f"{vendor} {product}".strip(),)
        found.append(Reading("product", source, facts=Product(product, vendor, 1), lines=lines))
    return tuple(found)


def _on_the_only_node(functions: list[SysFunction], tree: Tree) -> list[SysFunction]:
    """Give functions of which the kernel does not say it the NUMA node, where there is only one."""
    nodes = [name[4:] for name in tree.entries("devices/system/node") if name[:4] == "node"]
    nodes = [node for node in nodes if node.isdecimal() and len(node) < 5]
    if len(nodes) != 1:
        return functions
    only = int(nodes[0])
    return [function if function.numa >= 0 else replace(function, numa=only) for function in functions]


def _proc_files(proc: Tree, name: str, source: str) -> Iterator[Reading]:
    if text := text_of(proc, "cmdline"):
        facts = command_line.command_line_from(text, 1)
        yield Reading(command_line.KIND, f"{source}/proc/cmdline", facts=facts, lines=(text,))
    for path, read in _PROC:
        data = proc.read(path)
        if data and data.strip():
            reading = read(data, name=name, source=f"{source}/proc/{path}")
            if reading.facts is not None:
                yield reading


def _netdevs(tree: Tree) -> Iterator[tuple[str, int, str, str]]:
    for name in tree.entries("class/net")[:MAX_NETDEVS]:
        mtu = number_of(tree, f"class/net/{name}/mtu")
        if mtu is None or name.startswith(_VIRTUAL):
            continue
        state = text_of(tree, f"class/net/{name}/operstate").upper()
        parts = (tree.link(f"class/net/{name}") or "").split("/")
        above = parts[-3] if len(parts) >= 3 and parts[-2] == "net" else ""
        device = name_linked(tree, f"class/net/{name}/device")
        yield name[:64], mtu, state, normal_bus_id(device) or normal_bus_id(above) or ""


def _groups(tree: Tree, functions: list[SysFunction]) -> tuple[tuple[int, str], ...]:
    used = sorted({function.iommu_group for function in functions if function.iommu_group is not None})
    types = ((group, text_of(tree, f"kernel/iommu_groups/{group}/type")) for group in used[:MAX_GROUPS])
    return tuple((group, kind) for group, kind in types if kind)


def _peer_memory(tree: Tree) -> Iterator[tuple[str, str]]:
    for path in PEER_MEMORY:
        if tree.read(path) is not None:
            yield f"/sys/{path}", text_of(tree, path) or "present"


def _fabric(rdma: list[SysRdmaDevice], source: str) -> list[Reading]:
    if not rdma:
        return []
    lines: list[str] = []
    adapters = tuple(_adapter(device, lines) for device in rdma)
    found = [Reading("ibstat", source, facts=IbStat(adapters), lines=tuple(lines))]
    gid_lines: list[str] = []
    rows = []
    count_lines: list[str] = []
    counters = []
    for device in rdma:
        for port in device.ports:
            for gid in port.gids:
                where = f"{device.name}/ports/{port.number}/gids/{gid.index}"
                gid_lines.append(f"{where}: {gid.gid} {gid.version} {gid.netdev}".rstrip())
                rows.append(
                    GidRow(
                        device.name, port.number, gid.index, gid.gid, _ipv4(gid.gid), gid.version, gid.netdev,
                        len(gid_lines),
                    )
                )  # fmt: skip
            for name, value in port.counters:
                count_lines.append(f"{device.name}/ports/{port.number}/{name}: {value}")
                counters.append(Counter(device.name, port.number, name, value, len(count_lines)))
    if rows:
        found.append(Reading("show_gids", source, facts=GidTable(tuple(rows)), lines=tuple(gid_lines)))
    if counters:
        found.append(Reading("counters", source, facts=Counters(tuple(counters)), lines=tuple(count_lines)))
    return found


def _ipv4(gid: str) -> str:
    """Return the IPv4 address inside a mapped GID, '' for any other.

    Examples
    --------
    >>> _ipv4("0000:0000:0000:0000:0000:ffff:0a1e:010b")
    '10.30.1.11'
    """
    groups = gid.lower().split(":")
    if len(groups) != 8 or groups[5] != "ffff" or any(group.strip("0") for group in groups[:5]):
        return ""
    try:
        number = int(groups[6], 16) << 16 | int(groups[7], 16)
    except ValueError:
        return ""
    return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))


def _adapter(device: SysRdmaDevice, lines: list[str]) -> IbAdapter:
    lines.append(f"{device.name}: {device.type} firmware {device.firmware}")
    begin = len(lines)
    ports = []
    for port in device.ports:
        rate = "?" if port.rate_bytes_per_s is None else f"{port.rate_bytes_per_s * 8 / 1e9:g} Gb/s"
        lines.append(
            f"{device.name}/ports/{port.number}: {port.state}, {port.physical}, {rate}, {port.link_layer}"
        )
        at = len(lines)
        lid = _lid(port.lid)
        ports.append(
            IbPort(
                port.number, at, port.state, port.physical, port.rate_bytes_per_s, port.link_layer, lid,
                state_line=at, rate_line=at,
            )
        )  # fmt: skip
    return IbAdapter(device.name, begin, device.type, device.firmware, device.node_guid, tuple(ports))


def _lid(text: str) -> int | None:
    try:
        return int(text, 16) if len(text) < 8 else None
    except ValueError:
        return None


def _notes(facts: Sysfs, source: str) -> Reading | None:
    stated: list[tuple[str, str, str]] = []
    stated += [
        ("iommu-group", function.busid, str(function.iommu_group))
        for function in facts.functions
        if function.iommu_group is not None
    ]
    stated += [("iommu-group-type", str(group), kind) for group, kind in facts.group_types]
    stated += [("ib-device", device.name, device.busid) for device in facts.rdma if device.busid]
    stated += [("peer-memory-path", path, version) for path, version in facts.peer_memory]
    for netdev, mtu, state, _busid in facts.netdevs:
        stated.append(("netdev-mtu", netdev, str(mtu)))
        if state in ("UP", "DOWN"):
            stated.append(("netdev-state", netdev, state))
    if not stated:
        return None
    statements = tuple(
        Statement(kind, subject, value, number) for number, (kind, subject, value) in enumerate(stated, 1)
    )
    lines = tuple(f"{kind} {subject}: {value} (sysfs)" for kind, subject, value in stated)
    return Reading("host_notes", source, facts=HostNotes(statements), lines=lines)
