"""Tooltips: text is text, and columns stay for Bokeh to set in."""

from __future__ import annotations

from gdviz.figures.tips import rows_tip


def test_labels_are_text() -> None:
    found = rows_tip([("<b>", "@size"), ("", "@x{0.0} s")])
    assert "&lt;b&gt;:" in found
    assert "<b>" not in found
    assert "@x{0.0} s" in found


def test_they_have_the_colours_of_jupyterlab() -> None:
    assert "var(--jp-layout-color1" in rows_tip([("", "@x")])
