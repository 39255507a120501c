"""Values of NCCL's topology XML: link speeds, CPU masks, PCI classes and ids.

What NCCL makes of each is from its src/graph/topo.cc and src/graph/xml.cc (v2.30).
"""

from __future__ import annotations

import re

from gdviz.machine import PcieLink, PciIds, PeerKind, normal_bus_id
from gdviz.machine.links import GIGATRANSFERS
from gdviz.messages import _
from gdviz.readers.notices import Notices, shown
from gdviz.readers.xml_positions import Element

#: Lanes that NCCL counts where a file says 0.
NCCL_DEFAULT_WIDTH = 16

#: Longest name that is kept; NCCL's own strings hold 255 characters.
MAX_NAME = 255

_SPEED = re.compile(r"^\s*(\d{1,3}(?:\.\d{1,3})?)\s*GT/s")
_GENERATIONS = {rate: gen for gen, rate in GIGATRANSFERS.items()}

#: NCCL compares the beginning of link_speed with these and takes Gen3 for anything else.
_NCCL_SPEEDS = (
    *("2.5 GT/s", "5 GT/s", "8 GT/s", "16 GT/s", "32 GT/s"),
    *("5.0 GT/s PCIe", "8.0 GT/s PCIe", "16.0 GT/s PCIe", "32.0 GT/s PCIe", "64.0 GT/s PCIe"),
)

_HEX_WORD = re.compile(r"^[0-9a-fA-F]{1,8}$")
_HEX = re.compile(r"^(?:0[xX])?([0-9a-fA-F]+)$")
_INTEGER = re.compile(r"^\s*([+-]?\d{1,15})\s*$")

BRIDGE_CLASSES = ("0604", "0801")
GPU_CLASSES = ("03", "12")
NIC_CLASSES = ("02",)
INFINIBAND_CLASS = 0x0207


def integer(element: Element, name: str, notices: Notices) -> int | None:
    """Return a whole number, None if the attribute is missing or (with a notice) none."""
    text = element.attributes.get(name)
    if text is None:
        return None
    match = _INTEGER.match(text)
    if not match:
        notices.add(
            _("{name}={value} of <{tag}> is not a number.").format(
                name=name, value=shown(text), tag=element.tag
            ),
            element.line,
            kind=f"number {element.tag} {name}",
        )
        return None
    return int(match[1])


def flag(element: Element, name: str, notices: Notices) -> bool | None:
    """Return whether an attribute is other than 0; None if it is missing or no number."""
    number = integer(element, name, notices)
    return None if number is None else number != 0


def name_of(element: Element, attribute: str = "name") -> str:
    """Return a name, empty if there is none."""
    return element.attributes.get(attribute, "").strip()[:MAX_NAME]


def bus_id(element: Element, notices: Notices) -> str:
    """Return a bus id in its normal spelling, what stands there if it is none, or ''."""
    text = name_of(element, "busid")
    normal = normal_bus_id(text)
    if normal is None:
        what = _("has no bus id") if not text else _("has {value} for a bus id").format(value=shown(text))
        notices.add(
            _("A <{tag}> {what}.").format(tag=element.tag, what=what), element.line, kind="busid " + what
        )
    return normal or text


def pci_class(element: Element, notices: Notices) -> str | None:
    """Return the six hexadecimal digits of a class without ``0x``; None if missing or (notice) bad."""
    text = element.attributes.get("class")
    if text is None:
        return None
    match = _HEX.match(text.strip())
    if not match or not 2 <= len(match[1]) <= 6:
        notices.add(
            _("class={value} of <{tag}> is no PCI class.").format(value=shown(text), tag=element.tag),
            element.line,
            kind="class " + text[:60],
        )
        return None
    return match[1].lower().ljust(6, "0")


def peer_kind(tclass: str | None) -> PeerKind:
    """Return what NCCL takes a ``tclass`` for."""
    digits = (tclass or "").strip().lower().removeprefix("0x")
    if digits.startswith(GPU_CLASSES):
        return PeerKind.GPU
    return {"068000": PeerKind.SWITCH, "068001": PeerKind.CPU}.get(digits, PeerKind.UNKNOWN)


def pci_ids(element: Element, notices: Notices) -> PciIds:
    """Return the four ids; vendor 0 and ffff stand for no id at all (made-up bridges)."""
    vendor, device, subsystem_vendor, subsystem_device = (
        _id16(element, name, notices) for name in ("vendor", "device", "subsystem_vendor", "subsystem_device")
    )
    if vendor in (None, 0, 0xFFFF):
        return PciIds()
    return PciIds(vendor, device, subsystem_vendor, subsystem_device)


def _id16(element: Element, name: str, notices: Notices) -> int | None:
    text = element.attributes.get(name)
    if text is None:
        return None
    match = _HEX.match(text.strip())
    if not match or len(match[1]) > 8 or int(match[1], 16) > 0xFFFF:
        notices.add(
            _("{name}={value} of <{tag}> is no PCI id.").format(
                name=name, value=shown(text), tag=element.tag
            ),
            element.line,
            kind=f"pci id {name}",
        )
        return None
    return int(match[1], 16)


def pcie_link(element: Element, notices: Notices) -> PcieLink:
    """Return a link's generation and width; each None where the file does not tell."""
    return PcieLink(_generation(element, notices), _width(element, notices))


def _generation(element: Element, notices: Notices) -> int | None:
    text = element.attributes.get("link_speed")
    where = shown(element.attributes.get("busid", "?"))
    if text is None:
        notices.add(
            _("<pci> {busid} gives no link_speed; NCCL asks the running system or takes Gen3.").format(
                busid=where
            ),
            element.line,
            kind="no link_speed",
        )
        return None
    match = _SPEED.match(text)
    gen = _GENERATIONS.get(float(match[1])) if match else None
    if gen is None:
        text_of_notice = _("link_speed={value} of <pci> {busid} is unknown; NCCL would take Gen3.")
    elif not text.startswith(_NCCL_SPEEDS):
        text_of_notice = _(
            "link_speed={value} of <pci> {busid} is not spelled as NCCL knows it; NCCL would take Gen3."
        )
    else:
        return gen
    notices.add(
        text_of_notice.format(value=shown(text), busid=where),
        element.line,
        kind="link_speed " + text[:60],
    )
    return gen


def _width(element: Element, notices: Notices) -> int | None:
    width = integer(element, "link_width", notices)
    if width is None or 1 <= width <= 32:
        return width
    where = shown(element.attributes.get("busid", "?"))
    if width == 0:
        notices.add(
            _("link_width=0 of <pci> {busid}; NCCL counts it as {n} lanes, and so does gdviz.").format(
                busid=where, n=NCCL_DEFAULT_WIDTH
            ),
            element.line,
            kind="zero width",
        )
        return NCCL_DEFAULT_WIDTH
    notices.add(
        _("link_width={n} of <pci> {busid} is no width of a PCIe link.").format(n=width, busid=where),
        element.line,
        kind="bad width",
    )
    return None


def affinity(element: Element, notices: Notices) -> frozenset[int]:
    """Return the logical CPUs of a mask: 32-bit words in hexadecimal, the highest first.

    Words may be short (``0003ff,f0003fff``); a mask without commas may be of any length.
    """
    text = element.attributes.get("affinity", "").strip()
    if not text:
        return frozenset()
    words = text.split(",")
    if len(words) == 1 and (match := _HEX.match(text)):
        mask = int(match[1], 16)
    elif all(_HEX_WORD.match(word) for word in words):
        mask = 0
        for word in words:
            mask = mask << 32 | int(word, 16)
    else:
        notices.add(
            _("affinity={value} of <{tag}> is no CPU mask.").format(value=shown(text), tag=element.tag),
            element.line,
            kind="affinity",
        )
        return frozenset()
    return frozenset(bit for bit in range(mask.bit_length()) if mask >> bit & 1)
