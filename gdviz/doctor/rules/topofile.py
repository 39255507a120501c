"""Topology files: slow bridges, unreadable speeds, wrong masks, uneven counts, strange names."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from gdviz.doctor.evidence.grep import grep_readings
from gdviz.doctor.evidence.node import CaseEvidence, NodeEvidence
from gdviz.doctor.evidence.patterns import NO_SPEED
from gdviz.doctor.evidence.topo_xml import (
    Mask,
    Node,
    devices_below,
    documents,
    is_bridge,
    knows_speed,
    masks,
    nccl_gb_per_s,
    unknown_names,
    walk,
)
from gdviz.doctor.findings import finding
from gdviz.doctor.rules.base import Answer, rule
from gdviz.doctor.words import sentences
from gdviz.machine import PeerKind, normal_bus_id
from gdviz.messages import _
from gdviz.readers import Evidence
from gdviz.readers.host import HostNotes
from gdviz.readers.nvidia_smi import NvLinkStatus, TopoMatrix

#: A bridge is too slow if it has less than this share of the fastest device below it.
_SHARE = 0.25


@rule("virtual-bridge-bottleneck")
def slow_bridges(case: CaseEvidence) -> Iterator[Answer]:
    """Find: a bridge of a topology file announces a slow link above fast devices."""
    for node in case.nodes:
        found = []
        for reading, root in documents(node):
            for each in walk(reading, root):
                element = each.element
                if element.tag != "pci" or not is_bridge(element):
                    continue
                below = max((nccl_gb_per_s(device) for device in devices_below(element)), default=0.0)
                own = nccl_gb_per_s(element)
                if own < _SHARE * below and _is_made_up(each):
                    text = _(
                        "{busid}: {speed} x{width}, which NCCL counts as {own:.2f} GB/s above {below:.0f} "
                        "GB/s"
                    ).format(
                        busid=each.get("busid"),
                        speed=each.get("link_speed"),
                        width=each.get("link_width"),
                        own=own,
                        below=below,
                    )
                    found.append((text, each.evidence, (below - own) * 1e9))
        found = found or _slow_in_graph(node)
        if found:
            yield finding(
                "virtual-bridge-bottleneck",
                _("{node}: bridges of the topology file announce a slow link above fast devices").format(
                    node=node.name
                ),
                *(evidence for _t, evidence, _c in found[:6]),
                node=node.name,
                effect="; ".join(text for text, _e, _c in found[:6])
                + ". "
                + _("NCCL believes it: it builds fewer channels, and other paths, than the hardware has."),
                check=_(
                    "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=GRAPH: the lines '+ PCI[...]' above GPUs and NICs"
                ),
                fix=_(
                    "correct link_speed and link_width of these bridges in the topology file (those of the "
                    "real switch)"
                ),
                cost_bytes_per_s=max(cost for _t, _e, cost in found),
            )


_GRAPH = re.compile(
    r"NCCL INFO (?P<indent> *)\+ PCI\[(?P<rate>\d{1,4}\.\d)\] - (?P<what>PCI|GPU|NIC)/(?P<busid>\S{1,24})"
)


def _slow_in_graph(node: NodeEvidence) -> list[tuple[str, Evidence, float]]:
    """Return bridges that NCCL's log of its graph counts far slower than what hangs below them."""
    found: dict[str, tuple[str, Evidence, float]] = {}
    for reading in node.log.readings:
        above: list[tuple[int, float, str, int]] = []
        for number, line in enumerate(reading.lines, 1):
            match = _GRAPH.search(line) if "+ PCI[" in line else None
            if match is None:
                continue
            depth, rate = len(match["indent"]), float(match["rate"])
            above = [each for each in above if each[0] < depth]
            if match["what"] == "PCI":
                above.append((depth, rate, match["busid"], number))
            for _depth, own, busid, place in above:
                if own < 1.0 and own < _SHARE * rate and busid not in found:
                    text = _("{busid}: NCCL counts {own:.1f} GB/s above {below:.0f} GB/s").format(
                        busid=busid, own=own, below=rate
                    )
                    found[busid] = (text, reading.cite(place), (rate - own) * 1e9)
    return list(found.values())


def _is_made_up(bridge: Node) -> bool:
    """Return whether a bridge is a hypervisor's or a file author's: no real switch trains so.

    Real switches in some dumps show an uplink at a lower speed and full width.
    """
    busid = normal_bus_id(bridge.get("busid")) or ""
    few_lanes = bridge.get("link_width").strip() in ("1", "2", "4")
    slowest = bridge.get("link_speed").startswith("2.5 ")
    return busid.startswith("ffff") or few_lanes or slowest


@rule("link-speed-unknown")
def unknown_speed(case: CaseEvidence) -> Iterator[Answer]:
    """Find: NCCL cannot read a PCIe speed and takes Gen3."""
    for node in case.nodes:
        lines: list[Evidence] = []
        for reading, root in documents(node):
            for each in walk(reading, root):
                element = each.element
                if element.tag != "pci" or "link_speed" not in element.attributes:
                    continue
                leads = any(child.tag in ("gpu", "nic") for child in element.children) or devices_below(
                    element
                )
                strange = not knows_speed(each.get("link_speed")) or each.get("link_width").strip() == "0"
                if leads and strange:
                    lines.append(each.evidence)
        logged = grep_readings(node.log.readings, NO_SPEED) if node.log.present else ()
        if not lines and not logged:
            continue
        yield finding(
            "link-speed-unknown",
            _("{node}: NCCL cannot read PCIe speeds and counts Gen3").format(node=node.name),
            *lines[:5],
            *logged[:5],
            node=node.name,
            effect=_(
                "An unknown speed counts as Gen3 (12 GB/s for 16 lanes), a width of 0 as 16 lanes: wrong "
                "channels and wrong choices."
            ),
            check=_("cat /sys/bus/pci/devices/*/max_link_speed (virtual bridges give none)"),
            fix=_("a topology file with speeds and widths (NCCL_TOPO_FILE)"),
        )


@rule("unknown-element")
def strange_names(case: CaseEvidence) -> Iterator[Answer]:
    """Find: elements or attributes that NCCL does not know."""
    for node in case.nodes:
        for reading, root in documents(node):
            found = unknown_names(reading, root)
            if not found:
                continue
            names = list(dict.fromkeys(name for name, _e in found))
            yield finding(
                "unknown-element",
                _("{file}: NCCL does not know {names}").format(
                    file=reading.source or node.name, names=", ".join(names[:12])
                ),
                *dict.fromkeys(evidence for _n, evidence in found[:12]),
                node=node.name,
                effect=_("NCCL refuses or ignores what it does not know: {names}. The rest was read.").format(
                    names=", ".join(names[:12])
                ),
                check=_("NCCL_DEBUG=INFO: 'XML Import Error'"),
                fix=_("take a dump of the real machine with NCCL_TOPO_DUMP_FILE and start from that"),
            )


@rule("nvlink-asymmetric")
def uneven_links(case: CaseEvidence) -> Iterator[Answer]:
    """Find: NVLink counts differ by direction."""
    for node in case.nodes:
        found: list[str] = []
        lines: list[Evidence] = []
        for reading, machine in node.machines:
            counts: dict[tuple[str, str], int] = defaultdict(int)
            for link in machine.nvlinks:
                if link.kind is PeerKind.GPU:
                    counts[link.gpu, link.target] += link.count
            ids = {gpu.id for gpu in machine.gpus}
            for (left, right), count in counts.items():
                back = counts.get((right, left), 0)
                one_way = back == 0 and (
                    right not in ids or reading.truncated or not reading.kind.startswith("nccl_topo")
                )
                if count != back and not one_way and (left < right or (right, left) not in counts):
                    found.append(_("{a} to {b}: {n}, back: {m}").format(a=left, b=right, n=count, m=back))
                    lines += _lines_with(reading.lines, reading.cite, left, right)
        for reading, matrix in node.own(TopoMatrix):
            for text, number in _uneven_cells(matrix):
                found.append(text)
                lines.append(reading.cite(number))
        for reading, status in node.own(NvLinkStatus):
            for text, number in _links_down(status):
                found.append(text)
                lines.append(reading.cite(number))
        if found:
            yield finding(
                "nvlink-asymmetric",
                _("{node}: NVLink counts differ by direction: {links}").format(
                    node=node.name, links="; ".join(found[:6])
                ),
                *dict.fromkeys(lines[:8]),
                node=node.name,
                effect=_(
                    "Links join two ends: counts that differ cannot be. NCCL builds rings for the larger one."
                ),
                check=_("nvidia-smi nvlink --status; nvidia-smi topo -m"),
                fix=_("a fresh dump if the file was edited; a reset or repair of the GPU if a link is down"),
            )


def _lines_with(lines: tuple[str, ...], cite, left: str, right: str) -> list[Evidence]:  # type: ignore[no-untyped-def]
    wanted = re.compile(rf"<nvlink\b[^>]*(?:{re.escape(left)}|{re.escape(right)})", re.IGNORECASE)
    return [cite(number) for number, line in enumerate(lines, 1) if wanted.search(line)][:4]


def _links_down(status: NvLinkStatus) -> Iterator[tuple[str, int]]:
    """Go through GPUs of which some links are down while all of another GPU's of the kind are up."""
    whole = {gpu.name for gpu in status.gpus if gpu.links and all(link.active for link in gpu.links)}
    for gpu in status.gpus:
        down = [link for link in gpu.links if not link.active]
        if down and len(down) < len(gpu.links) and gpu.name in whole:
            text = _("GPU{n}: {down} of {all} links down").format(
                n=gpu.index, down=len(down), all=len(gpu.links)
            )
            yield text, down[0].line


def _uneven_cells(matrix: TopoMatrix) -> Iterator[tuple[str, int]]:
    rows = {row.name: row for row in matrix.rows}
    for row in matrix.rows:
        for column, cell in zip(matrix.columns, row.cells, strict=False):
            other = rows.get(column)
            if other is None or column <= row.name or row.name not in matrix.columns:
                continue
            place = matrix.columns.index(row.name)
            back = other.cells[place] if place < len(other.cells) else ""
            nvlink = cell.startswith("NV") or back.startswith("NV")
            if nvlink and cell and back and cell != back:
                yield f"{row.name} to {column}: {cell}, back: {back}", row.line


@rule("numa-affinity-wrong")
def affinities(case: CaseEvidence) -> Iterator[Answer]:
    """Find: CPU masks of a topology file contradict each other or the machine."""
    for node in case.nodes:
        real = _real_cpus(node)
        for reading, root in documents(node):
            if reading.truncated:
                continue
            found = [*_spelling(masks(reading, root)), *_clashes(masks(reading, root))]
            if not found:
                found = _against(masks(reading, root), real)
            if not found:
                continue
            yield finding(
                "numa-affinity-wrong",
                _("{node}: CPU masks of the topology file are wrong: {what}").format(
                    node=node.name, what=found[0][0]
                ),
                *dict.fromkeys(e for _t, lines in found[:4] for e in lines),
                *(evidence for _cpus, evidence in list(real.values())[:2]),
                node=node.name,
                effect=sentences(
                    (
                        "; ".join(text for text, _l in found[:4]) + ".",
                        _("NCCL binds its threads by these masks: they then run on the wrong socket."),
                    )
                ),
                check=_("lscpu | grep NUMA; cat /sys/devices/system/node/node*/cpumap"),
                fix=_(
                    "correct affinity of each <cpu> to the machine's own masks (comma-separated words of "
                    "eight digits)"
                ),
            )


def _spelling(found: list[Mask]) -> list[tuple[str, list[Evidence]]]:
    wrong = [
        (
            _("numaid {numa}: {mask} ({what})").format(
                numa=mask.numa, mask=mask.text[:80], what=mask.spelling
            ),
            [mask.evidence],
        )
        for mask in found
        if mask.spelling
    ]
    for one in found:
        for other in found:
            same_host = one.host == other.host
            if one is not other and same_host and one.digits < other.digits and "," in one.text + other.text:
                text = _("masks of {a} and {b} digits").format(a=one.digits, b=other.digits)
                return [*wrong, (text, [one.evidence, other.evidence])]
    return wrong


def _clashes(found: list[Mask]) -> list[tuple[str, list[Evidence]]]:
    clashes = []
    for place, one in enumerate(found):
        for other in found[place + 1 :]:
            shared = one.cpus & other.cpus
            if one.host == other.host and one.numa != other.numa and shared:
                same = one.cpus == other.cpus
                text = (
                    _("numaid {a} and {b} have the same mask")
                    if same
                    else _("the masks of numaid {a} and {b} overlap")
                )
                clashes.append((text.format(a=one.numa, b=other.numa), [one.evidence, other.evidence]))
    return clashes


def _against(
    found: list[Mask], real: dict[int, tuple[frozenset[int], Evidence]]
) -> list[tuple[str, list[Evidence]]]:
    """Return masks that are another NUMA node's on the machine."""
    wrong = []
    for mask in found:
        if mask.numa is None or mask.numa not in real or not mask.cpus:
            continue
        cpus = real[mask.numa][0]
        if not mask.cpus & cpus:
            owner = next((numa for numa, (theirs, _e) in real.items() if mask.cpus & theirs), None)
            if owner is not None:
                text = _("numaid {numa} has the CPUs of node {owner}").format(numa=mask.numa, owner=owner)
                wrong.append((text, [mask.evidence]))
    return wrong


def _real_cpus(node: NodeEvidence) -> dict[int, tuple[frozenset[int], Evidence]]:
    """Return the CPUs of each NUMA node as lscpu or the matrix has them."""
    found: dict[int, tuple[frozenset[int], Evidence]] = {}
    for reading, notes in node.facts(HostNotes):
        for statement in notes.of("numa-cpus"):
            if statement.subject.isdecimal():
                found[int(statement.subject)] = (_ranges(statement.value), reading.cite(statement.line))
    for reading, matrix in node.own(TopoMatrix):
        for row in matrix.rows:
            if row.numa_affinity.isdecimal() and row.cpu_affinity and row.cpu_affinity[0].isdecimal():
                found.setdefault(int(row.numa_affinity), (_ranges(row.cpu_affinity), reading.cite(row.line)))
    return found


def _ranges(text: str) -> frozenset[int]:
    cpus: set[int] = set()
    for part in text.split(","):
        first, _dash, last = part.strip().partition("-")
        if first.isdecimal() and (not last or last.isdecimal()) and len(first + last) < 12:
            cpus.update(range(int(first), min(int(last or first), 100_000) + 1))
    return frozenset(cpus)
