"""Why GPUDirect RDMA is off or slow, from the files that people have.

``diagnose(*paths)`` opens files, folders and captures and returns a `Report`, a tree of plain frozen
records:

``Report.findings``
    `Finding`: code (`CODES`), severity, title, node, evidence (file, line, text), effect, check, fix,
    cost. The worst first; of one severity the dearest first.
``Report.pairs``
    `Pair`: every GPU and NIC of every node with all their names, distance, whether NCCL uses GPUDirect
    RDMA (True, False, or None where the inputs do not tell) and why, the codes of the findings that touch
    it, and `Verdict` by library (``nccl``, ``ucx``, ``verbs``).
``Report.measured``
    `Measured`: measured figures beside the model's answer and published `Band`, each with its source.
``Report.untold``
    `Untold`: questions that the inputs do not answer, and what to run.
``Report.hints``
    `Hint`: remarks from single lines that no code names.
``Report.what_if(...)``
    The report once more with something assumed, see `CHANGES`.
``Report.as_dict()``, ``str(report)``
    What ``gdviz doctor`` prints with and without ``--json``.

`gdviz.doctor.faults` is the reverse gear: simulated hosts with a fault, and the files that their tools
would print.

Rules live in `gdviz.doctor.rules`, one module a family; a rule sees evidence only, never a file's name.
"""

from __future__ import annotations

from gdviz.doctor.diagnose import diagnose, examine
from gdviz.doctor.findings import CODES, Finding, Severity, Untold
from gdviz.doctor.hints import Hint
from gdviz.doctor.records import Band, Measured, Pair
from gdviz.doctor.report import Report
from gdviz.doctor.verdict import Question, Verdict, nccl_verdict
from gdviz.doctor.versions import NcclVersion
from gdviz.doctor.what_if import CHANGES

__all__ = [
    "CHANGES",
    "CODES",
    "Band",
    "Finding",
    "Hint",
    "Measured",
    "NcclVersion",
    "Pair",
    "Question",
    "Report",
    "Severity",
    "Untold",
    "Verdict",
    "diagnose",
    "examine",
    "nccl_verdict",
]
