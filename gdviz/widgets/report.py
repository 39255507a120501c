"""A doctor's report as HTML: findings with their evidence, and what one pair is about.

All strings of files are escaped: evidence quotes what stands there, whatever it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from gdviz.doctor import Finding, Measured, Pair, Report, Untold
from gdviz.messages import _, ngettext
from gdviz.quantities import format_rate, format_size
from gdviz.widgets.parts import table

#: Findings and lines of evidence that are shown; the rest is counted.
_MOST_FINDINGS, _MOST_LINES = 100, 6


def headline(report: Report) -> str:
    """Return one sentence: how many findings of which severity, on how many nodes."""
    counts = [
        (severity, sum(found.severity.value == severity for found in report.findings))
        for severity in ("error", "warning", "info")
    ]
    told = ", ".join(f"{count} {_severity(severity, count)}" for severity, count in counts if count)
    where = (
        report.nodes[0]
        if len(report.nodes) == 1
        else ngettext("{n} node", "{n} nodes", len(report.nodes)).format(n=len(report.nodes))
    )
    return _("{findings} on {where}").format(findings=told or _("nothing found"), where=where)


def findings_html(report: Report, codes: Iterable[str] | None = None) -> str:
    """Return the findings, worst first; those of some codes only, where they are given."""
    wanted = None if codes is None else set(codes)
    shown = [found for found in report.findings if wanted is None or found.code in wanted]
    parts = [_finding(found, opened=place == 0) for place, found in enumerate(shown[:_MOST_FINDINGS])]
    if len(shown) > _MOST_FINDINGS:
        parts.append(_faint(_("{n} more findings.").format(n=len(shown) - _MOST_FINDINGS)))
    if wanted is None:
        parts += [_measured(report.measured), _untold(report.untold), _unread(report.unread)]
    return "".join(parts) or _faint(_("No finding touches this pair."))


def pair_html(pair: Pair) -> str:
    """Return a pair's names, distance, and what each library makes of it."""
    rows = [
        (library, _answer(verdict.gdr), verdict.why)
        for library, verdict in sorted(pair.verdicts.items(), key=lambda item: item[0] != "nccl")
    ]
    names = f"{pair.node}: {_named(pair.gpu, pair.gpu_ids)} – {_named(pair.nic, pair.nic_ids)}"
    return (
        f"<p><b>{escape(names)}</b><br>"
        f"{escape(pair.distance)}: {escape(_answer(pair.gdr))}. {escape(pair.why)}</p>"
        + table((_("library"), _("GPUDirect RDMA"), _("why")), rows)
    )


def _named(name: str, ids: Sequence[str]) -> str:
    """Return a device's name with its bus id, which is the longest of its ids; the others say the same."""
    busid = max((each for each in ids if each.count(":")), key=len, default="")
    return f"{name} ({busid})" if busid and busid != name else name


def _answer(gdr: bool | None) -> str:
    return _("cannot be told") if gdr is None else _("used") if gdr else _("not used")


def _severity(severity: str, count: int = 1) -> str:
    return {
        "error": ngettext("error", "errors", count),
        "warning": ngettext("warning", "warnings", count),
        "info": ngettext("remark", "remarks", count),
    }[severity]


def _finding(found: Finding, *, opened: bool) -> str:
    where = f"{found.node}: " if found.node and not found.title.startswith(found.node) else ""
    lines = "".join(
        f"<div class='gdviz-quote'><span>{escape(cited.file)}{f':{cited.line}' if cited.line else ''}</span>"
        f"<code>{escape(cited.text)}</code></div>"
        for cited in found.evidence[:_MOST_LINES]
    )
    if len(found.evidence) > _MOST_LINES:
        lines += _faint(_("{n} more lines.").format(n=len(found.evidence) - _MOST_LINES))
    parts = [lines]
    for title, text in ((_("Effect"), found.effect), (_("Check"), found.check)):
        if text:
            parts.append(f"<p><b>{escape(title)}.</b> {escape(text)}</p>")
    if found.fix:
        steps = "".join(f"<li><code>{escape(step)}</code></li>" for step in found.fix)
        parts.append(f"<p><b>{escape(_('Fix'))}.</b></p><ul>{steps}</ul>")
    open_ = " open" if opened else ""
    return (
        f"<details class='gdviz-finding gdviz-{found.severity.value}'{open_}><summary>"
        f"<b>{escape(_severity(found.severity.value))}</b> {escape(where + found.title)} "
        f"<span class='gdviz-code'>{escape(found.code)}</span></summary>{''.join(parts)}</details>"
    )


def _measured(measured: Sequence[Measured]) -> str:
    if not measured:
        return ""
    rows = [
        (
            each.node,
            each.what,
            format_size(each.size_bytes) if each.size_bytes else "–",
            format_rate(each.best_bytes_per_s),
            format_rate(each.predicted_bytes_per_s) if each.predicted_bytes_per_s else "–",
            each.verdict,
            each.why,
        )
        for each in measured
    ]
    head = (_("node"), _("what"), _("size"), _("measured"), _("expected"), _("verdict"), _("why"))
    title = escape(_("Is this number normal?"))
    return f"<p><b>{title}</b></p><div class='gdviz-wide'>{table(head, rows)}</div>"


def _untold(untold: Sequence[Untold]) -> str:
    if not untold:
        return ""
    rows = [(each.node, each.code, each.why, each.run) for each in untold]
    title = _("What these files do not tell, and what to run")
    inner = table((_("node"), _("about"), _("why"), _("run")), rows)
    return (
        f"<details class='gdviz-finding gdviz-info'><summary>{escape(title)} ({len(untold)})</summary>"
        f"<div class='gdviz-wide'>{inner}</div></details>"
    )


def _unread(unread: Sequence[tuple[str, str]]) -> str:
    if not unread:
        return ""
    title = ngettext("{n} file was not used", "{n} files were not used", len(unread)).format(n=len(unread))
    return (
        f"<details class='gdviz-finding gdviz-info'><summary>{escape(title)}</summary>"
        f"<div class='gdviz-wide'>{table((_('file'), _('why')), unread)}</div></details>"
    )


def _faint(text: str) -> str:
    return f"<div class='gdviz-empty'>{escape(text)}</div>"
