"""A case's readings to evidence node by node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from gdviz.doctor.evidence.log import hosts_of
from gdviz.doctor.evidence.node import CaseEvidence, NodeEvidence
from gdviz.doctor.evidence.plain import plain_reading
from gdviz.readers import Reading
from gdviz.readers.case import Case, CaseNode
from gdviz.readers.host import Kernel, Limits

#: Name of a node that no file names.
NAMELESS = "node"


def gather(case: Case, assumed: Mapping[str, Any] | None = None) -> CaseEvidence:
    """Return the evidence of a case.

    A job's files lie beside the hosts' folders: what their logs say is given to each host by its name.
    Where all files lie in one folder, each host that a log names becomes a node, and the files beside the
    log count for all of them unless they say for whom they hold.

    Parameters
    ----------
    assumed
        What to assume instead of what the files say, see `gdviz.doctor.what_if`.
    """
    wanted = dict(assumed or {})
    plain = tuple(reading for unread in case.unreadable if (reading := plain_reading(unread)) is not None)
    case = _with_plain(case, plain)
    top = tuple(r for node in case.nodes if node.name == NAMELESS for r in node.readings)
    named = [node for node in case.nodes if node.name != NAMELESS]
    if not named:
        nodes = _from_one_folder(top, wanted)
    else:
        hosts = hosts_of(r for node in case.nodes for r in node.readings)
        own = [NodeEvidence(n.name, n.readings, top, _host(n.name, n.readings, hosts), wanted) for n in named]
        nodes = tuple(own)
        if any(reading.machines for reading in top) and not any(n.machines for n in nodes):
            nodes = tuple(NodeEvidence(n.name, (*n.readings, *top), (), n.host, wanted) for n in own)
    unread = tuple((u.file, u.reason, str(u.why)) for u in case.unreadable)
    return CaseEvidence(nodes, case.readings, unread)


def _with_plain(case: Case, plain: tuple[Reading, ...]) -> Case:
    """Add texts of unknown format to the node in whose folder they lie, else to the top."""
    if not plain or not case.nodes:
        return case
    names = {node.name for node in case.nodes}
    placed: dict[str, list[Reading]] = {}
    for reading in plain:
        folders = [part for part in PurePath(reading.source).parts[:-1] if part in names]
        placed.setdefault(folders[-1] if folders else NAMELESS, []).append(reading)
    nodes = [CaseNode(n.name, (*n.readings, *placed.pop(n.name, ()))) for n in case.nodes]
    rest = tuple(reading for readings in placed.values() for reading in readings)
    if rest:
        nodes.append(CaseNode(NAMELESS, rest))
    return Case(tuple(nodes), case.unreadable)


def _from_one_folder(readings: tuple[Reading, ...], assumed: Mapping[str, Any]) -> tuple[NodeEvidence, ...]:
    hosts = hosts_of(readings)
    if not readings:
        return ()
    several = [(r, r.machines) for r in readings if len(r.machines) > 1 and r.kind.startswith("nccl_topo")]
    if several and not hosts:
        # One file of a multi-node NVLink domain describes all its hosts.
        others = tuple(r for r in readings if r is not several[0][0])
        return tuple(
            NodeEvidence(m.name, (replace(several[0][0], machines=(m,)), *others), (), "", assumed)
            for m in several[0][1]
        )
    if len(hosts) < 2:
        name = hosts[0] if hosts else (_own_name(readings) or NAMELESS)
        return (NodeEvidence(name, readings, (), hosts[0] if hosts else "", assumed),)
    return tuple(NodeEvidence(host, readings, (), host, assumed) for host in hosts)


def _own_name(readings: Iterable[Reading]) -> str:
    for reading in readings:
        if isinstance(reading.facts, Kernel) and reading.facts.host:
            return reading.facts.host
        if isinstance(reading.facts, Limits) and len(reading.facts.hosts) == 1:
            return reading.facts.hosts[0]
    return ""


def _host(name: str, readings: tuple[Reading, ...], hosts: tuple[str, ...]) -> str:
    """Return under which name a node appears in logs: its folder's, or that of its own log or kernel."""
    for candidate in (name, *hosts_of(readings), _own_name(readings)):
        if candidate in hosts:
            return candidate
    short = [host for host in hosts if host.split(".")[0] == name.split(".")[0]]
    return short[0] if short else name
