"""A sysfs tree to a machine: lspci's builder makes the PCI tree, this gives names, ports and CPUs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from gdviz.machine import Cpu, Device, Gpu, LinkLayer, Nic, Parts
from gdviz.readers.lspci.facts import INFINIBAND_CLASS, PciListing
from gdviz.readers.lspci.kinds import is_nic
from gdviz.readers.lspci.machine import MachineBuilder
from gdviz.readers.notices import Notices
from gdviz.readers.sysfs.rdma import SysPort, SysRdmaDevice, natural
from gdviz.readers.sysfs.tree import Tree, text_of
from gdviz.readers.unique import UniqueIds

#: NUMA nodes and CPUs of one machine that are read.
MAX_NODES, MAX_CPUS = 1024, 65_536

_LAYERS = {"InfiniBand": LinkLayer.INFINIBAND, "Ethernet": LinkLayer.ETHERNET}
_RANGE = re.compile(r"^(\d{1,6})(?:-(\d{1,6}))?$")
_MODEL = re.compile(r"^Model:\s*(\S.*)$", re.MULTILINE)


def parts_of(
    tree: Tree,
    proc: Tree,
    listing: PciListing,
    rdma: Iterable[SysRdmaDevice],
    netdevs: Mapping[str, str],
    notices: Notices,
) -> Parts:
    """Return the machine's parts.

    Parameters
    ----------
    tree, proc
        ``/sys`` and ``/proc``.
    listing
        The PCI functions.
    rdma
        RDMA devices.
    netdevs
        Network interface of each bus id.
    notices
        Takes what is odd.
    """
    devices = list(rdma)
    by_busid: dict[str, list[SysRdmaDevice]] = {}
    for device in devices:
        by_busid.setdefault(device.busid, []).append(device)
    functions = tuple(
        replace(function, class_code=INFINIBAND_CLASS)
        if function.busid in by_busid and not is_nic(function)
        else function
        for function in listing.functions
    )
    parts = MachineBuilder(replace(listing, functions=functions), notices).parts()
    cpus = _cpus(tree, proc, parts.cpus)
    known = {nic.busid for nic in parts.nics}
    homeless = [device for device in devices if device.busid not in known]
    nics = _nics(parts.nics, by_busid, homeless, netdevs, cpus)
    if homeless and not cpus:
        cpus = (Cpu("cpu", -1),)
    gpus = tuple(_named(gpu, proc) for gpu in parts.gpus)
    others = tuple(part for part in parts.devices if isinstance(part, Device))
    return Parts(cpus, parts.bridges, gpus, nics, others)


def _named(gpu: Gpu, proc: Tree) -> Gpu:
    """Give a GPU the name that its driver has for it, where no data sheet's was found."""
    said = proc.read(f"driver/nvidia/gpus/{gpu.busid}/information") or b""
    match = _MODEL.search(said.decode("utf-8", "replace"))
    return replace(gpu, name=match[1].strip()[:80]) if match and gpu.name == "GPU" else gpu


def _nics(
    nics: Iterable[Nic],
    by_busid: Mapping[str, list[SysRdmaDevice]],
    homeless: Iterable[SysRdmaDevice],
    netdevs: Mapping[str, str],
    cpus: tuple[Cpu, ...],
) -> tuple[Nic, ...]:
    ids = UniqueIds()
    found: list[Nic] = []
    nameless: list[Nic] = []
    order = {}
    for nic in nics:
        devices = by_busid.get(nic.busid or "", [])
        if not devices:
            ids.take(nic.id)
            nameless.append(replace(nic, name=netdevs.get(nic.busid or "", nic.busid or nic.name)))
        for device in devices:
            for port in device.ports or (SysPort(1),):
                made = _with_port(nic, device, port)
                made = replace(made, id=ids.take(nic.id))
                order[made.id] = (natural(device.name), port.number)
                found.append(made)
    parent = cpus[0].id if cpus else "cpu"
    for device in homeless:
        for port in device.ports or (SysPort(1),):
            made_id = ids.take(device.name)
            base = Nic(made_id, 0, parent, device.busid or None, device.name)
            order[made_id] = (natural(device.name), port.number)
            found.append(_with_port(base, device, port))
    found.sort(key=lambda nic: order[nic.id])
    return tuple(replace(nic, index=index) for index, nic in enumerate((*found, *nameless)))


def _with_port(nic: Nic, device: SysRdmaDevice, port: SysPort) -> Nic:
    return replace(
        nic,
        name=device.name,
        port=port.number,
        speed_bytes_per_s=port.rate_bytes_per_s,
        link_layer=_LAYERS.get(port.link_layer, nic.link_layer),
        guid=device.node_guid,
    )


def _cpus(tree: Tree, proc: Tree, used: Iterable[Cpu]) -> tuple[Cpu, ...]:
    """Return the NUMA nodes: those that hold devices and those that sysfs lists."""
    arch, vendor, family, model = _cpu_kind(proc)
    found = {cpu.numa: cpu for cpu in used}
    for name in tree.entries("devices/system/node")[: MAX_NODES * 2]:
        match = re.fullmatch(r"node(\d{1,4})", name)
        if match is None:
            continue
        numa = int(match[1])
        affinity = cpu_list(text_of(tree, f"devices/system/node/{name}/cpulist"))
        # A node without CPUs is memory (of a GPU, say) and no root of a PCIe tree.
        if numa in found or affinity:
            cpu = found.get(numa, Cpu(f"cpu{numa}", numa))
            found[numa] = replace(cpu, affinity=affinity)
    cpus = [replace(cpu, arch=arch, vendor=vendor, family=family, model=model) for cpu in found.values()]
    return tuple(sorted(cpus, key=lambda cpu: cpu.numa))


def cpu_list(text: str) -> frozenset[int]:
    """Return the CPUs of a list such as ``0-3,8``.

    Examples
    --------
    >>> sorted(cpu_list("0-3,8"))
    [0, 1, 2, 3, 8]
    """
    found: set[int] = set()
    for part in text.split(","):
        match = _RANGE.match(part.strip())
        if match:
            first, last = int(match[1]), int(match[2] or match[1])
            found.update(range(first, min(last, MAX_CPUS) + 1))
    return frozenset(found)


def _cpu_kind(proc: Tree) -> tuple[str, str, int | None, int | None]:
    text = (proc.read("cpuinfo") or b"")[:8192].decode("utf-8", "replace")

    def field(name: str) -> str:
        match = re.search(rf"(?m)^{name}\s*:\s*(\S.*)$", text)
        return match[1].strip() if match else ""

    def number(name: str) -> int | None:
        value = field(name)
        return int(value) if value.isdecimal() and len(value) < 6 else None

    if field("CPU implementer"):
        return "arm64", field("CPU implementer"), None, None
    vendor = field("vendor_id")
    arch = "x86_64" if vendor in ("GenuineIntel", "AuthenticAMD", "HygonGenuine", "CentaurHauls") else ""
    return arch or ("ppc64" if "POWER" in field("cpu") else ""), vendor, number("cpu family"), number("model")
