"""The report as text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from gdviz.doctor.findings import Finding, Severity
from gdviz.doctor.records import Measured, Pair
from gdviz.doctor.report import Report
from gdviz.messages import _, ngettext
from gdviz.quantities import format_rate
from gdviz.readers import Evidence

WIDTH = 100

#: Pairs that are listed one by one; of more only those that differ from the rest.
MAX_PAIRS = 64

_SIGNS = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.INFO: "INFO"}


def report_text(report: Report) -> str:
    """Return a report as text: findings worst first, pairs, measured figures, what could not be told."""
    return "\n".join(_lines(report)).rstrip() + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield _headline(report)
    yield ""
    for found in report.findings:
        yield from _finding(found)
        yield ""
    if report.pairs:
        yield _("Pairs (NCCL)")
        yield from _pairs(report.pairs)
        yield ""
    if report.measured:
        yield _("Is this number normal?")
        for each in {(m.node, m.what, m.why): m for m in report.measured}.values():
            yield from _measured(each)
        yield ""
    if report.hints:
        yield _("Remarks")
        for hint in report.hints:
            yield from _wrap(f"  {hint.rule}: ", f"{hint.node}: {hint.text}")
            yield from _evidence(hint.evidence)
        yield ""
    if report.untold:
        yield _("What could not be told, and what to run")
        for each_untold in report.untold:
            where = f"{each_untold.node}: " if each_untold.node else ""
            yield from _wrap(f"  {each_untold.code}: ", where + each_untold.why)
            yield from _wrap("    $ ", each_untold.run)
        yield ""
    if report.unread:
        yield _("Not used")
        for file, reason in report.unread:
            yield from _wrap("  ", f"{file}: {reason}")


def _headline(report: Report) -> str:
    if not report.findings:
        return _("No rule found anything; the files may hold too little to say more.")
    counts = []
    for severity, one, many in (
        (Severity.ERROR, "{n} error", "{n} errors"),
        (Severity.WARNING, "{n} warning", "{n} warnings"),
        (Severity.INFO, "{n} remark", "{n} remarks"),
    ):
        number = sum(1 for found in report.findings if found.severity is severity)
        if number:
            counts.append(ngettext(one, many, number).format(n=number))
    return _("{counts} on {nodes}").format(
        counts=", ".join(counts), nodes=", ".join(report.nodes) or _("no node")
    )


def _finding(found: Finding) -> Iterator[str]:
    yield from _wrap(f"{_SIGNS[found.severity]} [{found.code}] ", found.title)
    for piece in found.evidence[:6]:
        yield from _evidence(piece)
    for label, text in ((_("effect"), found.effect), (_("check"), found.check)):
        if text:
            yield from _wrap(f"  {label}: ", text)
    for number, text in enumerate(found.fix):
        yield from _wrap(f"  {_('fix')}: " if number == 0 else "       ", text)


def _evidence(piece: Evidence) -> Iterator[str]:
    where = piece.file + (f":{piece.line}" if piece.line is not None else "")
    text = piece.text if len(piece.text) <= 160 else piece.text[:160] + "..."
    yield f"  | {where}" if where else "  |"
    yield f"  |   {text}"


def _wrap(first: str, text: str) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=" " * min(len(first), 12),
        break_long_words=False,
        break_on_hyphens=False,
    ) or [first.rstrip()]


def _pairs(pairs: Sequence[Pair]) -> Iterator[str]:
    shown = pairs if len(pairs) <= MAX_PAIRS else [p for p in pairs if p.distance in ("PIX", "PXB") or p.gdr]
    head = (_("node"), "GPU", "NIC", _("distance"), "GDR", "UCX", _("why"))
    rows = [
        (
            p.node,
            p.gpu,
            p.nic,
            p.distance,
            _word(p.gdr),
            _word(p.verdicts["ucx"].gdr if p.verdicts else None),
            p.why,
        )
        for p in shown[:MAX_PAIRS]
    ]
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    for row in (head, *rows):
        cells = [cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=False)]
        yield "  " + "  ".join((*cells, row[-1])).rstrip()
    left = len(pairs) - len(rows)
    if left > 0:
        yield "  " + ngettext("... and {n} more", "... and {n} more", left).format(n=left)


def _word(answer: bool | None) -> str:
    return "?" if answer is None else _("yes") if answer else _("no")


def _measured(each: Measured) -> Iterator[str]:
    yield from _wrap(f"  {each.verdict}: ", f"{each.node}: {each.what}: {each.why}")
    for band in each.bands:
        high = f" to {format_rate(band.high)}" if band.high and band.high > band.low else ""
        yield from _wrap("    ", f"{band.system}, {band.what}: {format_rate(band.low)}{high} ({band.source})")
