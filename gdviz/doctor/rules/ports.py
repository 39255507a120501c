"""Ports: down, or slower than they could be."""

from __future__ import annotations

from collections.abc import Iterator

from gdviz.doctor.evidence.fabric import PortFacts, hca_list
from gdviz.doctor.evidence.known import evidence_of, value_of
from gdviz.doctor.evidence.node import CaseEvidence, NodeEvidence
from gdviz.doctor.evidence.topo_xml import documents, walk
from gdviz.doctor.findings import finding
from gdviz.doctor.near import near_pairs
from gdviz.doctor.rules.base import Answer, rule
from gdviz.messages import _
from gdviz.quantities import format_bits
from gdviz.readers import Evidence

#: Rates of adapters that are sold with one rate (Gb/s); others come in several.
_FULL_GBIT = {"MT4123": 200, "MT4129": 400, "MT4131": 400, "MT4119": 100, "MT4115": 100}
_GBIT = 1e9 / 8


@rule("port-down")
def down(case: CaseEvidence) -> Iterator[Answer]:
    """Find: a port that should be used is down."""
    for node in case.nodes:
        found = [
            (port, why) for port in node.ports if value_of(port.up) is False and (why := _wanted(node, port))
        ]
        if not found:
            continue
        names = ", ".join(port.name for port, _why in found)
        listed = hca_list(node)
        yield finding(
            "port-down",
            _("{node}: ports that should be used are down: {names}").format(node=node.name, names=names),
            *(e for port, _why in found for e in evidence_of(port.up)),
            *(listed[1].evidence if listed else ()),
            node=node.name,
            effect=" ".join(_("{port}: {why}.").format(port=port.name, why=why) for port, why in found),
            check=_("ibstat; ibv_devinfo | grep -e hca_id -e state; rdma link"),
            fix=_(
                "cable and transceiver, switch port, ip link set dev NETDEV up; on InfiniBand the subnet "
                "manager"
            ),
        )


def _wanted(node: NodeEvidence, port: PortFacts) -> str:
    """Return why a port should be up; '' if it may well be unused."""
    listed = hca_list(node)
    if listed is not None:
        names, _known = listed
        if names.spells_out(port.device, port.port):
            return _("the job's list of devices names it")
        if not names.allows(port.device, port.port):
            return ""
    if any(run_nic.name == port.device for run_nic in node.log.nics.values()):
        return _("NCCL's log lists it")
    alike = [p for p in node.ports if p.adapter and p.adapter == port.adapter and p is not port]
    up = [p for p in alike if value_of(p.up)]
    if any(nic.name == port.device for _gpu, nic in near_pairs(node)) and up:
        return _("a GPU has it for its near NIC")
    board = [p for p in up if p.guid is not None and port.guid is not None and abs(p.guid - port.guid) <= 1]
    if len(up) >= 3 and not board and all(value_of(p.up) for p in alike):
        return _("its {n} siblings of the same kind are up").format(n=len(up))
    return ""


@rule("port-rate-low")
def slow(case: CaseEvidence) -> Iterator[Answer]:
    """Find: a port came up below its adapter's or its siblings' rate."""
    for node in case.nodes:
        found: list[tuple[str, tuple[Evidence, ...], float]] = []
        for port in _in_use(node):
            rate = value_of(port.rate_bytes_per_s)
            if rate is None or value_of(port.up) is False:
                continue
            alike = [
                other
                for p in node.ports
                if p.adapter == port.adapter
                and value_of(p.up) is not False
                and (other := value_of(p.rate_bytes_per_s))
            ]
            if not port.adapter and 2 * alike.count(max(alike)) <= len(alike):
                continue  # of unknown adapters only the odd one out speaks
            best = max(alike)
            full = _FULL_GBIT.get(port.adapter, 0) * _GBIT
            # Where several are alike below what is printed on the box, the fabric is built so.
            expected = max(best, full if len(alike) == 1 or 4 * rate <= full else 0.0)
            if rate < 0.9 * expected:
                text = _("{port} at {rate} of {full}").format(
                    port=port.name, rate=format_bits(rate), full=format_bits(expected)
                )
                found.append((text, evidence_of(port.rate_bytes_per_s), expected - rate))
        if not found:
            found = _of_topology(node) or _of_log(node)
        if not found:
            continue
        texts = ", ".join(text for text, _e, _c in found)
        yield finding(
            "port-rate-low",
            _("{node}: ports came up below their rate: {texts}").format(node=node.name, texts=texts),
            *(e for _t, lines, _c in found for e in lines),
            node=node.name,
            effect=_("A ring or a stripe over all ports goes at the pace of the slowest: {texts}.").format(
                texts=texts
            ),
            check=_("ibstat | grep -e CA -e Rate; mlxlink -d DEVICE"),
            fix=_("cable, transceiver, and the speed that the switch port is set to"),
            cost_bytes_per_s=max(cost for _t, _e, cost in found),
        )


def _in_use(node: NodeEvidence) -> list[PortFacts]:
    """Return the ports that the job may use: of the log's NICs, else of its list of devices, else all."""
    names = {name for nic in node.log.nics.values() for name in nic.name.split("+")}
    if any(port.device in names for port in node.ports):
        return [port for port in node.ports if port.device in names]
    listed = hca_list(node)
    return [p for p in node.ports if listed is None or listed[0].allows(p.device, p.port)]


def _of_log(node: NodeEvidence) -> list[tuple[str, tuple[Evidence, ...], float]]:
    """Return NICs that NCCL uses and that came up slower than at least two others."""
    known = [nic for nic in node.log.nics.values() if nic.speed_bytes_per_s and "+" not in nic.name]
    best = max((nic.speed_bytes_per_s or 0.0 for nic in known), default=0.0)
    if sum(1 for nic in known if nic.speed_bytes_per_s == best) < 2:
        return []
    return [
        (
            _("{port} at {rate} of {full}").format(
                port=nic.name, rate=format_bits(nic.speed_bytes_per_s or 0.0), full=format_bits(best)
            ),
            (nic.evidence,),
            best - (nic.speed_bytes_per_s or 0.0),
        )
        for nic in known
        if (nic.speed_bytes_per_s or 0.0) < 0.9 * best
    ]


def _of_topology(node: NodeEvidence) -> list[tuple[str, tuple[Evidence, ...], float]]:
    """Return ports of a topology file that are slower than others of the same device id."""
    found: list[tuple[str, tuple[Evidence, ...], float]] = []
    for reading, root in documents(node):
        groups: dict[tuple[str, str], list[tuple[str, float, Evidence]]] = {}
        for each in walk(reading, root):
            if each.element.tag != "pci":
                continue
            key = (each.get("device"), each.get("subsystem_device"))
            for nic in each.element.children:
                for net in nic.children:
                    speed = net.attributes.get("speed", "")
                    if net.tag == "net" and speed.isdecimal() and int(speed) > 0 and key[0]:
                        row = (net.attributes.get("name", "?"), int(speed) * 1e6 / 8, reading.cite(net.line))
                        groups.setdefault(key, []).append(row)
        for rows in groups.values():
            best = max(rate for _n, rate, _e in rows)
            for name, rate, evidence in rows:
                if rate < 0.9 * best:
                    text = _("{port} at {rate} of {full}").format(
                        port=name, rate=format_bits(rate), full=format_bits(best)
                    )
                    found.append((text, (evidence,), best - rate))
    return found
