"""NCCL's topology XML as NCCL takes it: what it does not know, what it counts each link for.

Speeds and counts are from NCCL v2.30.7: src/graph/xml.cc, src/graph/topo.cc (``ncclTopoGetPciBw`` and
the dictionaries before it).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gdviz.doctor.evidence.node import NodeEvidence
from gdviz.readers import Evidence, Reading
from gdviz.readers.nccl_topology import KIND
from gdviz.readers.notices import Notices
from gdviz.readers.xml_positions import Element, parse_xml

#: Elements that NCCL and RCCL know inside each element.
_CHILDREN = {
    "": {"system"},
    "system": {"cpu", "nic"},
    "cpu": {"pci", "nic"},
    "pci": {"pci", "gpu", "nic", "pcilink", "nvlink", "net"},
    "gpu": {"nvlink", "xgmi", "c2c", "pcilink", "net"},
    "nic": {"net", "gin", "rma", "coll", "pcilink"},
}

#: Attributes that NCCL or RCCL write or read.
_ATTRIBUTES = {
    "system": {"version", "name", "arch"},
    "cpu": {"host_hash", "numaid", "affinity", "arch", "vendor", "familyid", "modelid"},
    "pci": {"busid", "class", "vendor", "device", "subsystem_vendor", "subsystem_device", "link_speed"}
    | {"link_width", "keep"},
    "gpu": {"dev", "sm", "gcn", "arch", "rank", "gdr", "mlo", "mlopart", "vpart", "keep"},
    "nic": {"keep", "busid", "class", "link_speed", "link_width"},
    "net": {"name", "dev", "latency", "speed", "port", "guid", "maxconn", "gdr", "coll", "keep", "net", "gin"}
    | {"offload", "parent", "merged", "railid", "planeid", "rail", "plane", "rma", "pcibusid", "arch"},
    "nvlink": {"target", "count", "tclass", "remote_busid", "rem_busid"},
    "xgmi": {"target", "count", "tclass"},
    "c2c": {"bw", "count", "target"},
    "pcilink": {"busid", "target", "tclass", "link_speed", "link_width"},
}

#: GB/s that NCCL counts sixteen lanes for, times 80 / 16 (its ``kvDictPciGen``), by beginning of link_speed.
_SPEEDS = (
    ("2.5 GT/s", 15), ("5 GT/s", 30), ("5.0 GT/s", 30), ("8 GT/s", 60), ("8.0 GT/s", 60), ("16 GT/s", 120),
    ("16.0 GT/s", 120), ("32 GT/s", 240), ("32.0 GT/s", 240), ("64 GT/s", 480), ("64.0 GT/s", 480),
)  # fmt: skip
_FALLBACK = 60
_HEX = re.compile(r"^(?:0x)?[0-9a-fA-F]*$")


@dataclass(frozen=True, slots=True)
class Node:
    """An element with the one above it and its line."""

    element: Element
    parent: Element | None
    evidence: Evidence

    def get(self, name: str) -> str:
        """Return an attribute, empty if it is missing."""
        return self.element.attributes.get(name, "")


def documents(node: NodeEvidence) -> Iterator[tuple[Reading, Element]]:
    """Go through the topology files of a node."""
    for reading in node.readings:
        if reading.kind == KIND and reading.lines:
            root = parse_xml("\n".join(reading.lines), Notices())
            if root is not None and root.tag == "system":
                yield reading, root


def walk(reading: Reading, root: Element) -> Iterator[Node]:
    """Go through all elements, parents before their children."""
    stack: list[tuple[Element, Element | None]] = [(root, None)]
    while stack:
        element, parent = stack.pop()
        yield Node(element, parent, reading.cite(element.line))
        stack += [(child, element) for child in reversed(element.children)]


def unknown_names(reading: Reading, root: Element) -> list[tuple[str, Evidence]]:
    """Return what NCCL does not know: '<switch> in <cpu>', 'pci= of <gpu>', each with its line."""
    found: list[tuple[str, Evidence]] = []
    strange: set[int] = set()
    for node in walk(reading, root):
        tag = node.element.tag
        above = node.parent.tag if node.parent is not None else ""
        inside_strange = node.parent is not None and id(node.parent) in strange
        if inside_strange or tag not in _CHILDREN.get(above, set()):
            strange.add(id(node.element))
            if not inside_strange:
                found.append((f"<{tag[:60]}> in <{above[:60]}>", node.evidence))
        known = _ATTRIBUTES.get(tag)
        if known is None:
            continue
        found += [
            (f"{name[:60]}= of <{tag}>", node.evidence)
            for name in node.element.attributes
            if name not in known
        ]
    return found


def knows_speed(text: str) -> bool:
    """Return whether NCCL can read a ``link_speed``."""
    return any(text.startswith(prefix) for prefix, _value in _SPEEDS)


def nccl_gb_per_s(element: Element) -> float:
    """Return what NCCL counts the link of a ``<pci>`` for, in GB/s.

    Unknown speeds count as Gen3, a width of 0 as 16.

    Examples
    --------
    >>> nccl_gb_per_s(Element("pci", {"link_speed": "2.5 GT/s", "link_width": "1"}, 1))
    0.1875
    """
    speed = element.attributes.get("link_speed", "")
    value = next((value for prefix, value in _SPEEDS if speed.startswith(prefix)), _FALLBACK)
    text = element.attributes.get("link_width", "").strip()
    width = int(text) if text.isdecimal() and len(text) < 4 else 0
    return (width or 16) * value / 80


def is_bridge(element: Element) -> bool:
    """Return whether a ``<pci>`` is a bridge."""
    return element.attributes.get("class", "").strip().lower().removeprefix("0x").startswith(("0604", "0801"))


def devices_below(element: Element) -> list[Element]:
    """Return the ``<pci>`` below an element that hold a GPU or a NIC."""
    found: list[Element] = []
    stack = list(element.children)
    while stack:
        child = stack.pop()
        if child.tag == "pci" and any(each.tag in ("gpu", "nic") for each in child.children):
            found.append(child)
        stack += child.children
    return found


@dataclass(frozen=True, slots=True)
class Mask:
    """The ``affinity`` of a ``<cpu>``: its CPUs, and what is wrong with its spelling ('' for nothing)."""

    numa: int | None
    cpus: frozenset[int]
    digits: int
    spelling: str
    host: str
    evidence: Evidence
    text: str


def masks(reading: Reading, root: Element) -> list[Mask]:
    """Return the CPU masks of a file."""
    found = []
    for element in root.children:
        if element.tag != "cpu" or not element.attributes.get("affinity", "").strip():
            continue
        text = element.attributes["affinity"].strip()
        words = text.split(",")
        wrong = ""
        if not all(_HEX.match(word) and word for word in words):
            wrong = "not hexadecimal"
        elif len(words) > 1 and any(len(word) != 8 for word in words[1:]):
            wrong = "a word after the first has not eight digits"
        elif len(words) > 1 and len(words[0]) > 8:
            wrong = "the first word has more than eight digits"
        value = (
            0
            if wrong.startswith("not")
            else int("".join(w.removeprefix("0x").rjust(8, "0") for w in words), 16)
        )
        numa = element.attributes.get("numaid", "").strip()
        found.append(
            Mask(
                int(numa) if numa.lstrip("-").isdecimal() and len(numa) < 6 else None,
                frozenset(bit for bit in range(value.bit_length()) if value >> bit & 1)
                if value < 1 << 8192
                else frozenset(),
                sum(len(word.removeprefix("0x")) for word in words),
                wrong,
                element.attributes.get("host_hash", ""),
                reading.cite(element.line),
                text,
            )
        )
    return found
