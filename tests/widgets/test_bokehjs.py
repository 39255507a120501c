from __future__ import annotations

from typing import Any

import pytest

from gdviz.widgets import bokehjs

SERVER = {"GDVIZ_LAB_PID": "100", "GDVIZ_LAB_BOKEH": "3.9.2"}


@pytest.mark.parametrize(
    ("environment", "home"),
    [
        ({}, "inline"),
        ({"JPY_PARENT_PID": "100"}, "inline"),
        (SERVER | {"JPY_PARENT_PID": "100"}, "page"),
        # nbclient in a terminal of JupyterLab: the variables are inherited, the parent is another.
        (SERVER | {"JPY_PARENT_PID": "200"}, "inline"),
        (SERVER | {"JPY_PARENT_PID": "100", "SERVER_SOFTWARE": "voila/0.5.13"}, "inline"),
        (SERVER | {"JPY_PARENT_PID": "100", "GDVIZ_BOKEHJS": "inline"}, "inline"),
        ({"GDVIZ_BOKEHJS": "page"}, "page"),
        ({"GDVIZ_BOKEHJS": "nonsense"}, "inline"),
    ],
)
def test_home(environment: dict[str, str], home: str) -> None:
    assert bokehjs.bokehjs_home(environment) == home


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    calls: list[str] = []
    monkeypatch.setattr(bokehjs, "_displayed", None)
    monkeypatch.setattr(bokehjs, "_display_inline", lambda: calls.append("inline"))
    monkeypatch.setattr(bokehjs, "_compare_versions", lambda: calls.append("compare"))
    return calls


def run(monkeypatch: pytest.MonkeyPatch, execution: Any, home: str) -> None:
    monkeypatch.setattr(bokehjs, "_execution", lambda: execution)
    monkeypatch.setenv("GDVIZ_BOKEHJS", home)
    bokehjs.ensure_bokehjs()


def test_inline_once_and_again_when_its_cell_runs_again(
    monkeypatch: pytest.MonkeyPatch, shown: list[str]
) -> None:
    run(monkeypatch, ("cell-1", "m1"), "inline")
    run(monkeypatch, ("cell-1", "m1"), "inline")
    run(monkeypatch, ("cell-2", "m2"), "inline")
    assert shown == ["inline"]
    run(monkeypatch, ("cell-1", "m3"), "inline")
    assert shown == ["inline", "inline"]


def test_inline_once_where_cells_have_no_name(monkeypatch: pytest.MonkeyPatch, shown: list[str]) -> None:
    run(monkeypatch, ("", "m1"), "inline")
    run(monkeypatch, ("", "m2"), "inline")
    assert shown == ["inline"]


def test_nothing_displayed_on_a_page_that_has_it(monkeypatch: pytest.MonkeyPatch, shown: list[str]) -> None:
    run(monkeypatch, ("cell-1", "m1"), "page")
    run(monkeypatch, ("cell-2", "m2"), "page")
    assert shown == ["compare"]


def test_nothing_outside_a_notebook(monkeypatch: pytest.MonkeyPatch, shown: list[str]) -> None:
    run(monkeypatch, None, "inline")
    assert shown == []


def test_other_bokeh_beside_the_server_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GDVIZ_LAB_BOKEH", "0.0.1")
    with pytest.warns(UserWarning, match=r"Bokeh 0\.0\.1 and this kernel Bokeh"):
        bokehjs._compare_versions()
