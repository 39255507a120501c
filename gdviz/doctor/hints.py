"""What is worth knowing besides the findings: remarks that no code names, each from a line of the files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gdviz.doctor.evidence.grep import grep
from gdviz.doctor.evidence.node import CaseEvidence, NodeEvidence
from gdviz.doctor.evidence.results import gpu_runs
from gdviz.messages import _
from gdviz.readers import Evidence
from gdviz.readers.host import KernelLog
from gdviz.readers.nvidia_smi import SmiQuery


@dataclass(frozen=True, slots=True)
class Hint:
    """A remark.

    Attributes
    ----------
    rule
        Its number in the table of rules.
    text
        What the line means, and what to do.
    """

    rule: str
    node: str
    text: str
    evidence: Evidence

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        where = {"file": self.evidence.file, "line": self.evidence.line, "text": self.evidence.text}
        return {"rule": self.rule, "node": self.node, "text": self.text, "evidence": where}


#: Number, pattern and text of remarks that a single line calls for.
_BY_LINE: tuple[tuple[str, re.Pattern[str], str], ...] = (
    (
        "R1",
        re.compile(
            r"cannot access '?/dev/infiniband|Function not implemented.*ibv|ibv\w*.*Function not implemented"
        ),
        _("There is no /dev/infiniband here: load ib_uverbs and mlx5_ib, or give the container the devices."),
    ),
    (
        "R17",
        re.compile(r"cuda_mem_type[= ]1\b|cudaMallocManaged|cudaMallocAsync|hipMallocManaged"),
        _("Managed or stream-ordered memory goes through the host, or cannot be exported: use cudaMalloc."),
    ),
    (
        "R29",
        re.compile(r"MLX5_SCATTER_TO_CQE|Couldn'?t create CQ|inline CQE", re.IGNORECASE),
        _("CQ errors with CUDA memory: MLX5_SCATTER_TO_CQE=0."),
    ),
    (
        "R28",
        re.compile(r"versions? (?:of perftest )?(?:mismatch|differ)|perftest version.*differ", re.IGNORECASE),
        _("Both ends of perftest need the same version and options before 6.28."),
    ),
)


def hints(case: CaseEvidence) -> Iterator[Hint]:
    """Go through the remarks on a case."""
    for node in case.nodes:
        for number, pattern, text in _BY_LINE:
            for evidence in grep(node, pattern, job=True)[:1]:
                yield Hint(number, node.name, text, evidence)
        yield from _kernel(node)
        yield from _partitions(node)
        yield from _ordering(node)


def _kernel(node: NodeEvidence) -> Iterator[Hint]:
    text = _(
        "A region outlived its CUDA context: deregister memory before the context ends, or take a newer "
        "driver."
    )
    for reading, log in node.own(KernelLog):
        for entry in log.of("invalid-context")[:1]:
            yield Hint("R30", node.name, text, reading.cite(entry.line))


def _partitions(node: NodeEvidence) -> Iterator[Hint]:
    for reading, query in node.own(SmiQuery):
        for gpu in query.gpus:
            if gpu.mig_mode.lower() == "enabled":
                text = _("{gpu} is cut into MIG instances: counters and GPUDirect are partial there.")
                yield Hint(
                    "R27", node.name, text.format(gpu=gpu.busid), reading.cite(gpu.mig_line or gpu.line)
                )
            elif "vgpu" in gpu.virtualization_mode.lower():
                text = _("{gpu} is a vGPU: GPUDirect RDMA depends on the hypervisor's profile.")
                cited = reading.cite(gpu.virtualization_line or gpu.line)
                yield Hint("R27", node.name, text.format(gpu=gpu.busid), cited)


def _ordering(node: NodeEvidence) -> Iterator[Hint]:
    text = _(
        "Relaxed ordering is off: on AMD EPYC writes stop at about 150 of 200 Gb/s, on Intel from Sapphire "
        "Rapids"
        " on at about 16 GB/s."
    )
    for run in gpu_runs(node):
        if run.table.setup.get("relaxed_ordering", "").upper() == "OFF":
            yield Hint("R13", node.name, text, run.heading)
            return
