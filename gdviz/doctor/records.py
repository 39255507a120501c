"""What a report is made of: pairs, and measured figures beside what to expect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

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
