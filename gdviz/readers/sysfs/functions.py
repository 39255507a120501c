"""The PCI functions of a sysfs tree, each below the one that it hangs from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from gdviz.machine import PcieLink, normal_bus_id
from gdviz.machine.links import GIGATRANSFERS
from gdviz.readers.sysfs.config_space import ConfigSpace, decode
from gdviz.readers.sysfs.tree import Tree, name_linked, number_of, text_of

#: Functions of one tree that are read.
MAX_FUNCTIONS = 20_000

_BUS_ID = re.compile(r"^[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]$")
_HOST_BRIDGE = re.compile(r"^pci[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}$")
_SPEED = re.compile(r"^(\d{1,3}(?:\.\d{1,2})?) GT/s")
_GENERATIONS = {rate: gen for gen, rate in GIGATRANSFERS.items()}

#: Folders of the tree in which host bridges lie; ``devices/platform`` and others hold them on Arm and VMs.
_ABOVE = ("devices", "devices/platform", "devices/LNXSYSTM:00", "devices/vmbus")


@dataclass(frozen=True, slots=True)
class SysFunction:
    """A PCI function; None and '' are what the tree does not say.

    Attributes
    ----------
    path
        Its folder, below the root of sysfs.
    above
        Bus id of the bridge that it hangs from, or the name of the host bridge (``pci0000:00``).
    class_code
        Six hexadecimal digits as a number, such as 0x030200.
    link
        As trained; its ``max_`` values are what this end alone can do.
    bars
        Size in bytes of each memory window by its number.
    config
        What its configuration space says.
    virtual_of
        Bus id of the physical function where this is a virtual one.
    """

    busid: str
    path: str
    above: str
    class_code: int | None
    vendor: int | None
    device: int | None
    subsystem_vendor: int | None
    subsystem_device: int | None
    link: PcieLink
    numa: int
    iommu_group: int | None
    driver: str
    bars: tuple[tuple[int, int, bool], ...]
    config: ConfigSpace
    virtual_of: str = ""
    virtual_functions: int | None = None

    @property
    def is_bridge(self) -> bool:
        """Whether it is a PCI-to-PCI bridge."""
        return self.class_code is not None and self.class_code >> 8 == 0x0604


def functions_of(tree: Tree) -> list[SysFunction]:
    """Return all functions of a tree, parents before their children, by bus id.

    Parameters
    ----------
    tree
        With the root of sysfs at its root.
    """
    found: list[SysFunction] = []
    seen: set[str] = set()
    todo = [(f"{place}/{name}", name, 0) for place, name in reversed(list(_host_bridges(tree)))]
    while todo and len(found) < MAX_FUNCTIONS:
        path, above, depth = todo.pop()
        names = [name for name in tree.entries(path) if _BUS_ID.match(name)]
        for name in names:
            busid = normal_bus_id(name)
            if busid is None or busid in seen:
                continue
            seen.add(busid)
            found.append(_function(tree, f"{path}/{name}", busid, above))
            if depth < 40:
                todo.append((f"{path}/{name}", busid, depth + 1))
    if not found:
        return _flat(tree)
    return sorted(found, key=lambda function: (function.path.count("/"), function.busid))


def _host_bridges(tree: Tree) -> Iterator[tuple[str, str]]:
    for place in _ABOVE:
        for name in tree.entries(place):
            if _HOST_BRIDGE.match(name):
                yield place, name
            elif place != "devices" and not name.startswith("."):
                for inner in tree.entries(f"{place}/{name}"):
                    if _HOST_BRIDGE.match(inner):
                        yield f"{place}/{name}", inner


def _flat(tree: Tree) -> list[SysFunction]:
    """Return the functions of a copy that lost its hierarchy (``cp -rL``): buses say who hangs where."""
    place = "bus/pci/devices"
    raw = []
    for name in tree.entries(place)[:MAX_FUNCTIONS]:
        busid = normal_bus_id(name) if _BUS_ID.match(name) else None
        if busid is None:
            continue
        target = tree.link(f"{place}/{name}")
        above = (target or "").rstrip("/").split("/")[-2:-1]
        known = (
            above[0] if above and _HOST_BRIDGE.match(above[0]) else normal_bus_id(above[0]) if above else None
        )
        raw.append(_function(tree, f"{place}/{name}", busid, known or ""))
    behind = {
        (function.busid[:-8], function.config.secondary): function.busid
        for function in raw
        if function.config.secondary
    }
    finished = []
    for function in raw:
        domain, bus = function.busid[:-8], int(function.busid[-7:-5], 16)
        parent = behind.get((domain, bus), "")
        above_it = function.above or (parent if parent != function.busid else "") or f"pci{domain}:{bus:02x}"
        finished.append(replace(function, above=above_it))
    return sorted(finished, key=lambda function: function.busid)


def _function(tree: Tree, path: str, busid: str, above: str) -> SysFunction:
    config = decode(tree.read(f"{path}/config") or b"")
    numa = number_of(tree, f"{path}/numa_node")
    group = name_linked(tree, f"{path}/iommu_group")
    return SysFunction(
        busid,
        path,
        above,
        _either(number_of(tree, f"{path}/class"), config.class_code),
        _either(number_of(tree, f"{path}/vendor"), config.vendor),
        _either(number_of(tree, f"{path}/device"), config.device),
        _either(number_of(tree, f"{path}/subsystem_vendor"), config.subsystem_vendor),
        _either(number_of(tree, f"{path}/subsystem_device"), config.subsystem_device),
        _link(tree, path, config),
        numa if numa is not None else -1,
        int(group) if group.isdecimal() and len(group) < 9 else None,
        name_linked(tree, f"{path}/driver"),
        _bars(text_of(tree, f"{path}/resource")),
        config,
        normal_bus_id(name_linked(tree, f"{path}/physfn")) or "",
        number_of(tree, f"{path}/sriov_numvfs"),
    )


def _either(first: int | None, second: int | None) -> int | None:
    return second if first is None else first


def _link(tree: Tree, path: str, config: ConfigSpace) -> PcieLink:
    gen = _generation(text_of(tree, f"{path}/current_link_speed")) or _known(config.speed)
    max_gen = _generation(text_of(tree, f"{path}/max_link_speed")) or _known(config.max_speed)
    return PcieLink(
        gen,
        _width(number_of(tree, f"{path}/current_link_width")) or config.width,
        max_gen,
        _width(number_of(tree, f"{path}/max_link_width")) or config.max_width,
    )


def _generation(text: str) -> int | None:
    match = _SPEED.match(text)
    return _GENERATIONS.get(float(match[1])) if match else None


def _known(gen: int | None) -> int | None:
    return gen if gen in GIGATRANSFERS else None


def _width(width: int | None) -> int | None:
    # The kernel writes 0 or 255 for a link that it cannot read.
    return width if width is not None and 1 <= width <= 32 else None


def _bars(resource: str) -> tuple[tuple[int, int, bool], ...]:
    """Return number, size and prefetchability of each memory window of a ``resource`` file."""
    bars = []
    for number, line in enumerate(resource.split("\n")[:6]):
        words = line.split()
        try:
            start, end, flags = (int(word, 16) for word in words)
        except ValueError:
            continue
        # IORESOURCE_MEM and IORESOURCE_PREFETCH of the kernel's ioport.h.
        if end > start and flags & 0x200:
            bars.append((number, end - start + 1, bool(flags & 0x2000)))
    return tuple(bars)
