"""A plain Bokeh figure in JupyterLab: where BokehJS comes from, what is saved, which look it has."""

from __future__ import annotations

import json
from typing import Any

import bokeh
import pytest
from lab_page import LabPage
from lab_server import LabServer

from gdviz.figures.theme import ROLES

LIGHT, DARK = ROLES["light"], ROLES["dark"]


def drawn(page: LabPage) -> None:
    page.figures().first.wait_for(timeout=30000)
    page.page.wait_for_function("() => window.Bokeh.documents.some(d => d.roots().length && d.is_idle)")


def run_figure(page: LabPage) -> None:
    page.open("figure.ipynb")
    page.run_all()
    drawn(page)


def line_colour(page: LabPage) -> Any:
    return page.model("line")["line_color"]["value"]


def test_bokehjs_comes_from_the_server_and_stays_out_of_the_notebook(lab_page: LabPage) -> None:
    run_figure(lab_page)
    page = lab_page.page.evaluate("() => ({ ...window.gdviz, loaded: window.Bokeh.version })")
    assert page == {
        "bokeh": bokeh.__version__,
        "server": bokeh.__version__,
        "look": "light",
        "loaded": bokeh.__version__,
    }
    scripts = [path for path in lab_page.requests if path.startswith("/gdviz/bokeh/")]
    assert scripts == ["/gdviz/bokeh/js/bokeh.min.js", "/gdviz/bokeh/js/bokeh-widgets.min.js"]
    saved = lab_page.save()
    assert len(json.dumps(saved)) < 20_000
    outputs = [output for cell in saved["cells"] for output in cell["outputs"]]
    assert [sorted(output["data"]) for output in outputs] == [
        ["application/vnd.jupyter.widget-view+json", "text/plain"]
    ]
    lab_page.assert_clean()


def test_figure_is_live_again_after_a_reload(lab_page: LabPage) -> None:
    run_figure(lab_page)
    lab_page.save()
    lab_page.reload()
    lab_page.wait_for_kernel()
    drawn(lab_page)
    lab_page.assert_clean()
    # Live, not a picture: a change in the kernel arrives, though no cell of the notebook has run.
    lab_page.tell_kernel("plot.x_range.end = 20; line.glyph.line_width = 7")
    lab_page.page.wait_for_function(
        "() => window.Bokeh.documents.some(d => d.get_model_by_name('line')?.line_width.value === 7)"
    )
    lab_page.assert_clean()


def test_below_a_base_url(hub_page: LabPage) -> None:
    run_figure(hub_page)
    assert "/user/x/gdviz/bokeh/js/bokeh.min.js" in hub_page.requests
    hub_page.assert_clean()


def test_figures_follow_the_theme_without_a_word_to_the_kernel(lab_page: LabPage) -> None:
    run_figure(lab_page)
    assert line_colour(lab_page) == LIGHT["direct"]
    lab_page.screenshot("light")
    before = lab_page.ask_kernel("len(messages)")
    lab_page.theme("JupyterLab Dark")
    lab_page.page.wait_for_function("() => window.gdviz.look === 'dark'")
    assert line_colour(lab_page) == DARK["direct"]
    assert lab_page.model("plot")["background_fill_color"] == DARK["paper"]
    assert lab_page.model("mapper")["palette"] == list(DARK.values())
    assert lab_page.model("kept")["fill_color"] == {"value": "#123456"}
    lab_page.screenshot("dark")
    assert lab_page.ask_kernel("len(messages)") == before
    # The kernel thinks in the light look: what it paints now turns dark on this page.
    lab_page.tell_kernel("paint(line.glyph, line_color='staged')")
    lab_page.page.wait_for_function(
        """colour => window.Bokeh.documents.some(
          d => d.get_model_by_name('line')?.line_color.value === colour)""",
        arg=DARK["staged"],
    )
    lab_page.theme("JupyterLab Light")
    lab_page.page.wait_for_function("() => window.gdviz.look === 'light'")
    assert line_colour(lab_page) == LIGHT["staged"]
    lab_page.assert_clean()


def test_figure_starts_in_the_dark_look(lab_page: LabPage) -> None:
    lab_page.theme("JupyterLab Dark")
    run_figure(lab_page)
    assert line_colour(lab_page) == DARK["direct"]
    lab_page.theme("JupyterLab Light")


def test_without_gdviz_lab_bokehjs_comes_with_the_notebook(plain_page: LabPage) -> None:
    assert plain_page.page.evaluate("() => window.Bokeh") is None
    run_figure(plain_page)
    assert not [path for path in plain_page.requests if "gdviz/bokeh" in path]
    outputs = [output for cell in plain_page.save()["cells"] for output in cell["outputs"]]
    scripts = [output["data"] for output in outputs if "application/javascript" in output["data"]]
    assert len(scripts) == 1
    assert len(scripts[0]["application/javascript"]) < 2_000_000
    plain_page.assert_clean()


@pytest.mark.parametrize("path", ["gdviz/bokeh/js/bokeh.min.js", "gdviz/bokeh-version"])
def test_strangers_are_refused(lab_server: LabServer, path: str) -> None:
    assert lab_server.ask(path)[0] == 200
    assert lab_server.ask(path, token=False)[0] in (302, 403)


@pytest.mark.parametrize(
    "path",
    ["gdviz/bokeh/../../__init__.py", "gdviz/bokeh/%2e%2e/%2e%2e/__init__.py", "gdviz/bokeh//etc/passwd"],
)
def test_nothing_else_is_served(lab_server: LabServer, path: str) -> None:
    assert lab_server.ask(path)[0] in (403, 404)


def test_browser_may_keep_a_script_of_a_named_version(lab_server: LabServer) -> None:
    _, named, _ = lab_server.ask("gdviz/bokeh/js/bokeh.min.js?v=1")
    _, unnamed, _ = lab_server.ask("gdviz/bokeh/js/bokeh.min.js")
    assert "max-age" in named["Cache-Control"]
    assert unnamed["Cache-Control"] == "no-cache"
