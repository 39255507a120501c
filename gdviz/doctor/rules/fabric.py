"""The wire: MTUs and losses (R25)."""

from __future__ import annotations

from collections.abc import Iterator

from gdviz.doctor.evidence.fabric import PortFacts, counters, hca_list
from gdviz.doctor.evidence.known import Known, value_of
from gdviz.doctor.evidence.node import CaseEvidence, NodeEvidence
from gdviz.doctor.evidence.results import runs
from gdviz.doctor.findings import finding
from gdviz.doctor.rules.base import Answer, rule
from gdviz.messages import _
from gdviz.readers.fabric import DevInfos

#: Lost packets from which a counter speaks; some are normal after a link came up.
MANY = 1000

SMALL_MTU = 1024

#: Counters of mlx5 that tell of lost RoCE packets; its counters of discards end in the priority.
LOSSES = frozenset(
    {"out_of_sequence", "packet_seq_err", "local_ack_timeout_err", "implied_nak_seq_err"}
    | {"roce_adp_retrans", "roce_adp_retrans_to"}
)


def _is_loss(name: str) -> bool:
    return name in LOSSES or (name.startswith("rx_") and "discard" in name)


@rule("mtu-mismatch", number="R25")
def mtu_mismatch(case: CaseEvidence) -> Iterator[Answer]:
    """Find: the two ends have different active MTUs."""
    by_device: dict[str, list[tuple[str, Known[int]]]] = {}
    uniform: list[tuple[str, Known[int]]] = []
    for node in case.nodes:
        mtus = [(p.device, p.active_mtu_bytes) for p in _used_ports(node) if p.active_mtu_bytes is not None]
        for device, known in mtus:
            if known is not None:
                by_device.setdefault(device, []).append((node.name, known))
        values = {known.value for _d, known in mtus if known is not None}
        first = next((known for _d, known in mtus if known is not None), None)
        if len(values) == 1 and first is not None:
            uniform.append((node.name, first))
    rows = next((rows for rows in by_device.values() if len({known.value for _n, known in rows}) > 1), None)
    if rows is None and len({known.value for _n, known in uniform}) > 1:
        rows = uniform
    if rows is None:
        rows = next((found for node in case.nodes if (found := _of_two_hosts(node))), None)
    if rows is None:
        return
    told = ", ".join(f"{name}: {known.value}" for name, known in _one_of_each(rows))
    yield finding(
        "mtu-mismatch",
        _("The active MTU differs between nodes: {told}").format(told=told),
        *dict.fromkeys(known.evidence[-1] for _n, known in _one_of_each(rows)),
        effect=_("Connections fail, or packets larger than the smaller MTU are dropped: {told}.").format(
            told=told
        ),
        check=_("ibv_devinfo | grep active_mtu on every node; ip link: netdev MTU"),
        fix=_(
            "the same MTU at both ends and on the switches between them: a netdev MTU of 4200 or more gives "
            "an active one of 4096"
        ),
    )


def _of_two_hosts(node: NodeEvidence) -> list[tuple[str, Known[int]]]:
    """Return active MTUs of one device that has several GUIDs: its files are of several hosts."""
    found: dict[tuple[str, int], dict[str, tuple[str, Known[int]]]] = {}
    for reading, infos in node.own(DevInfos):
        for device in infos.devices:
            for port in device.ports:
                if device.node_guid and port.active_mtu_bytes and "DOWN" not in port.state.upper():
                    lines = (reading.cite(device.line), reading.cite(port.mtu_line or port.line))
                    known = Known(port.active_mtu_bytes, lines)
                    by_guid = found.setdefault((device.name, port.number), {})
                    by_guid.setdefault(device.node_guid, (reading.source, known))
    for by_guid in found.values():
        rows = list(by_guid.values())
        if len({known.value for _s, known in rows}) > 1:
            return rows
    return []


def _one_of_each(rows: list[tuple[str, Known[int]]]) -> list[tuple[str, Known[int]]]:
    seen: dict[int, tuple[str, Known[int]]] = {}
    for name, known in rows:
        seen.setdefault(known.value, (name, known))
    return list(seen.values())


def _used_ports(node: NodeEvidence) -> Iterator[PortFacts]:
    listed = hca_list(node)
    used = {nic.name for nic in node.log.nics.values()}
    for port in node.ports:
        allowed = listed is None or listed[0].allows(port.device, port.port)
        if allowed and (not used or port.device in used) and value_of(port.up) is not False:
            yield port


@rule("mtu-small", number="R25")
def mtu_small(case: CaseEvidence) -> Iterator[Answer]:
    """Find: the active MTU is small."""
    for node in case.nodes:
        small = [p for p in _used_ports(node) if p.active_mtu_bytes and p.active_mtu_bytes.value <= SMALL_MTU]
        small = [p for p in small if p.layer.lower() != "infiniband"]
        lines = [p.active_mtu_bytes.evidence[-1] for p in small if p.active_mtu_bytes]
        names = ", ".join(f"{p.device} ({p.active_mtu_bytes.value})" for p in small if p.active_mtu_bytes)
        for run in runs(node):
            mtu = str(run.table.setup.get("mtu", "")).strip().removesuffix("[B]")
            if mtu.isdecimal() and int(mtu) <= SMALL_MTU and not lines:
                lines.append(run.heading)
                names = f"{run.device} ({mtu})"
        if lines:
            netdevs = [
                e for s, e in node.statements("netdev-mtu") if s.value.isdecimal() and int(s.value) <= 1500
            ]
            yield finding(
                "mtu-small",
                _("{node}: the active MTU is small: {names}").format(node=node.name, names=names),
                *dict.fromkeys((*lines[:4], *netdevs[:2])),
                node=node.name,
                effect=_(
                    "More packets for the same data; the message rate of switches and NICs limits earlier. "
                    "1500 on the network interface gives 1024."
                ),
                check=_("ibv_devinfo | grep -e active_mtu; ip link"),
                fix=_("a netdev MTU of 4200 or more on hosts and switches gives an active MTU of 4096"),
            )


@rule("lossy-fabric", number="R25")
def losses(case: CaseEvidence) -> Iterator[Answer]:
    """Find: RoCE packets are lost."""
    for node in case.nodes:
        layers = {port.device: port.layer.lower() for port in node.ports}
        found = [
            (counter, evidence)
            for counter, evidence in counters(node, _is_loss)
            if counter.value >= MANY and layers.get(counter.device) != "infiniband"
        ]
        if not found:
            continue
        told = ", ".join(f"{c.device} {c.name} {c.value}".strip() for c, _e in found[:6])
        yield finding(
            "lossy-fabric",
            _("{node}: packets are lost: {told}").format(node=node.name, told=told),
            *(evidence for _c, evidence in found[:6]),
            node=node.name,
            effect=_(
                "RoCE repeats from the lost packet on: bandwidth falls to a fraction, or the connection "
                "breaks (error 12)."
            ),
            check=_(
                "grep . /sys/class/infiniband/*/ports/*/hw_counters/* twice: they must not grow during a run"
            ),
            fix=_(
                "lossless classes: PFC (or ECN with DCQCN) on NIC and switch for the traffic class in use "
                "(NCCL_IB_TC)"
            ),
        )
