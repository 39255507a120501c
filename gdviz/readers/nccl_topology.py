"""NCCL's topology XML (``NCCL_TOPO_DUMP_FILE``, ``NCCL_TOPO_FILE``) to machines.

Version 1 is NCCL's, version 2 RCCL's. A file holds CPUs (NUMA nodes), below them PCI functions nested as
deep as the switches are, and in these GPUs and NICs. NCCL leaves out root ports and downstream ports:
each bridge is a switch, named by its upstream port. Whatever cannot be read becomes a notice with its
line; nothing here raises on a bad file.
"""

from __future__ import annotations

from gdviz.machine import Machine
from gdviz.messages import _
from gdviz.readers.nccl_fields import name_of
from gdviz.readers.nccl_host import HostReader
from gdviz.readers.notices import Notices, shown
from gdviz.readers.reading import Reading
from gdviz.readers.source import to_text
from gdviz.readers.xml_positions import Element, parse_xml, root_tag

KIND = "nccl_topo_xml"
TITLE = "NCCL topology XML"

_VERSIONS = ("1", "2")

#: Elements that NCCL knows inside each element. What it knows but gdviz has no use for is skipped
#: in silence.
_CHILDREN = {
    "system": {"cpu"},
    "cpu": {"pci", "nic"},
    "pci": {"pci", "gpu", "nic", "pcilink"},
    "gpu": {"nvlink", "xgmi", "c2c", "pcilink"},
    "nic": {"net", "gin", "rma", "coll"},
}


def looks_like(text: str) -> bool:
    """Return whether `text` is meant to be of this format: its first element is ``<system>``."""
    return root_tag(text) == "system"


def read(data: bytes | str, *, name: str = "node", source: str = "") -> Reading:
    """Read the machines of an NCCL topology: one, or one for each host of a multi-node NVLink system.

    Parameters
    ----------
    data
        The file's content.
    name
        Name for the machine; with several, a number is added.
    source
        Where it was read, for the reader's eyes.

    Returns
    -------
    Reading
        At least one machine, perhaps without any part. Each carries the notices of the whole file.
    """
    text, decoding = to_text(data)
    lines = tuple(text.splitlines())
    notices = Notices()
    for notice in decoding:
        notices.add(notice.text, notice.line)
    root = parse_xml(text, notices)
    if root is None or root.tag != "system":
        if root is not None:
            notices.add(_("The root element is <{tag}>, not <system>.").format(tag=root.tag[:60]), root.line)
        told = notices.all()
        return Reading(KIND, source, (Machine(name, source=source, notices=told),), notices=told, lines=lines)
    version = root.attributes.get("version")
    if version not in _VERSIONS:
        notices.add(
            _("version={value} of <system> is unknown; NCCL reads 1, RCCL 2.").format(
                value=shown(version or "")
            ),
            root.line,
        )
    hosts = _hosts(root, notices)
    if not any(host.cpus for host in hosts):
        notices.add(_("The file names no CPU, GPU or NIC."), root.line)
    several = len(hosts) > 1
    machines = [(f"{name}-{number}" if several else name, host.parts()) for number, host in enumerate(hosts)]
    told = notices.all()
    found = tuple(Machine(title, parts, source, told) for title, parts in machines)
    # A file that was cut has no end tag; one that is broken elsewhere has.
    cut = bool(root.children) and "</system" not in text
    return Reading(KIND, source, found, notices=told, truncated=cut, lines=lines)


def _hosts(root: Element, notices: Notices) -> list[HostReader]:
    """Walk the tree without recursion and hand each element to the host that it belongs to."""
    hosts: dict[str, HostReader] = {}
    for cpu in root.children:
        if cpu.tag not in _CHILDREN["system"]:
            _skip(cpu, "system", notices)
            continue
        key = name_of(cpu, "host_hash")
        host = hosts.get(key) or hosts.setdefault(key, HostReader(notices))
        # Reversed, so that the stack gives the elements in the order of the file.
        place = host.add_cpu(cpu)
        todo = [(child, place) for child in reversed(cpu.children)]
        while todo:
            element, place = todo.pop()
            if element.tag not in _CHILDREN.get(place.tag, ()):
                _skip(element, place.tag, notices)
                continue
            below = host.add(element, place)
            if below is not None:
                todo += [(child, below) for child in reversed(element.children)]
    return list(hosts.values()) or [HostReader(notices)]


def _skip(element: Element, parent: str, notices: Notices) -> None:
    tag = element.tag[:60]
    inside = sorted({child.tag[:60] for child in element.children[:100]})
    held = _(", with all that it holds ({tags})").format(tags=", ".join(f"<{name}>" for name in inside[:6]))
    notices.add(
        _("<{tag}> in <{parent}> is no element that NCCL knows; it was skipped{held}.").format(
            tag=tag, parent=parent, held=held if inside else ""
        ),
        element.line,
        kind=f"element {parent} {tag}",
    )
