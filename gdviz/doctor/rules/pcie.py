"""PCI Express: ACS on the way, links below what they can (R8, R19)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gdviz.doctor import support
from gdviz.doctor.effects import pair_rate, redirected_rate
from gdviz.doctor.evidence.grep import grep
from gdviz.doctor.evidence.known import value_of
from gdviz.doctor.evidence.nics import bus_ids_in_use, bus_ids_of_drivers, gpu_functions, rdma_functions
from gdviz.doctor.evidence.node import CaseEvidence, NodeEvidence
from gdviz.doctor.evidence.patterns import LIMITED
from gdviz.doctor.evidence.pci import PciTree, listings, trees
from gdviz.doctor.evidence.platform import virtual
from gdviz.doctor.findings import Untold, finding
from gdviz.doctor.rules.base import Answer, rule
from gdviz.machine import PcieLink
from gdviz.messages import _
from gdviz.quantities import format_rate
from gdviz.readers import Evidence
from gdviz.readers.fabric import RdmaTopo
from gdviz.readers.lspci import PciFunction
from gdviz.readers.nvidia_smi import SmiQuery

#: Generation to which GPUs fall when they have nothing to do.
_IDLE_GEN = 1


@rule("acs-on-path", number="R8")
def acs(case: CaseEvidence) -> Iterator[Answer]:
    """Find: ACS sends peer-to-peer traffic of a pair up to the root complex."""
    for node in case.nodes:
        if value_of(virtual(node)) or not support.hardware_capable(node) or node.assumed.get("acs") is False:
            continue
        ports: dict[str, Evidence] = {}
        pairs: list[tuple[str, str]] = []
        for tree in trees(node):
            for gpu, nic, between in _switched_pairs(node, tree):
                on = [b for b in between if (f := tree.functions.get(b)) and f.acs and f.acs.redirects]
                for busid in on:
                    control = tree.functions[busid].acs
                    line = control.line if control else tree.functions[busid].line
                    cited = tree.reading.cite(line)
                    ports[busid] = Evidence(cited.file, cited.line, f"{busid}: {cited.text}")
                if on:
                    pairs.append((gpu, nic))
        masks = _wrong_masks(node)
        if not ports and not masks:
            yield from _acs_untold(node)
            continue
        names = ", ".join(busid.removeprefix("0000:") for busid in sorted(ports)) or ", ".join(masks)
        effect, cost = _redirect_effect(node, pairs)
        fix = tuple(
            _("setpci -s {port} ECAP_ACS+0x6.w=0000, at each boot").format(port=busid.removeprefix("0000:"))
            for busid in sorted(ports)
        )
        if masks:
            fix = (
                *fix,
                _("the setting that this platform asks for: rdma_topo write-grub-acs, then a reboot"),
            )
        elif ports:
            fix = (*fix, _("or ACS off in the BIOS; on platforms that rdma_topo knows its selective setting"))
        yield finding(
            "acs-on-path",
            _("{node}: ACS redirects peer-to-peer traffic at {ports}").format(node=node.name, ports=names),
            *[ports[busid] for busid in sorted(ports)][:8],
            *masks.values(),
            node=node.name,
            effect=effect,
            check=_("sudo lspci -vvv -s PORT | grep ACSCtl: ReqRedir- and CmpltRedir-"),
            fix=fix,
            cost_bytes_per_s=cost,
        )


def _switched_pairs(node: NodeEvidence, tree: PciTree) -> Iterator[tuple[str, str, list[str]]]:
    """Go through pairs that share a switch, with the ports that traffic between them passes."""
    used = bus_ids_in_use(node)
    nics = [f.busid for f in rdma_functions(node, tree.reading) if used is None or f.busid in used]
    for gpu in gpu_functions(tree.reading):
        for nic in nics:
            between = tree.between(gpu.busid, nic)
            if between:
                yield gpu.busid, nic, between


def _wrong_masks(node: NodeEvidence) -> dict[str, Evidence]:
    """Return functions of which ``rdma_topo check`` says that requests are redirected and should not be."""
    found = {}
    for reading, topo in node.own(RdmaTopo):
        for check in topo.failures:
            # Bits 6 to 0 are DT EC UF CR RR TB SV.
            redirects = len(check.actual) == len(check.wanted) == 7 and any(
                check.actual[place] == "1" and check.wanted[place] == "0" for place in (3, 4)
            )
            if check.subject == "acs" and redirects:
                found.update({busid: reading.cite(check.line) for busid in check.busids})
    return found


def _redirect_effect(node: NodeEvidence, pairs: list[tuple[str, str]]) -> tuple[str, float]:
    text = _(
        "Traffic between GPU and NIC goes up to the root complex and back: slow, hangs, or status 4 with "
        "vendor err 81."
    )
    for gpu_id, nic_id in pairs:
        gpu, nic = node.joined.gpu(busid=gpu_id), node.joined.nic(nic_id)
        found = node.joined.path(gpu, nic) if gpu and nic else None
        if found is None or gpu is None or nic is None:
            continue
        _reading, machine, path = found
        straight, bent = pair_rate(machine, path.gpu, path.nic), redirected_rate(machine, path)
        if straight and bent and bent < straight:
            numbers = _(
                "By the model {pair} falls from about {straight} to {bent} each way where it sends and"
                " receives at once, as a ring does."
            ).format(pair=f"{gpu.label}-{nic.label}", straight=format_rate(straight), bent=format_rate(bent))
            return f"{text} {numbers}", straight - bent
    return text, 0.0


def _acs_untold(node: NodeEvidence) -> Iterator[Answer]:
    for _reading, listing in listings(node):
        blind = listing.denied or not any(function.acs for function in listing.functions)
        bridges = [function for function in listing.functions if function.is_bridge]
        if (bridges and blind) or (listing.loose_acs and any(a.redirects for a in listing.loose_acs)):
            yield Untold(
                "acs-on-path",
                _("The listing does not show ACS port by port (that needs root, and lspci without grep)."),
                "sudo lspci -vvv > lspci-vvv.txt",
                node.name,
            )


@rule("link-degraded", number="R19")
def degraded(case: CaseEvidence) -> Iterator[Answer]:
    """Find: a link on the way of a GPU or NIC is trained below what both its ends can."""
    for node in case.nodes:
        found: dict[str, tuple[str, Evidence, float]] = {}
        for tree in trees(node):
            for busid in _on_the_way(node, tree):
                told = _below_both(tree, busid)
                if told is not None:
                    found[busid] = told
        for reading, query in node.own(SmiQuery):
            for gpu in query.gpus:
                link = gpu.link
                narrow = link.width is not None and link.max_width is not None and link.width < link.max_width
                if narrow and gpu.busid not in found:
                    text = f"{gpu.busid}: x{link.width}, x{link.max_width} possible"
                    found[gpu.busid] = (text, reading.cite(gpu.link_line or gpu.line, text), 0.0)
        if not found and not list(listings(node)):
            found = _of_kernel_log(node)
        if not found:
            continue
        texts = [text for text, _e, _c in found.values()]
        yield finding(
            "link-degraded",
            _("{node}: PCIe link trained below what both ends can: {links}").format(
                node=node.name, links="; ".join(texts)
            ),
            *(evidence for _t, evidence, _c in found.values()),
            node=node.name,
            effect=_("Everything that passes the link is held to it: {links}.").format(
                links="; ".join(texts)
            ),
            check=_(
                "sudo lspci -vvv -s DEVICE | grep -e LnkCap -e LnkSta, under load (idle GPUs lower their "
                "speed)"
            ),
            fix=_(
                "reseat the card, try another slot or riser, look at the slot's setting in the BIOS (speed, "
                "bifurcation)"
            ),
            cost_bytes_per_s=max(cost for _t, _e, cost in found.values()),
        )


def _on_the_way(node: NodeEvidence, tree: PciTree) -> list[str]:
    """Return the functions whose uplink a GPU's or a used NIC's traffic passes."""
    used = bus_ids_in_use(node)
    found: dict[str, None] = {}
    ends = [f.busid for f in gpu_functions(tree.reading)]
    ends += [f.busid for f in rdma_functions(node, tree.reading) if used is None or f.busid in used]
    for end in ends:
        for busid in tree.chain(end):
            function = tree.functions.get(busid)
            if (
                function is not None
                and "Downstream" not in function.port_type
                and "Root" not in function.port_type
            ):
                found[busid] = None
    return list(found)


def _below_both(tree: PciTree, busid: str) -> tuple[str, Evidence, float] | None:
    function = tree.functions[busid]
    upper = tree.functions.get(tree.above.get(busid, ""))
    link = function.link.link
    if upper is None or function.link.line is None or upper.link.cap_line is None:
        return None
    gen = _least(link.max_gen, upper.link.link.max_gen)
    width = _least(link.max_width, upper.link.link.max_width)
    slow = gen is not None and link.gen is not None and link.gen < gen
    narrow = width is not None and link.width is not None and link.width < width
    idle = _is_gpu(tree, function) and link.gen == _IDLE_GEN and not narrow
    if not (slow or narrow) or idle:
        return None
    possible = PcieLink(gen, width)
    cost = (possible.bandwidth_bytes_per_s or 0.0) - (link.bandwidth_bytes_per_s or 0.0)
    now = f"{format_rate(link.bandwidth_bytes_per_s)}" if link.bandwidth_bytes_per_s else "?"
    text = _("{busid} at {link} ({now}) of {possible}").format(
        busid=busid.removeprefix("0000:"), link=link, now=now, possible=possible
    )
    cited = tree.reading.cite(function.link.line)
    return text, Evidence(cited.file, cited.line, f"{busid}: {cited.text}"), cost


def _is_gpu(tree: PciTree, function: PciFunction) -> bool:
    return function in list(gpu_functions(tree.reading))


def _least(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else min(one, other)


_LIMITED_AT = re.compile(
    r"(?P<busid>(?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]):? .*limited by "
    r"(?P<now>[\d.]+) GT/s(?: PCIe)? x(?P<w>\d+)"
    r".*capable of .* with (?P<most>[\d.]+) GT/s(?: PCIe)? x(?P<mw>\d+)",
    re.IGNORECASE,
)


def _of_kernel_log(node: NodeEvidence) -> dict[str, tuple[str, Evidence, float]]:
    """Return devices of which the kernel says that their link carries less than they can.

    It does not say whether the slot can more: only where no listing tells better, and for narrow links.
    """
    used = bus_ids_in_use(node)
    known = {gpu.busid for gpu in node.joined.gpus if gpu.busid}
    known |= {nic.busid for nic in node.joined.nics if nic.busid and (used is None or nic.busid in used)}
    if used is None:
        known |= bus_ids_of_drivers(node)
    found = {}
    for cited in grep(node, LIMITED):
        match = _LIMITED_AT.search(cited.text)
        if not match:
            continue
        busid = match["busid"].lower() if match["busid"].count(":") == 2 else "0000:" + match["busid"].lower()
        if busid in known:
            text = f"{busid}: {match['now']} GT/s x{match['w']} of {match['most']} GT/s x{match['mw']}"
            found[busid] = (text, cited, 0.0)
    return found
