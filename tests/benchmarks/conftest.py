"""Benchmarks: measured, not judged. `make bench` runs them; `make test` does not collect them.

Each file prints a table of what was measured beside its goal and writes the same into `artefacts/bench/`.
The browser is the one of `tests/ui`. These variables of the environment change what is run:

GDVIZ_BENCH_SECONDS
    Length of each live measurement (default 60).
GDVIZ_BENCH_MINUTES
    Length of the measurement of memory (default 10).
GDVIZ_BENCH_REPEATS
    Repetitions of what is short (default 7).
GDVIZ_BENCH_LAB_PYTHON
    Python of another environment whose JupyterLab has jupyterlab-nvdashboard; see `bench_neighbour.py`.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "ui"))
sys.path.insert(0, str(Path(__file__).parent))

import lab_server as lab_server_module
from lab_page import LabPage
from lab_server import LabServer
from report import ARTEFACTS, Report

HERE = Path(__file__).parent
UI = HERE.parent / "ui"


def _ui_conftest() -> Any:
    """Load the browser tests' conftest under a name of its own."""
    spec = importlib.util.spec_from_file_location("ui_conftest", UI / "conftest.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ui = _ui_conftest()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a browser where there is none."""
    missing = ui.what_is_missing()
    for item in items:
        if missing and item.path.is_relative_to(HERE) and "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.skip(reason=missing))


def setting(name: str, default: float) -> float:
    """Return a number from the environment."""
    return float(os.environ.get(name, default))


@pytest.fixture(scope="session")
def seconds() -> float:
    """Length of a live measurement."""
    return setting("GDVIZ_BENCH_SECONDS", 60)


@pytest.fixture(scope="session")
def minutes() -> float:
    """Length of the measurement of memory."""
    return setting("GDVIZ_BENCH_MINUTES", 10)


@pytest.fixture(scope="session")
def repeats() -> int:
    """Repetitions of what is short."""
    return int(setting("GDVIZ_BENCH_REPEATS", 7))


@pytest.fixture(scope="module")
def report(request: pytest.FixtureRequest) -> Iterator[Report]:
    """Give a table to fill; it is printed and kept when the file is through."""
    name = request.path.stem.removeprefix("bench_")
    table = Report(name, (request.module.__doc__ or "").splitlines()[0])
    yield table
    if table.rows or table.notes:
        table.save(ARTEFACTS)
        print(f"\n\n{table}")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Give a Chromium that can measure its own memory exactly."""
    from playwright.sync_api import sync_playwright

    arguments = [*ui.CHROMIUM_ARGUMENTS, "--enable-precise-memory-info"]
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=ui.chromium_path(), args=arguments)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def lab_server(tmp_path_factory: pytest.TempPathFactory, browser: Any) -> Iterator[LabServer]:
    """Give a JupyterLab without notebooks; each benchmark writes its own."""
    del browser  # asked for only so that nothing is started where it is missing
    with LabServer(tmp_path_factory.mktemp("bench"), base_url="/", notebooks=()) as server:
        yield server


@pytest.fixture
def lab_page(browser: Any, lab_server: LabServer, request: pytest.FixtureRequest) -> Iterator[LabPage]:
    """Give a fresh page, high enough for the picture and all charts; end its kernels afterwards."""
    context = browser.new_context(viewport={"width": 1440, "height": 1250})
    page = LabPage(context.new_page(), lab_server, ARTEFACTS, name=request.node.name)
    try:
        page.start()
        yield page
    finally:
        page.screenshot("end")
        context.close()
        lab_server.end_kernels()


@pytest.fixture(scope="module")
def neighbour_server(tmp_path_factory: pytest.TempPathFactory, browser: Any) -> Iterator[LabServer]:
    """Give the JupyterLab of the environment that GDVIZ_BENCH_LAB_PYTHON names, or of this one."""
    del browser
    python = os.environ.get("GDVIZ_BENCH_LAB_PYTHON", sys.executable)
    patch = pytest.MonkeyPatch()
    server = LabServer(tmp_path_factory.mktemp("neighbour"), base_url="/", notebooks=())
    try:
        patch.setattr(lab_server_module.sys, "executable", python)
        server.__enter__()
    finally:
        patch.undo()
    try:
        yield server
    finally:
        server.__exit__()
