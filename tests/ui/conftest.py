"""A real JupyterLab and a real browser.

`lab_server` starts this environment's JupyterLab on a free port, with its own empty configuration, and
`lab_page` is a fresh page of Debian's Chromium on it. Take `lab_page` in a test:

    def test_something(lab_page: LabPage) -> None:
        lab_page.open("figure.ipynb")
        lab_page.run_all()
        ...
        lab_page.assert_clean()

The notebooks lie in `notebooks/` beside this file and in the repository's `notebooks/`; each server works
on a copy. Pictures go to `artefacts/ui/`. Where Chromium, Playwright or gdviz-lab is missing, the tests
are skipped and say which. `GDVIZ_CHROMIUM` names another Chromium; `GDVIZ_UI_HEADED=1` shows the browser.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from lab_page import LabPage
from lab_server import LabServer

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
ARTEFACTS = REPOSITORY / "artefacts" / "ui"

#: No GPU, and nothing that a browser does on its own over the network.
CHROMIUM_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
]


def chromium_path() -> str | None:
    """Return the Chromium to use, or None."""
    told = os.environ.get("GDVIZ_CHROMIUM")
    return told or shutil.which("chromium") or shutil.which("chromium-browser")


def what_is_missing() -> str | None:
    """Return why the browser tests cannot run here, or None."""
    if chromium_path() is None:
        return "no Chromium: run scripts/install-debian.sh"
    for name in ("playwright", "jupyterlab", "gdviz-lab"):
        try:
            version(name)
        except PackageNotFoundError:
            return f"{name} is not installed: run make test"
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what lies here, skip it where something is missing, and let it run last."""
    missing = what_is_missing()
    mine = [item for item in items if item.path.is_relative_to(HERE)]
    for item in mine:
        item.add_marker("ui")
        item.add_marker("slow")
        if missing:
            item.add_marker(pytest.mark.skip(reason=missing))
    items[:] = [item for item in items if item not in mine] + mine


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """Give a Chromium; package scope, because Playwright's loop must not meet other tests' asyncio."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=chromium_path(),
            args=CHROMIUM_ARGUMENTS,
            headless=os.environ.get("GDVIZ_UI_HEADED") != "1",
        )
        yield chromium
        chromium.close()


@pytest.fixture(scope="package")
def lab_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    """Give a JupyterLab at base URL ``/``."""
    yield from serve(tmp_path_factory.mktemp("lab"), base_url="/")


@pytest.fixture(scope="package")
def hub_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    """Give a JupyterLab at a base URL as JupyterHub and Binder use it."""
    yield from serve(tmp_path_factory.mktemp("hub"), base_url="/user/x/")


@pytest.fixture(scope="package")
def plain_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    """Give a JupyterLab without gdviz-lab."""
    yield from serve(tmp_path_factory.mktemp("plain"), base_url="/", plain=True)


def serve(folder: Path, *, base_url: str, plain: bool = False) -> Iterator[LabServer]:
    """Start a server on copies of the notebooks; stop it and its kernels at the end."""
    sources = (HERE / "notebooks", REPOSITORY / "notebooks")
    with LabServer(folder, base_url=base_url, notebooks=sources, plain=plain) as server:
        yield server


@pytest.fixture
def lab_page(browser: Any, lab_server: LabServer, request: pytest.FixtureRequest) -> Iterator[LabPage]:
    """Give a page on `lab_server`, 1440 x 900."""
    yield from open_page(browser, lab_server, request)


@pytest.fixture
def hub_page(browser: Any, hub_server: LabServer, request: pytest.FixtureRequest) -> Iterator[LabPage]:
    """Give a page on `hub_server`, 1440 x 900."""
    yield from open_page(browser, hub_server, request)


@pytest.fixture
def plain_page(browser: Any, plain_server: LabServer, request: pytest.FixtureRequest) -> Iterator[LabPage]:
    """Give a page on `plain_server`, 1440 x 900."""
    yield from open_page(browser, plain_server, request)


def open_page(browser: Any, server: LabServer, request: pytest.FixtureRequest) -> Iterator[LabPage]:
    """Open a fresh browser context; after the test, keep a last picture and end the kernels."""
    server.renew_notebooks()
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = LabPage(context.new_page(), server, ARTEFACTS, name=request.node.name)
    page.start()
    yield page
    page.screenshot("end")
    context.close()
    server.end_kernels()
