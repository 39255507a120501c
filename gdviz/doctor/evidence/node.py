"""One node as its readings show it, and the case that it is part of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from gdviz.doctor.evidence.known import Known
from gdviz.doctor.evidence.log import LogView, log_view
from gdviz.doctor.versions import NcclVersion
from gdviz.machine import Machine
from gdviz.readers import Evidence, Reading
from gdviz.readers.host import Environment, EnvSetting, HostNotes, Statement

if TYPE_CHECKING:
    from gdviz.doctor.evidence.fabric import PortFacts
    from gdviz.doctor.evidence.machines import Joined

T = TypeVar("T")

#: NCCL as a package of Debian, RPM or Python, or as NVIDIA's images name it.
_PACKAGE = re.compile(
    r"(?:^|\s)(?:libnccl2?\s+|libnccl2?[-=]|nvidia-nccl-cu\d+(?:==|\s+)|NCCL_VERSION=)(2\.\d{1,2}(?:\.\d{1,2})?)\b"
)


@dataclass(frozen=True)
class NodeEvidence:
    """Everything known of one node.

    Attributes
    ----------
    name
        Its name: that of its folder or capture, else of the host that its files name.
    readings
        What its own files gave.
    job
        Readings of the whole job (a log of several hosts lies beside the hosts' folders).
    host
        The name under which it appears in logs; empty if no log names it.
    assumed
        What somebody asks 'what if' of: see `gdviz.doctor.what_if`.
    memo
        Answers that several rules ask for.
    """

    name: str
    readings: tuple[Reading, ...] = ()
    job: tuple[Reading, ...] = ()
    host: str = ""
    assumed: Mapping[str, Any] = field(default_factory=dict)
    memo: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    def facts(self, kind: type[T]) -> Iterator[tuple[Reading, T]]:
        """Go through the facts of a type with the reading that gave each, the node's own first."""
        for reading in (*self.readings, *self.job):
            if isinstance(reading.facts, kind):
                yield reading, reading.facts

    def own(self, kind: type[T]) -> Iterator[tuple[Reading, T]]:
        """Go through the facts of a type in the node's own files."""
        for reading in self.readings:
            if isinstance(reading.facts, kind):
                yield reading, reading.facts

    def statements(self, kind: str, subject: str | None = None) -> Iterator[tuple[Statement, Evidence]]:
        """Go through what notes state, with the line."""
        for reading, notes in self.facts(HostNotes):
            for statement in notes.of(kind, subject):
                yield statement, reading.cite(statement.line)

    @cached_property
    def machines(self) -> tuple[tuple[Reading, Machine], ...]:
        """All machines that readings describe."""
        return tuple((reading, machine) for reading in self.readings for machine in reading.machines)

    @cached_property
    def log(self) -> LogView:
        """What NCCL's logs say of this node, without what an assumption makes void."""
        view = log_view((*self.readings, *self.job), self.host)
        if view.version is None:
            view.version = self._packaged_version()
        return _as_assumed(view, self.assumed) if self.assumed else view

    def _packaged_version(self) -> Known[NcclVersion] | None:
        """Return NCCL's release by its package or its image's variable, where no log names it."""
        from gdviz.doctor.evidence.grep import grep_readings

        for evidence in grep_readings((*self.readings, *self.job), _PACKAGE):
            match = _PACKAGE.search(evidence.text)
            version = NcclVersion.parse(match[1]) if match else None
            if version is not None:
                return Known(version, (evidence,))
        return None

    @cached_property
    def joined(self) -> Joined:
        """Its machines, best first, and its GPUs and NICs under all their names."""
        from gdviz.doctor.evidence.machines import join

        return join(self)

    @cached_property
    def ports(self) -> tuple[PortFacts, ...]:
        """Its RDMA ports."""
        from gdviz.doctor.evidence.fabric import ports

        return ports(self)

    def env(self, *names: str) -> Known[str] | None:
        """Return a variable of the environment (the first of some names); a log's word counts most."""
        wanted = self.assumed.get("env", {})
        for name in names:
            if name in wanted:
                value = wanted[name]
                return None if value is None else Known(str(value), (assumption(f"{name}={value}"),))
            if found := self.log.env.get(name):
                return found
        for name in names:
            found = self._own_env(name)
            if found is not None:
                return found
        return None

    def _own_env(self, name: str) -> Known[str] | None:
        found: tuple[Reading, EnvSetting] | None = None
        for reading, environment in self.facts(Environment):
            if setting := environment.get(name):
                found = (reading, setting)
        if found is None:
            return None
        reading, setting = found
        return Known(setting.value, (reading.cite(setting.line),))


@dataclass(frozen=True)
class CaseEvidence:
    """All nodes of a case, and the files that were not used.

    Attributes
    ----------
    nodes
        Node by node.
    readings
        All readings, each once.
    unread
        File, reason and kind of reason of what was not used, see `gdviz.readers.case.Unread`.
    """

    nodes: tuple[NodeEvidence, ...]
    readings: tuple[Reading, ...] = ()
    unread: tuple[tuple[str, str, str], ...] = ()


#: What somebody may assume that would have made a log's run another one, and its registrations.
_OTHER_RUN = {"env", "nccl", "nic", "peermem", "dma_buf", "open_driver", "memlock_bytes", "acs", "iommu"}
_OTHER_SUPPORT = {"nccl", "peermem", "dma_buf", "open_driver"}


def _as_assumed(view: LogView, assumed: Mapping[str, Any]) -> LogView:
    if _OTHER_RUN & set(assumed):
        view.decisions, view.channels, view.warnings = [], [], []
    if _OTHER_SUPPORT & set(assumed):
        view.hcas = {name: known for name, known in view.hcas.items() if known.value and "nccl" in assumed}
    if "nccl" in assumed and (version := NcclVersion.parse(str(assumed["nccl"]))) is not None:
        view.version = Known(version, (assumption(f"nccl={version}"),))
    return view


def assumption(text: str) -> Evidence:
    """Return evidence for what somebody assumed."""
    return Evidence("", None, text)
