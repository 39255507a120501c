"""GIDs of RoCE ports: which index is in use, and whether it is a routed one of version 2 (R25)."""

from __future__ import annotations

from collections.abc import Iterator

from gdviz.doctor.evidence.fabric import PortFacts, hca_list
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
    found = [each for node in case.nodes for each in _wrong_ports(node)]
    for node, wrong, index, ports in found:
        good = _good_rows(ports[0])
        yield finding(
            "gid-index-wrong",
            _("{node}: GID index {index} of {ports} is {wrong}").format(
                node=node.name, index=index.value, ports=", ".join(port.name for port in ports), wrong=wrong
            ),
            *(_row_evidence(port, index.value) for port in ports[:4]),
            *index.evidence,
            *(evidence for _row, evidence in good[:1]),
            *symptoms[:2],
            node=node.name,
            effect=_(
                "The other end's packets do not come back: retries exceeded (error 12, vendor err 129) or "
                "modify_qp timed out."
            ),
            check=_(
                "show_gids on each node: the row of the index in use has to be RoCE v2 with the routed "
                "address"
            ),
            fix=_better(good, node),
            severity=Severity.ERROR if symptoms else Severity.WARNING,
        )
    if found:
        return
    for node in case.nodes:
        lines = _link_local_gids(node)
        if lines:
            yield finding(
                "gid-index-wrong",
                _("{node}: a connection over link-local GIDs came to nothing").format(node=node.name),
                *lines[:3],
                node=node.name,
                effect=_(
                    "No router forwards a link-local GID (fe80::): the two ends do not reach each other, "
                    "retries exceeded (error 12)."
                ),
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


def _wrong_ports(node: NodeEvidence) -> list[tuple[NodeEvidence, str, Known[int], list[PortFacts]]]:
    """Return ports whose index is wrong, those of one kind and one remedy together."""
    groups: dict[tuple[int, str, int | None], tuple[Known[int], list[PortFacts]]] = {}
    for port in _roce_ports(node):
        index = index_in_use(node, port.device)
        if index is None or not port.gids:
            continue
        row = next((row for row, _e in port.gids if row.index == index.value), None)
        good = _good_rows(port)
        if wrong := _wrong(row, port):
            key = (index.value, wrong, good[0][0].index if good else None)
            groups.setdefault(key, (index, []))[1].append(port)
    return [(node, wrong, index, ports) for (_i, wrong, _g), (index, ports) in groups.items()]


def _row_evidence(port: PortFacts, index: int) -> Evidence:
    """Return the row of an index, or the table that lacks it."""
    for row, evidence in port.gids:
        if row.index == index:
            return evidence
    first = port.gids[0][1]
    return Evidence(first.file, first.line, _("{n} rows, none of that index").format(n=len(port.gids)))


def _roce_ports(node: NodeEvidence) -> Iterator[PortFacts]:
    listed = hca_list(node)
    for port in node.ports:
        told = [nic.layer for nic in node.log.nics.values() if nic.name == port.device]
        layers = {layer.lower() for layer in (port.layer, *told)}
        if layers & {"infiniband", "ib"}:
            continue  # NCCL does not look at the index there
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


def _link_local_gids(node: NodeEvidence) -> list[Evidence]:
    found = []
    for warning in node.log.warnings:
        # NCCL prints them on Ethernet alone.
        match = GIDS.search(warning.text)
        if match and (link_local(match[1]) or link_local(match[2])):
            found.append(warning.evidence)
    return found
