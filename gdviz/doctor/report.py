"""The doctor's answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gdviz.doctor.findings import Finding, Severity, Untold
from gdviz.doctor.hints import Hint
from gdviz.doctor.records import Measured, Pair


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
