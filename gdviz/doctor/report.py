"""The doctor's answer as plain records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gdviz.doctor.findings import Finding, Severity, Untold
from gdviz.doctor.hints import Hint
from gdviz.doctor.verdict import Verdict
from gdviz.readers import Evidence


@dataclass(frozen=True)
class Pair:
    """One GPU and one NIC of a node.

    Attributes
    ----------
    gpu, nic
        As people name them: ``GPU0``, ``mlx5_0``.
    gpu_ids, nic_ids
        All their names.
    distance
        PIX, PXB, PHB, NODE, SYS, C2C, P2C, or ``unknown``.
    gdr
        Whether NCCL uses GPUDirect RDMA; None where the inputs do not tell.
    why
        One sentence.
    findings
        Codes of the findings that touch it.
    verdicts
        By library: ``nccl``, ``ucx``, ``verbs``.
    """

    node: str
    gpu: str
    nic: str
    gpu_ids: tuple[str, ...]
    nic_ids: tuple[str, ...]
    distance: str
    gdr: bool | None
    why: str
    findings: tuple[str, ...] = ()
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the pair as JSON has it."""
        return {
            "node": self.node,
            "gpu": self.gpu,
            "nic": self.nic,
            "gpu_ids": list(self.gpu_ids),
            "nic_ids": list(self.nic_ids),
            "distance": self.distance,
            "gdr": self.gdr,
            "why": self.why,
            "findings": list(self.findings),
            "verdicts": {
                library: {"gdr": verdict.gdr, "why": verdict.why, "sends": verdict.sends}
                for library, verdict in self.verdicts.items()
            },
        }


@dataclass(frozen=True, slots=True)
class Band:
    """A published threshold or expectation for a kind of node.

    Attributes
    ----------
    low, high
        Bytes per second; `high` None: a threshold only.
    source
        Where it is published.
    """

    system: str
    what: str
    low: float
    high: float | None
    source: str


@dataclass(frozen=True)
class Measured:
    """A measured figure beside what to expect.

    Attributes
    ----------
    what
        The tool and what it measured.
    best_bytes_per_s
        The best row.
    predicted_bytes_per_s
        The model's answer for that machine; None where no machine is known.
    verdict
        ``normal``, ``low``, ``high`` or ``unknown``.
    hosts
        Hosts that took part, if the table names them.
    """

    node: str
    what: str
    size_bytes: int | None
    best_bytes_per_s: float
    predicted_bytes_per_s: float | None
    predicted_by: str
    bands: tuple[Band, ...]
    verdict: str
    why: str
    evidence: Evidence
    hosts: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "node": self.node,
            "what": self.what,
            "size_bytes": self.size_bytes,
            "best_bytes_per_s": self.best_bytes_per_s,
            "predicted_bytes_per_s": self.predicted_bytes_per_s,
            "predicted_by": self.predicted_by,
            "bands": [
                {"system": b.system, "what": b.what, "low": b.low, "high": b.high, "source": b.source}
                for b in self.bands
            ],
            "verdict": self.verdict,
            "why": self.why,
            "evidence": {"file": self.evidence.file, "line": self.evidence.line, "text": self.evidence.text},
        }


@dataclass(frozen=True)
class Report:
    """Everything the doctor says of a case.

    Attributes
    ----------
    findings
        The worst first; of one severity the dearest first.
    pairs
        Every GPU-NIC pair of every node.
    measured
        Measured figures beside predictions and published bands.
    untold
        What could not be told, and what to run.
    nodes
        Names of the nodes.
    unread
        File and reason of what was not used.
    hints
        Remarks that no code names.
    """

    findings: tuple[Finding, ...]
    pairs: tuple[Pair, ...] = ()
    measured: tuple[Measured, ...] = ()
    untold: tuple[Untold, ...] = ()
    nodes: tuple[str, ...] = ()
    unread: tuple[tuple[str, str], ...] = ()
    hints: tuple[Hint, ...] = ()
    assumed: Mapping[str, Any] = field(default_factory=dict)
    case: Any = field(default=None, repr=False, compare=False)

    @property
    def worst(self) -> Severity | None:
        """Severity of the worst finding, None without findings."""
        return max((f.severity for f in self.findings), key=lambda s: s.rank, default=None)

    def of(self, code: str) -> tuple[Finding, ...]:
        """Return the findings of a code."""
        return tuple(found for found in self.findings if found.code == code)

    @property
    def codes(self) -> tuple[str, ...]:
        """Codes of the findings, each once, in order."""
        return tuple(dict.fromkeys(found.code for found in self.findings))

    def what_if(self, **changes: Any) -> Report:
        """Return the report as it would be with something changed, see `gdviz.doctor.what_if`.

        Raises
        ------
        GdvizError
            A change that nothing is known of, or a value that none is.
        """
        from gdviz.doctor.what_if import what_if

        return what_if(self, **changes)

    def as_dict(self) -> dict[str, Any]:
        """Return the report as ``gdviz doctor --json`` prints it."""
        return {
            "findings": [found.as_dict() for found in self.findings],
            "pairs": [pair.as_dict() for pair in self.pairs],
            "measured": [each.as_dict() for each in self.measured],
            "untold": [each.as_dict() for each in self.untold],
            "hints": [each.as_dict() for each in self.hints],
            "nodes": list(self.nodes),
            "unread": [{"file": file, "reason": reason} for file, reason in self.unread],
        }

    def __str__(self) -> str:
        from gdviz.doctor.text import report_text

        return report_text(self)
