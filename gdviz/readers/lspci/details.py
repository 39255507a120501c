"""The lines below a function's first one, each to the facts that it holds."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from gdviz.machine import PcieLink
from gdviz.machine.links import GIGATRANSFERS
from gdviz.readers.lspci.facts import AcsControl, Bar, LinkFacts

_GENERATIONS = {rate: gen for gen, rate in GIGATRANSFERS.items()}
_SPEED = re.compile(r"Speed (\d{1,3}(?:\.\d{1,2})?) ?GT/s(?: \((\w+)\))?")
_WIDTH = re.compile(r"Width x(\d{1,2})(?: \((\w+)\))?")
_PAYLOAD = re.compile(r"MaxPayload (\d{2,4}) bytes(?:, MaxReadReq (\d{2,4}) bytes)?")
_BUSES = re.compile(
    r"Bus: primary=([0-9a-f]{2}), secondary=([0-9a-f]{2}), subordinate=([0-9a-f]{2})", re.IGNORECASE
)
_SIZE = re.compile(r"\[size=(\d{1,6})([KMGTP]?)\]")
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "P": 2**50}
_REGION = re.compile(r"(?:Region (\d{1,2}): )?Memory at ")
_PORT = re.compile(r"Express (?:\([^)]{0,20}\) )?(?:Legacy )?([A-Z][A-Za-z/ -]{3,50}?)(?: \(|,|$)")
_ACS_FLAG = re.compile(r"(\w{4,12})([+-])")
_ACS_NAMES = (
    *("SrcValid", "TransBlk", "ReqRedir", "CmpltRedir", "UpstreamFwd", "EgressCtrl", "DirectTrans"),
)
_NUMBER = re.compile(r"(?:NUMA node|IOMMU group): *(-?\d{1,9})")
_IDS = re.compile(r"\[([0-9a-f]{4}):([0-9a-f]{4})\]")

#: Regions that are kept of one function; PCI has six and a ROM.
_MAX_BARS = 8


@dataclass(slots=True)
class Details:
    """What the lines below a head gave, by the names that `PciFunction` has for it."""

    values: dict[str, Any] = field(default_factory=dict)
    bars: list[Bar] = field(default_factory=list)
    link: LinkFacts = LinkFacts()
    subsystem: str = ""
    capability: str = ""
    #: More than one ``LnkSta`` or ``ACSCtl``: the text went through grep, they belong to several functions.
    mixed: bool = False

    def take(self, line: str, number: int) -> bool:
        """Take a line; return whether it is one of those that lspci prints below a function's first."""
        text = line.lstrip(" \t>")
        reader = _READERS.get(text[: _first_word(text)])
        if reader is None:
            return False
        reader(self, text, number)
        return True


def _first_word(text: str) -> int:
    for position, char in enumerate(text[:16]):
        if char in ":+- \t":
            return position
    return 16


def acs_flags(text: str, line: int) -> AcsControl | None:
    """Return the seven bits of an ``ACSCtl`` or ``ACSCap`` line, None if it names none of them."""
    flags = {name: sign == "+" for name, sign in _ACS_FLAG.findall(text)}
    if not any(name in flags for name in _ACS_NAMES[:4]):
        return None
    src, blk, req, cmplt, up, egress, direct = (flags.get(name, False) for name in _ACS_NAMES)
    return AcsControl(src, blk, req, cmplt, up, egress, direct, line)


def _acs(key: str) -> Callable[[Details, str, int], None]:
    def reader(details: Details, text: str, number: int) -> None:
        found = acs_flags(text, number)
        if found is None:
            return
        if key in details.values:
            details.mixed = True
        details.values[key] = found

    return reader


def _link_capability(details: Details, text: str, number: int) -> None:
    gen, width, _slow, _narrow = _speed_and_width(text)
    link = replace(details.link.link, max_gen=gen, max_width=width)
    details.link = replace(details.link, link=link, cap_line=number)


def _link_status(details: Details, text: str, number: int) -> None:
    if details.link.line is not None:
        details.mixed = True
    gen, width, slow, narrow = _speed_and_width(text)
    old = details.link.link
    link = PcieLink(gen, width, old.max_gen, old.max_width)
    details.link = LinkFacts(link, slow, narrow, number, details.link.cap_line)


def _speed_and_width(text: str) -> tuple[int | None, int | None, bool, bool]:
    speed, width = _SPEED.search(text), _WIDTH.search(text)
    gen = _GENERATIONS.get(float(speed[1])) if speed else None
    # Width x0 is a slot without a device.
    lanes = int(width[1]) if width and 0 < int(width[1]) <= 32 else None
    return (
        gen,
        lanes,
        speed is not None and speed[2] == "downgraded",
        width is not None and width[2] == "downgraded" and lanes is not None,
    )


def _devctl(details: Details, text: str, number: int) -> None:
    details.values["devctl_line"] = number
    _payload(details, text, number)


def _payload(details: Details, text: str, number: int) -> None:
    match = _PAYLOAD.search(text)
    if match is not None and "devctl_line" in details.values and "mps_bytes" not in details.values:
        details.values["mps_bytes"] = int(match[1])
        if match[2]:
            details.values["mrrs_bytes"] = int(match[2])


def _relaxed(details: Details, text: str, number: int) -> None:
    if text[7:8] in ("+", "-") and "relaxed_ordering" not in details.values:
        details.values["relaxed_ordering"] = text[7] == "+"
        details.values["relaxed_ordering_line"] = number


def _buses(details: Details, text: str, number: int) -> None:
    if match := _BUSES.match(text):
        primary, secondary, subordinate = (int(bus, 16) for bus in match.groups())
        details.values.update(primary=primary, secondary=secondary, subordinate=subordinate, bus_line=number)


def _numbered(key: str) -> Callable[[Details, str, int], None]:
    def reader(details: Details, text: str, number: int) -> None:
        match = _NUMBER.match(text)
        if match and int(match[1]) >= 0:
            details.values[key] = int(match[1])
            if key == "iommu_group":
                details.values["iommu_group_line"] = number

    return reader


def _physical(details: Details, text: str, number: int) -> None:
    if text.startswith("Physical Slot:"):
        details.values["physical_slot"] = text[14:].strip()[:60]


def _kernel(details: Details, text: str, number: int) -> None:
    if text.startswith("Kernel driver in use:"):
        details.values["driver"] = text[21:].strip()[:60]
        details.values["driver_line"] = number
    elif text.startswith("Kernel modules:"):
        names = text[15:400].split(",")
        details.values["modules"] = tuple(name.strip()[:60] for name in names if name.strip())[:16]


def _region(details: Details, text: str, number: int) -> None:
    match = _REGION.match(text)
    if match is None or details.capability == "sriov" or len(details.bars) >= _MAX_BARS:
        return
    size = _SIZE.search(text)
    prefetchable = "prefetchable" in text and "non-prefetchable" not in text
    bytes_ = int(size[1]) * _UNITS[size[2]] if size else None
    details.bars.append(Bar(int(match[1] or len(details.bars)), bytes_, prefetchable, number))


def _capabilities(details: Details, text: str, number: int) -> None:
    details.capability = ""
    if "<access denied>" in text:
        details.values["denied_line"] = number
    elif "Express" in text and (match := _PORT.search(text)):
        if "port_type" not in details.values and "Secondary" not in text:
            details.values["port_type"] = match[1].strip()
    elif "Access Control Services" in text:
        details.capability = "acs"
    elif "Address Translation Service" in text:
        details.values.setdefault("ats_capable", True)
        details.values.setdefault("ats_line", number)
    elif "I/O Virtualization" in text:
        details.capability = "sriov"
    elif (place := text.find("Device Serial Number ")) >= 0:
        details.values["serial"] = text[place + 21 : place + 60].strip()


def _ats(details: Details, text: str, number: int) -> None:
    details.values["ats_capable"] = True
    if "Enable+" in text or "Enable-" in text:
        details.values["ats"] = "Enable+" in text
        details.values["ats_line"] = number


def _subsystem(details: Details, text: str, number: int) -> None:
    if not details.subsystem:
        details.subsystem = text[10:210].strip()
        if ids := _IDS.findall(details.subsystem):
            vendor, device = ids[-1]
            details.values.update(subsystem_vendor=int(vendor, 16), subsystem_device=int(device, 16))


def _known(details: Details, text: str, number: int) -> None:
    """Take nothing: a line that only shows that the text is still lspci's."""


_READERS: dict[str, Callable[[Details, str, int], None]] = {
    "ACSCtl": _acs("acs"),
    "ACSCap": _acs("acs_capability"),
    "LnkCap": _link_capability,
    "LnkSta": _link_status,
    "DevCtl": _devctl,
    "MaxPayload": _payload,
    "RlxdOrd": _relaxed,
    "Bus": _buses,
    "NUMA": _numbered("numa"),
    "IOMMU": _numbered("iommu_group"),
    "Physical": _physical,
    "Kernel": _kernel,
    "Region": _region,
    "Memory": _region,
    "Capabilities": _capabilities,
    "ATSCtl": _ats,
    "Subsystem": _subsystem,
    **dict.fromkeys(
        ("Control", "Status", "Flags", "DevCap", "DevSta", "LnkCtl", "ATSCap", "Interrupt"), _known
    ),
}
