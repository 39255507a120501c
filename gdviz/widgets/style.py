"""The panels' style sheet, shipped with the first widget that needs it."""

from __future__ import annotations

from importlib import resources

import ipywidgets as w


def style_sheet() -> w.HTML:
    """Return an invisible widget that brings the style sheet with it."""
    css = resources.files("gdviz.widgets").joinpath("panels.css").read_text("utf-8")
    return w.HTML(f"<style>{css}</style>", layout=w.Layout(height="0", margin="0", padding="0"))
