"""Values of hwloc's XML: CPU sets, PCI types, link speeds, kinds of operating system devices."""

from __future__ import annotations

import re

from gdviz.machine import PcieLink
from gdviz.machine.links import GIGATRANSFERS, lane_bytes_per_s
from gdviz.readers.xml_positions import Element

_TYPE = re.compile(
    r"^([0-9a-f]{4})\s+\[([0-9a-f]{4}):([0-9a-f]{4})\](?:\s+\[([0-9a-f]{4}):([0-9a-f]{4})\])?", re.IGNORECASE
)
_WORD = re.compile(r"^(?:0x)?([0-9a-f]{0,8})$", re.IGNORECASE)
_NUMBER = re.compile(r"^-?\d{1,12}$")
_DECIMAL = re.compile(r"^\d{1,6}(?:\.\d{1,9})?$")
_RDMA_NAME = re.compile(
    r"^(?:mlx\d|mthca|qib|hfi1_|bnxt_re|irdma|rdmap|roce|rocep|ibp|efa_|cxgb4_|mana_|erdma)"
)

#: Words of a CPU set that are read: 32 CPUs each.
_MAX_WORDS = 256
#: How far hwloc's rounded bandwidth may be from a link's own.
_TOLERANCE = 0.005
#: Widths in the order in which a bandwidth is taken for one.
_WIDTHS = (16, 8, 4, 2, 1, 32, 12)

PciType = tuple[int, int, int, int | None, int | None]


def pci_type(element: Element) -> PciType | None:
    """Return class, vendor, device and the subsystem's two ids, None if the attribute is none."""
    match = _TYPE.match(element.attributes.get("pci_type", ""))
    if match is None:
        return None
    code, vendor, device = (int(match[number], 16) for number in (1, 2, 3))
    if match[4] is None:
        return code, vendor, device, None, None
    return code, vendor, device, int(match[4], 16), int(match[5], 16)


def cpus_of(text: str) -> int:
    """Return a CPU set as a mask: words of 32 bits, the highest first, an empty word for zero.

    Examples
    --------
    >>> bin(cpus_of("0x00000001,,0x3"))
    '0b10000000000000000000000000000000000000000000000000000000000000011'
    """
    mask = 0
    for word in text.split(",")[-_MAX_WORDS:]:
        match = _WORD.match(word.strip())
        if match is None:
            return 0
        mask = mask << 32 | int(match[1] or "0", 16)
    return mask


def integer(text: str | None) -> int | None:
    """Return a whole number, None if it is none."""
    return int(text) if text and _NUMBER.match(text) else None


def link_of(element: Element) -> PcieLink:
    """Return the link of ``pci_link_speed``, in GB/s one way.

    hwloc gives the bandwidth alone. 15.75 GB/s may be Gen3 x16 or Gen4 x8: the widest link of that
    bandwidth is taken, which carries the same.

    Examples
    --------
    >>> str(link_of(Element("object", {"pci_link_speed": "15.753846"}, 1)))
    'Gen3 x16'
    """
    text = element.attributes.get("pci_link_speed", "")
    speed = float(text) * 1e9 if _DECIMAL.match(text) else 0.0
    if speed <= 0:
        return PcieLink()
    for width in _WIDTHS:
        for gen in GIGATRANSFERS:
            wanted = lane_bytes_per_s(gen) * width
            if abs(speed - wanted) <= wanted * _TOLERANCE:
                return PcieLink(gen, width)
    return PcieLink()


def rdma_devices(systems: list[Element], version: int) -> list[Element]:
    """Return those operating system devices of a PCI function that are RDMA devices.

    Parameters
    ----------
    systems
        Objects of type ``OSDev``.
    version
        Of the dialect: kinds are numbers up to 2 (3 is OpenFabrics) and bits from 3 on (32 is).
    """
    found = []
    for system in systems:
        kind = integer(system.attributes.get("osdev_type")) or 0
        if kind & 32 if version >= 3 else kind == 3:
            found.append(system)
    # Old versions took some RDMA devices for network interfaces.
    return found or [system for system in systems if _RDMA_NAME.match(system.attributes.get("name", ""))]


def infos(element: Element) -> dict[str, tuple[str, int]]:
    """Return the ``<info>`` of an object, each with its line; the first of a name has the word."""
    found: dict[str, tuple[str, int]] = {}
    for child in element.children:
        if child.tag == "info" and "name" in child.attributes:
            found.setdefault(
                child.attributes["name"][:60], (child.attributes.get("value", "")[:200], child.line)
            )
    return found
