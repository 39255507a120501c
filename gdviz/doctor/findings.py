"""What the doctor says: findings, and what it could not tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from gdviz.readers import Evidence


class Severity(StrEnum):
    """How bad a finding is.

    ``error``: GPUDirect RDMA is off or the job fails although the hardware could do it; ``warning``: it
    works, but slower than it could, or it cannot be decided; ``info``: worth knowing, nothing to repair.
    """

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"

    @property
    def rank(self) -> int:
        """0 for `INFO`, 2 for `ERROR`."""
        return list(Severity).index(self)


#: Every code a finding may have, with its usual severity.
CODES: Mapping[str, Severity] = {
    "peermem-missing": Severity.ERROR,
    "peermem-invisible-to-nccl": Severity.ERROR,
    "peermem-build-mismatch": Severity.ERROR,
    "dmabuf-unsupported-kernel": Severity.ERROR,
    "dmabuf-closed-module": Severity.ERROR,
    "dmabuf-unsupported-rdma": Severity.ERROR,
    "gpu-no-gdr": Severity.INFO,
    "platform-no-gdr": Severity.INFO,
    "distance-beyond-level": Severity.WARNING,
    "gdr-level-forbids": Severity.ERROR,
    "c2c-needs-setting": Severity.WARNING,
    "acs-on-path": Severity.ERROR,
    "iommu-translating": Severity.WARNING,
    "ats-off-in-vm": Severity.ERROR,
    "vm-flat-topology": Severity.WARNING,
    "virtual-bridge-bottleneck": Severity.WARNING,
    "link-speed-unknown": Severity.WARNING,
    "link-degraded": Severity.WARNING,
    "pcie-topo-check-refused": Severity.ERROR,
    "memlock-limit": Severity.ERROR,
    "bar1-too-small": Severity.ERROR,
    "gid-index-wrong": Severity.ERROR,
    "mtu-mismatch": Severity.ERROR,
    "mtu-small": Severity.INFO,
    "lossy-fabric": Severity.WARNING,
    "port-down": Severity.WARNING,
    "port-rate-low": Severity.WARNING,
    "one-sided-gdr": Severity.ERROR,
    "staging-by-middleware": Severity.WARNING,
    "no-near-nic": Severity.WARNING,
    "numa-affinity-wrong": Severity.WARNING,
    "nvlink-asymmetric": Severity.WARNING,
    "gdr-off-is-right": Severity.INFO,
    "mixed-distance-nics": Severity.WARNING,
    "truncated-input": Severity.WARNING,
    "unknown-element": Severity.WARNING,
    "unreadable-input": Severity.WARNING,
    "unknown-cause": Severity.WARNING,
    "healthy": Severity.INFO,
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found.

    Attributes
    ----------
    code
        One of `CODES`.
    title
        One line that says what is wrong and where.
    node
        Name of the node; empty where it concerns the whole case.
    evidence
        What establishes it, the strongest first; at least one piece.
    effect
        What follows from it, in numbers where the model has them; also warnings against wrong remedies.
    check
        How to verify it: a command, and what it has to print.
    fix
        What to do; empty where there is nothing to do.
    cost_bytes_per_s
        What it costs, as far as the model can tell; orders the findings of one severity.
    severity
        `CODES` says the usual one.
    rule
        Numbers of the rules behind it ('R8').
    """

    code: str
    title: str
    node: str = ""
    evidence: tuple[Evidence, ...] = ()
    effect: str = ""
    check: str = ""
    fix: tuple[str, ...] = ()
    cost_bytes_per_s: float = 0.0
    severity: Severity = Severity.WARNING
    rule: str = ""

    def as_dict(self) -> dict[str, object]:
        """Return the finding as JSON has it."""
        return {
            "code": self.code,
            "severity": self.severity.value,
            "title": self.title,
            "node": self.node,
            "evidence": [{"file": e.file, "line": e.line, "text": e.text} for e in self.evidence],
            "effect": self.effect,
            "check": self.check,
            "fix": list(self.fix),
            "cost_bytes_per_s": self.cost_bytes_per_s,
            "rule": self.rule,
        }


@dataclass(frozen=True, slots=True)
class Untold:
    """A question that the inputs do not answer.

    Attributes
    ----------
    code
        The code that stands or falls with it.
    why
        What is missing, in one sentence.
    run
        What to run and bring.
    """

    code: str
    why: str
    run: str
    node: str = ""

    def as_dict(self) -> dict[str, str]:
        """Return it as JSON has it."""
        return {"code": self.code, "node": self.node, "why": self.why, "run": self.run}


def finding(
    code: str,
    title: str,
    *evidence: Evidence,
    node: str = "",
    effect: str = "",
    check: str = "",
    fix: str | tuple[str, ...] = (),
    cost_bytes_per_s: float = 0.0,
    severity: Severity | None = None,
) -> Finding:
    """Return a finding with the code's usual severity.

    Raises
    ------
    KeyError
        The code is none of `CODES`.
    """
    usual = CODES[code]
    return Finding(
        code,
        title,
        node,
        evidence,
        effect,
        check,
        (fix,) if isinstance(fix, str) else fix,
        cost_bytes_per_s,
        severity or usual,
    )
