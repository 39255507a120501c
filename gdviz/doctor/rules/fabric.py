"""The fabric: GIDs, MTUs, losses (R25)."""

from __future__ import annotations

from collections.abc import Iterator

from gdviz.doctor.evidence.fabric import PortFacts, counters, hca_list
from gdviz.doctor.evidence.known import Known, evidence_of, value_of
from gdviz.doctor.evidence.node import CaseEvidence, NodeEvidence
from gdviz.doctor.evidence.patterns import COMPLETION, GIDS, MODIFY_QP
from gdviz.doctor.evidence.results import runs
from gdviz.doctor.findings import Severity, Untold, finding
from gdviz.doctor.rules.base import Answer, rule
from gdviz.doctor.versions import NcclVersion
from gdviz.messages import _
from gdviz.readers import Evidence
from gdviz.readers.fabric import GidRow

#: Completion status of a queue pair whose retries were used up.
RETRY_EXCEEDED = 12

#: The first release of NCCL that chooses the GID index itself.
CHOOSES_GID = NcclVersion(2, 21)

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


def link_local(gid: str) -> bool:
    """Return whether no router forwards a GID (fe80::/10)."""
    return gid.strip().lower().startswith(("fe8", "fe9", "fea", "feb"))


def timeouts(node: NodeEvidence) -> list[Evidence]:
    """Return the lines in which a connection timed out: error 12, vendor err 129, modify_qp."""
    found = []
    for warning in node.log.warnings:
        match = COMPLETION.search(warning.text)
        status = warning.status if warning.status is not None else int(match[1]) if match else None
        if status == RETRY_EXCEEDED or MODIFY_QP.search(warning.text):
            found.append(warning.evidence)
    return found


def index_in_use(node: NodeEvidence, device: str) -> Known[int] | None:
    """Return the GID index that a device uses by setting; None where nothing sets it."""
    for name in ("NCCL_IB_GID_INDEX", "UCX_IB_GID_INDEX"):
        known = node.env(name)
        if known is not None and known.value.strip().isdecimal():
            return Known(int(known.value), known.evidence)
    for run in runs(node):
        text = run.table.setup.get("gid_index", "")
        if run.device == device and str(text).strip().isdecimal():
            return Known(int(str(text)), (run.heading,))
    version = value_of(node.log.version)
    if version is not None and version < CHOOSES_GID and timeouts(node):
        return Known(0, evidence_of(node.log.version))
    return None


@rule("gid-index-wrong", number="R25")
def gid_index(case: CaseEvidence) -> Iterator[Answer]:
    """Find: the GID index in use is link-local, RoCE v1 or absent."""
    symptoms = list(dict.fromkeys(e for node in case.nodes for e in timeouts(node)))
    found_any = False
    for node in case.nodes:
        for port in _roce_ports(node):
            index = index_in_use(node, port.device)
            if index is None or not port.gids:
                continue
            row = next(((row, e) for row, e in port.gids if row.index == index.value), None)
            wrong = _wrong(row[0] if row else None, port)
            if not wrong:
                continue
            found_any = True
            good = _good_rows(port)
            better = _better(good, node)
            yield finding(
                "gid-index-wrong",
                _("{node}: GID index {index} of {port} is {wrong}").format(
                    node=node.name, index=index.value, port=port.name, wrong=wrong
                ),
                *((row[1],) if row else (_whole_table(port),)),
                *index.evidence,
                *(evidence for _row, evidence in good[:1]),
                *symptoms[:2],
                node=node.name,
                effect=_(
                    "The other end's packets do not come back: retries exceeded (error 12, vendor err 129) "
                    "or modify_qp timed out."
                ),
                check=_(
                    "show_gids on each node: the row of the index in use has to be RoCE v2 with the routed "
                    "address"
                ),
                fix=better,
                severity=Severity.ERROR if symptoms else Severity.WARNING,
            )
    if found_any:
        return
    for node in case.nodes:
        lines = _mixed_gids(node)
        if lines:
            yield finding(
                "gid-index-wrong",
                _("{node}: one end uses a link-local GID, the other a routed one").format(node=node.name),
                *lines[:3],
                node=node.name,
                effect=_("The two ends do not reach each other: retries exceeded (error 12)."),
                check=_("show_gids on both nodes"),
                fix=_("NCCL_IB_GID_INDEX of each node to its RoCE v2 row with the routed address"),
            )
        elif timeouts(node) and not any(port.gids for port in node.ports):
            yield Untold(
                "gid-index-wrong",
                _("A connection timed out; no GID table is among the files."),
                _("show_gids; ibv_devinfo -v, on both nodes"),
                node.name,
            )


def _roce_ports(node: NodeEvidence) -> Iterator[PortFacts]:
    listed = hca_list(node)
    for port in node.ports:
        roce = port.layer.lower() == "ethernet" or any(row.version for row, _e in port.gids)
        if roce and (listed is None or listed[0].allows(port.device, port.port)):
            used = {nic.name for nic in node.log.nics.values()}
            named = port.device in used or (
                listed is not None and listed[0].spells_out(port.device, port.port)
            )
            if named or (not used and (_good_rows(port) or len(node.ports) == 1)):
                yield port


def _wrong(row: GidRow | None, port: PortFacts) -> str:
    if row is None:
        return _("not in its table")
    if link_local(row.gid):
        return _("link-local")
    if row.version == "v1" and any(other.version == "v2" for other, _e in port.gids):
        return "RoCE v1"
    if not row.gid.strip("0:"):
        return _("empty")
    return ""


def _whole_table(port: PortFacts) -> Evidence:
    first = port.gids[0][1]
    return Evidence(first.file, first.line, _("{n} rows, none of that index").format(n=len(port.gids)))


def _good_rows(port: PortFacts) -> list[tuple[GidRow, Evidence]]:
    """Return rows of RoCE v2 with a routed address, those with IPv4 first."""
    good = [(r, e) for r, e in port.gids if r.version == "v2" and not link_local(r.gid) and r.gid.strip("0:")]
    return sorted(good, key=lambda pair: not (pair[0].ipv4 or ":ffff:" in pair[0].gid.lower()))


def _better(good: list[tuple[GidRow, Evidence]], node: NodeEvidence) -> str:
    if not good:
        return _("give the interface a routed address; its RoCE v2 row is then the index to use")
    row = good[0][0]
    return _(
        "index {index} on {node} (RoCE v2, {address}): NCCL_IB_GID_INDEX={index} there; the index is each "
        "node's and"
        " device's own (NCCL 2.21 and newer choose it where the variable is not set)"
    ).format(index=row.index, node=node.name, address=row.ipv4 or row.gid)


def _mixed_gids(node: NodeEvidence) -> list[Evidence]:
    found = []
    for warning in node.log.warnings:
        match = GIDS.search(warning.text)
        if match and link_local(match[1]) is not link_local(match[2]):
            found.append(warning.evidence)
    return found


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
