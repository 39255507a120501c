"""Kubernetes ResourceSlices of GPUs and NICs, as ``kubectl get resourceslices -o yaml`` prints them.

Read with PyYAML's safe loader. A text with aliases is refused: an alias is how a small file becomes a large
object, and no tool writes one into a ResourceSlice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from gdviz.machine import Bridge, BridgeKind, Cpu, Gpu, LinkLayer, Machine, Nic, Parts, normal_bus_id
from gdviz.messages import _
from gdviz.readers.gpu_names import gpu_model_by_name
from gdviz.readers.notices import Notices
from gdviz.readers.reading import Reading
from gdviz.readers.text_lines import open_lines
from gdviz.readers.unique import UniqueIds

KIND = "k8s_resourceslice"
TITLE = "Kubernetes ResourceSlice"

#: Larger texts are not parsed, and devices that are kept of one file. A ResourceSlice holds at most 128.
MAX_CHARACTERS, MAX_DEVICES = 2 * 2**20, 20_000

#: Without libyaml the parser is some ten times slower, and gets less.
if not hasattr(yaml, "CSafeLoader"):
    MAX_CHARACTERS = 2**18

_ALIAS = re.compile(r"(?m)(?:^|[\s\[{,:-])\*[A-Za-z0-9_-]{1,64}\s*(?:$|[\]},:])")

_SLICE = re.compile(r"(?m)^\s*(?:- )?\"?kind\"?\s*:\s*\"?ResourceSlice(?:List)?\"?,?\s*$")
_ROOT = re.compile(r"^pci[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}$")
_MEMORY = re.compile(r"^(\d{1,15})(Ki|Mi|Gi|Ti|k|M|G|T)?$")
_SCALES = {
    "": 1,
    "Ki": 2**10,
    "Mi": 2**20,
    "Gi": 2**30,
    "Ti": 2**40,
    "k": 10**3,
    "M": 10**6,
    "G": 10**9,
    "T": 10**12,
}


@dataclass(frozen=True, slots=True)
class SliceDevice:
    """A device of a slice.

    Attributes
    ----------
    node
        Name of the node that has it.
    kind
        ``gpu``, ``nic`` or empty.
    busid
        In its normal spelling; empty where the slice does not say.
    root
        PCIe root such as ``pci0008:00``; empty where the slice does not say.
    attributes
        All of them, without the driver's domain before the name.
    line
        Line of its bus id or name, from 1.
    """

    node: str
    name: str
    driver: str
    kind: str
    busid: str
    root: str
    numa: int
    attributes: tuple[tuple[str, str], ...]
    line: int

    def get(self, name: str) -> str:
        """Return an attribute, '' if it is not there."""
        return dict(self.attributes).get(name, "")


@dataclass(frozen=True, slots=True)
class ResourceSlices:
    """All devices, in order."""

    devices: tuple[SliceDevice, ...]


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc, unused-ignore]
    """Scalars stay text: ``0101`` is no octal number."""


_Loader.yaml_implicit_resolvers = {}


def looks_like(text: str) -> bool:
    """Return whether an object of kind ``ResourceSlice`` is there."""
    return "ResourceSlice" in text and _SLICE.search(text) is not None


def read(data: bytes | str, *, name: str = "node", source: str = "") -> Reading:
    """Read the devices of all slices: a machine for each node that they name.

    Parameters
    ----------
    data
        YAML or JSON, one object, a list or several documents.
    name
        Name for a node that the slices do not name.
    source
        Where it was read.
    """
    lines, odd = open_lines(data)
    notices = Notices()
    for notice in odd:
        notices.add(notice.text, notice.line)
    text = "\n".join(lines)
    torn = False
    objects: list[Any] = []
    if len(text) > MAX_CHARACTERS:
        notices.add(_("The file is larger than {n} KiB; nothing was read.").format(n=MAX_CHARACTERS >> 10))
    elif alias := _ALIAS.search(text):
        line = text.count("\n", 0, alias.start()) + 1
        notices.add(_("The file holds a YAML alias; nothing was read."), line)
    else:
        try:
            # The documents before a broken one are kept.
            objects.extend(yaml.load_all(text, Loader=_Loader))
        except (yaml.YAMLError, ValueError, RecursionError, TypeError) as error:
            torn = True
            mark = getattr(error, "problem_mark", None)
            problem = getattr(error, "problem", None) or str(error)
            at = mark.line + 1 if mark is not None else None
            notices.add(_("The YAML breaks off: {reason}.").format(reason=str(problem)[:200]), at)
    devices = _devices(objects, name, lines)
    machines = _machines(devices, source)
    facts = ResourceSlices(tuple(devices))
    return Reading(KIND, source, machines, facts, notices.all(), torn, lines)


def _slices(objects: list[Any]) -> Iterator[dict[str, Any]]:
    todo = list(reversed(objects))
    while todo:
        item = todo.pop()
        if isinstance(item, dict):
            if item.get("kind") == "ResourceSlice":
                yield item
            elif isinstance(item.get("items"), list):
                todo += reversed(item["items"])


def _devices(objects: list[Any], name: str, lines: tuple[str, ...]) -> list[SliceDevice]:
    found: list[SliceDevice] = []
    numbers: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        key, _, value = line.strip().removeprefix("- ").partition(":")
        if key in ("string", "name"):
            numbers.setdefault(value.strip().strip("\"'"), number)
    for item in _slices(objects):
        spec = item.get("spec")
        if not isinstance(spec, dict):
            continue
        node = spec.get("nodeName") if isinstance(spec.get("nodeName"), str) else name
        driver = spec.get("driver") if isinstance(spec.get("driver"), str) else ""
        listed = spec.get("devices")
        for device in listed if isinstance(listed, list) else []:
            if isinstance(device, dict) and len(found) < MAX_DEVICES:
                found.append(_device(device, str(node), str(driver), numbers))
    return found


def _device(device: dict[str, Any], node: str, driver: str, numbers: dict[str, int]) -> SliceDevice:
    basic = device.get("basic")
    held = basic if isinstance(basic, dict) else device
    values = {
        **_flat(held.get("attributes"), ("string", "int", "bool", "version")),
        **_flat(held.get("capacity"), ("value",)),
    }
    raw = values.get("pciBusID") or values.get("pciAddress") or values.get("pciBusId") or ""
    root = values.get("pcieRoot", "")
    numa = values.get("numaNode", "")
    title = str(device.get("name", ""))[:255]
    is_gpu = values.get("type") in ("gpu", "vgpu") or "productName" in values or driver.startswith("gpu.")
    is_nic = "rdmaDevice" in values or "rdma" in values or "ifName" in values
    return SliceDevice(
        node[:255],
        title,
        driver[:255],
        "gpu" if is_gpu else "nic" if is_nic else "",
        normal_bus_id(raw) or "",
        root if _ROOT.match(root) else "",
        int(numa) if numa.isdecimal() and len(numa) < 5 else -1,
        tuple(values.items()),
        numbers.get(raw) or numbers.get(title) or 1,
    )


def _flat(stored: object, kinds: tuple[str, ...]) -> dict[str, str]:
    """Return values by name; the domain before a name is dropped."""
    found = {}
    for key, value in list(stored.items())[:500] if isinstance(stored, dict) else []:
        inner = (
            next((value[kind] for kind in kinds if kind in value), None) if isinstance(value, dict) else value
        )
        if isinstance(inner, str | int | bool):
            found[str(key).rpartition("/")[2][:120]] = str(inner)[:500]
    return found


def _machines(devices: list[SliceDevice], source: str) -> tuple[Machine, ...]:
    by_node: dict[str, list[SliceDevice]] = {}
    for device in devices:
        by_node.setdefault(device.node, []).append(device)
    return tuple(Machine(node, _parts(listed), source) for node, listed in by_node.items())


def _parts(devices: list[SliceDevice]) -> Parts:
    """Build a node: host bridges are all that a slice knows of what is between a CPU and its devices."""
    ids = UniqueIds()
    cpus: dict[int, Cpu] = {}
    bridges: dict[str, Bridge] = {}
    gpus: list[Gpu] = []
    nics: list[Nic] = []
    numa_of_root: dict[str, int] = {}
    for device in devices:
        if device.root and device.numa >= 0:
            numa_of_root.setdefault(device.root, device.numa)
    for device in devices:
        if not device.kind:
            continue
        numa = device.numa if device.numa >= 0 else numa_of_root.get(device.root, -1)
        if numa not in cpus:
            part_id = ids.take(f"cpu{numa}" if numa >= 0 else "cpu")
            cpus[numa] = Cpu(part_id, numa)
        parent = cpus[numa].id
        if device.root:
            if device.root not in bridges:
                bridges[device.root] = Bridge(ids.take(device.root), parent, BridgeKind.HOST_BRIDGE)
            parent = bridges[device.root].id
        part_id = ids.take(device.busid or device.name or device.kind)
        if device.kind == "gpu":
            gpus.append(_gpu(device, part_id, len(gpus), parent, numa))
        else:
            nics.append(_nic(device, part_id, len(nics), parent, numa))
    return Parts(tuple(cpus.values()), tuple(bridges.values()), tuple(gpus), tuple(nics))


def _gpu(device: SliceDevice, part_id: str, index: int, parent: str, numa: int) -> Gpu:
    product = device.get("productName")
    model = gpu_model_by_name(product) if product else None
    version = device.get("cudaComputeCapability").split(".")
    capability = int(version[0]) * 10 + int(version[1]) if _are_numbers(version[:2]) else None
    memory = _MEMORY.match(device.get("memory"))
    return Gpu(
        part_id,
        index,
        parent,
        device.busid,
        name=product or device.name or "GPU",
        numa=numa,
        compute_capability=capability,
        memory_bytes=int(memory[1]) * _SCALES[memory[2] or ""] if memory else None,
        memory_bytes_per_s=model.memory_bytes_per_s if model else None,
        bar1_bytes=model.bar1_bytes if model else None,
    )


def _nic(device: SliceDevice, part_id: str, index: int, parent: str, numa: int) -> Nic:
    layer = {"infiniband": LinkLayer.INFINIBAND, "ether": LinkLayer.ETHERNET, "ethernet": LinkLayer.ETHERNET}
    name = device.get("rdmaDevice") or device.get("ifName") or device.name
    told = device.get("linkType") or device.get("encapsulation")
    return Nic(
        part_id,
        index,
        parent,
        device.busid or None,
        name,
        model=device.get("pciDevice")[:80] or "NIC",
        numa=numa,
        link_layer=layer.get(told.lower(), LinkLayer.UNKNOWN),
    )


def _are_numbers(parts: list[str]) -> bool:
    return len(parts) == 2 and all(part.isdecimal() and len(part) < 5 for part in parts)
