"""hwloc's XML (``lstopo file.xml``) to a reading, in its three dialects."""

from __future__ import annotations

import re

from gdviz.machine import Machine, Parts
from gdviz.messages import _
from gdviz.readers.hwloc.distances import nvlinks_of
from gdviz.readers.hwloc.facts import HwlocTopology
from gdviz.readers.hwloc.fields import infos
from gdviz.readers.hwloc.walk import Walk
from gdviz.readers.notices import Notices
from gdviz.readers.reading import Reading
from gdviz.readers.source import to_text
from gdviz.readers.xml_positions import Element, parse_xml, root_tag

KIND = "hwloc_xml"
TITLE = "hwloc XML"

#: hwloc's own document type: it has no entities, so nothing is lost without it.
_DOCTYPE = re.compile(r'<!DOCTYPE\s+topology\s+SYSTEM\s+"hwloc[0-9]?\.dtd"\s*>')
_OBJECT = re.compile(r"<object\s+type=|<topology[\s>]")


def looks_like(text: str) -> bool:
    """Return whether `text` is meant to be of this format: its first element is ``<topology>``."""
    return root_tag(text) == "topology" and _OBJECT.search(text) is not None


def read(data: bytes | str, *, name: str = "node", source: str = "") -> Reading:
    """Read the machine of an hwloc topology.

    Returns
    -------
    Reading
        One machine: NUMA nodes that have CPUs, GPUs, RDMA devices by their names, the bridges above
        them, and NVLinks where a matrix of bandwidths names them. Its facts are an `HwlocTopology`.
    """
    text, decoding = to_text(data)
    notices = Notices()
    for notice in decoding:
        notices.add(notice.text, notice.line)
    lines = tuple(text.splitlines())
    text = _DOCTYPE.sub(lambda match: "\n" * match[0].count("\n"), text, count=1)
    root = parse_xml(text, notices, keep_text=True)
    if root is None or root.tag != "topology":
        told = notices.all()
        return Reading(KIND, source, (Machine(name, source=source, notices=told),), notices=told, lines=lines)
    version = root.attributes.get("version", "1")[:8]
    about = _about(root)
    walk = Walk(int(version[0]) if version[:1].isdecimal() else 1, about.get("Architecture", ("", 0))[0])
    walk.take(root)
    gpus = {gpu.id: gpu for gpu in walk.gpus}
    parts = Parts(
        tuple(walk.cpus.values()),
        tuple(walk.bridges.values()),
        tuple(walk.gpus),
        tuple(walk.nics),
        tuple(walk.devices),
        nvlinks_of(root, walk.owners, gpus),
    )
    if not walk.functions:
        notices.add(
            _("The file has no PCI functions: lstopo left them out (--no-io), or could not see them."),
            root.line,
        )
    told = notices.all()
    facts = HwlocTopology(
        version,
        {key: value for key, (value, _line) in about.items()},
        {key: line for key, (_value, line) in about.items()},
        tuple(walk.functions),
    )
    truncated = not re.search(r"</topology>\s*$", text[-2000:]) and "</topology>" not in text[-20_000:]
    return Reading(KIND, source, (Machine(name, parts, source, told),), facts, told, truncated, lines)


def _about(root: Element) -> dict[str, tuple[str, int]]:
    """Return what stands of the host as a whole: below the topology (hwloc 3), or in the object Machine."""
    found: dict[str, tuple[str, int]] = {}
    for element in (root, *(child for child in root.children if child.tag == "object")):
        for key, value in infos(element).items():
            found.setdefault(key, value)
    return found
