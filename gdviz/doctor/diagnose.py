"""From files to a report: evidence, pairs, rules, order."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from gdviz.doctor.evidence.gather import gather
from gdviz.doctor.evidence.node import CaseEvidence
from gdviz.doctor.findings import Finding, Untold
from gdviz.doctor.hints import hints
from gdviz.doctor.normal import measured
from gdviz.doctor.pairs import pairs_of
from gdviz.doctor.records import Pair
from gdviz.doctor.report import Report
from gdviz.doctor.rules import answers
from gdviz.doctor.touches import touching
from gdviz.errors import ReaderError
from gdviz.messages import _
from gdviz.readers.case import Case, open_case


def diagnose(*paths: str | os.PathLike[str] | Case) -> Report:
    """Say why GPUDirect RDMA is off or slow, from the files that people have.

    Parameters
    ----------
    paths
        Files, folders, archives or captures; or one `gdviz.readers.case.Case`.

    Returns
    -------
    Report
        Its ``str`` is readable, `Report.as_dict` is what ``gdviz doctor --json`` prints.

    Raises
    ------
    ReaderError
        Nothing of it could be read.

    Examples
    --------
    >>> print(diagnose("incident-4711/"))  # doctest: +SKIP
    """
    if len(paths) == 1 and isinstance(paths[0], Case):
        case = paths[0]
    else:
        case = open_case(*(path for path in paths if not isinstance(path, Case)))
    if not case.readings:
        reasons = [f"{u.file}: {u.reason}" for u in case.unreadable]
        raise ReaderError(
            _("Nothing could be read: {reasons}").format(
                reasons=" ".join(reasons[:4]) or _("there is no file.")
            )
        )
    return examine(case)


def examine(case: Case, assumed: Mapping[str, Any] | None = None) -> Report:
    """Return the report of a case, perhaps with something assumed (see `gdviz.doctor.what_if`)."""
    evidence = gather(case, assumed)
    return report_of(evidence, case, assumed or {})


def report_of(evidence: CaseEvidence, case: Case | None, assumed: Mapping[str, Any]) -> Report:
    """Return the report of gathered evidence."""
    found: list[Finding] = []
    untold: list[Untold] = []
    for answer in answers(evidence):
        if isinstance(answer, Finding):
            found.append(replace(answer, evidence=tuple(dict.fromkeys(answer.evidence))))
        else:
            untold.append(answer)
    findings = in_order(_merged(found))
    pairs = tuple(_touched(pair, findings) for node in evidence.nodes for pair in pairs_of(node))
    codes = {each.code for each in findings}
    # A text of unknown format counts as used where a line of it is quoted.
    broken = ("unreadable-input",)
    quoted = {e.file for each in findings if each.code not in broken for e in each.evidence}
    return Report(
        findings,
        pairs,
        tuple(measured(evidence)),
        tuple(dict.fromkeys(each for each in untold if each.code not in codes)),
        tuple(node.name for node in evidence.nodes),
        tuple((file, reason) for file, reason, _why in evidence.unread if file not in quoted),
        tuple(hints(evidence)),
        dict(assumed),
        case,
    )


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings in order: the worst first, of one severity the dearest first."""
    return tuple(sorted(findings, key=lambda f: (-f.severity.rank, -f.cost_bytes_per_s)))


def _merged(found: list[Finding]) -> list[Finding]:
    """Join what the same lines say of several nodes (files that count for all of them)."""
    kept: dict[tuple[object, ...], Finding] = {}
    for each in found:
        key = (each.code, each.evidence, each.title.replace(each.node, "") if each.node else each.title)
        first = kept.get(key)
        if first is None or not each.evidence:
            kept[key if each.evidence else (*key, len(kept))] = each
        elif first.node != each.node and each.node:
            names = f"{first.node}, {each.node}"
            kept[key] = replace(first, node=names, title=first.title.replace(first.node, names, 1))
    return list(kept.values())


def _touched(pair: Pair, findings: tuple[Finding, ...]) -> Pair:
    return replace(pair, findings=tuple(dict.fromkeys(f.code for f in findings if touching(f, pair))))
