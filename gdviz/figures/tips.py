"""What a tooltip looks like: JupyterLab's colours, so that it is dark where the page is.

Bokeh gives its tooltips a white ground in both looks. A tooltip's template lies in the same shadow root as
its ground, and JupyterLab's own variables reach there; elsewhere Bokeh's colours stand.
"""

from __future__ import annotations

from html import escape

_STYLE = (
    "<style>:host{"
    "--tooltip-color:var(--jp-layout-color1,var(--background-color)) !important;"
    "--tooltip-text:var(--jp-content-font-color1,var(--color)) !important;"
    "--tooltip-border:var(--jp-border-color1,var(--divider-color)) !important;"
    "--tooltip-arrow-color:var(--jp-border-color1,white) !important"
    "}</style>"
)


def tip(body: str) -> str:
    """Return a template around HTML of ours; Bokeh escapes the columns (``@name``) that it sets in."""
    # Not at the beginning: Bokeh parses the template as a page, where that would be its head.
    return f'<div style="font-size:13px;max-width:320px">{body}{_STYLE}</div>'


def rows_tip(rows: list[tuple[str, str]]) -> str:
    """Return a template of rows.

    Parameters
    ----------
    rows
        What it is, which is text and may be empty, and the columns that say it.
    """
    lines = []
    for label, columns in rows:
        name = f'<span style="opacity:0.75">{escape(label)}:</span> ' if label else ""
        lines.append(f'<div style="overflow-wrap:anywhere">{name}{escape(columns)}</div>')
    return tip("".join(lines))
