"""A sysfs tree's PCI functions in the form in which lspci gives them, so that all that reads one reads both.

The lines that evidence quotes are written here, in lspci's own terms; they say ``sysfs`` at their end.
"""

from __future__ import annotations

from collections.abc import Iterable

from gdviz.machine import PcieLink
from gdviz.machine.links import GIGATRANSFERS
from gdviz.readers.lspci.facts import AcsControl, Bar, LinkFacts, PciFunction, PciListing
from gdviz.readers.lspci.kinds import hint_of
from gdviz.readers.sysfs.functions import SysFunction

_ACS_BITS = (*("SrcValid", "TransBlk", "ReqRedir", "CmpltRedir", "UpstreamFwd", "EgressCtrl", "DirectTrans"),)


def listing_of(functions: Iterable[SysFunction]) -> tuple[PciListing, tuple[str, ...]]:
    """Return functions as lspci's facts, and the lines that stand for its text.

    Parameters
    ----------
    functions
        All of a tree.
    """
    ordered = sorted(functions, key=lambda function: function.busid)
    types = _port_types(ordered)
    lines: list[str] = []
    found = [_function(function, types[function.busid], lines) for function in ordered]
    hints = [hint for function in found if (hint := hint_of(function)) is not None]
    verbose = any(function.config.whole for function in ordered)
    listing = PciListing(tuple(found), tuple(hints), (), verbose, not verbose, tree=False)
    return listing, tuple(lines)


def _port_types(functions: list[SysFunction]) -> dict[str, str]:
    """Return each function's port type: from its capabilities, else from where it stands.

    Below a root port the ports of switches take turns: upstream, downstream, upstream.
    """
    by_busid = {function.busid: function for function in functions}
    found: dict[str, str] = {}
    for function in functions:
        chain = []
        at: SysFunction | None = function
        while at is not None and at.busid not in found and at not in chain:
            chain.append(at)
            at = by_busid.get(at.above)
        for part in reversed(chain):
            found[part.busid] = _port_type(part, found.get(part.above, ""))
    return found


def _port_type(function: SysFunction, above: str) -> str:
    if function.config.port_type:
        return function.config.port_type
    if not function.is_bridge:
        return "Endpoint"
    if not above:
        return "Root Port"
    return "Downstream Port" if above == "Upstream Port" else "Upstream Port"


def _function(function: SysFunction, port_type: str, lines: list[str]) -> PciFunction:
    config = function.config
    code = None if function.class_code is None else function.class_code >> 8
    lines.append(f"{function.busid} {_hex(code)}: {_hex(function.vendor)}:{_hex(function.device)} (sysfs)")
    line = len(lines)
    link, link_line = LinkFacts(), None
    if function.link != PcieLink():
        lines.append(f"\tLnkSta: {_link_text(function.link)} (sysfs)")
        link_line = len(lines)
        own = function.link
        slower = own.gen is not None and own.max_gen is not None and own.gen < own.max_gen
        narrower = own.width is not None and own.max_width is not None and own.width < own.max_width
        link = LinkFacts(own, slower, narrower, link_line, link_line)
    acs = _acs("ACSCtl", config.acs, lines)
    capability = _acs("ACSCap", config.acs_capability, lines)
    ats_line = None
    if config.ats is not None:
        lines.append(f"\tATSCtl: Enable{'+' if config.ats else '-'} (sysfs)")
        ats_line = len(lines)
    group_line = None
    if function.iommu_group is not None:
        lines.append(f"\tIOMMU group: {function.iommu_group} (sysfs)")
        group_line = len(lines)
    above = "" if function.above.startswith("pci") else function.above
    return PciFunction(
        busid=function.busid,
        line=line,
        class_code=code,
        vendor=function.vendor,
        device=function.device,
        subsystem_vendor=function.subsystem_vendor,
        subsystem_device=function.subsystem_device,
        link=link,
        mps_bytes=config.mps_bytes,
        mrrs_bytes=config.mrrs_bytes,
        relaxed_ordering=config.relaxed_ordering,
        relaxed_ordering_line=line if config.relaxed_ordering is not None else None,
        devctl_line=line if config.mps_bytes is not None else None,
        acs=acs,
        acs_capability=capability,
        ats=config.ats,
        ats_capable=config.ats is not None if config.whole else None,
        ats_line=ats_line,
        iommu_group=function.iommu_group,
        iommu_group_line=group_line,
        numa=function.numa if function.numa >= 0 else None,
        driver=function.driver,
        driver_line=line if function.driver else None,
        bars=tuple(Bar(number, size, fetch, line) for number, size, fetch in function.bars),
        port_type=port_type,
        primary=config.primary,
        secondary=config.secondary,
        subordinate=config.subordinate,
        bus_line=line if config.secondary is not None else None,
        above=above,
        denied_line=None if config.whole else line,
    )


def _acs(name: str, register: int | None, lines: list[str]) -> AcsControl | None:
    if register is None:
        return None
    bits = [bool(register >> position & 1) for position in range(len(_ACS_BITS))]
    flags = " ".join(f"{flag}{'+' if bit else '-'}" for flag, bit in zip(_ACS_BITS, bits, strict=True))
    lines.append(f"\t{name}: {flags} (sysfs)")
    return AcsControl(*bits[:7], len(lines))  # type: ignore[call-arg]


def _hex(number: int | None) -> str:
    return "????" if number is None else f"{number:04x}"


def _link_text(link: PcieLink) -> str:
    def speed(gen: int | None) -> str:
        return "?" if gen is None else f"{GIGATRANSFERS[gen]:g}GT/s"

    width = "?" if link.width is None else str(link.width)
    best = "?" if link.max_width is None else str(link.max_width)
    return f"Speed {speed(link.gen)}, Width x{width}; max {speed(link.max_gen)} x{best}"
