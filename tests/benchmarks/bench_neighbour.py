"""The same page beside jupyterlab-nvdashboard's panel, at the same rate

Needs a JupyterLab that has both gdviz and jupyterlab-nvdashboard, in an environment of its own:

    python3 -m venv /tmp/beside
    /tmp/beside/bin/pip install '.[lab]' ./lab jupyterlab-nvdashboard
    GDVIZ_BENCH_LAB_PYTHON=/tmp/beside/bin/python make bench ARGS='-k neighbour'

Its panels of GPUs need NVML. Without a driver only "Machine Resources" has data: four charts of CPU, memory,
disk and network, which its server part measures with psutil. So that one is opened.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from lab_page import LabPage
from lab_server import LabServer
from report import ARTEFACTS, Report
from scene import Spent, open_lab, show_panel, start_transfer, stop_transfer

RATE_HZ = 5.0
SETTINGS = "jupyterlab-nvdashboard:config"


def answered(server: LabServer) -> int:
    """Return the status of nvdashboard's route, once the server listens."""
    for _ in range(40):
        try:
            return server.ask("nvdashboard/accelerators/check")[0]
        except OSError:
            time.sleep(0.25)
    raise TimeoutError("the server does not answer")


@pytest.fixture
def page(browser: Any, neighbour_server: LabServer) -> Iterator[LabPage]:
    if answered(neighbour_server) != 200:
        pytest.skip(
            "jupyterlab-nvdashboard is not installed: see GDVIZ_BENCH_LAB_PYTHON in bench_neighbour.py"
        )
    context = browser.new_context(viewport={"width": 1440, "height": 1250})
    page = LabPage(context.new_page(), neighbour_server, ARTEFACTS, name="neighbour")
    try:
        page.start()
        yield page
    finally:
        page.screenshot("end")
        context.close()
        neighbour_server.end_kernels()


def add(report: Report, what: str, spent: Spent) -> None:
    for name, label in (
        ("main", "browser main thread"),
        ("main_cpu", "  of that, on a core"),
        ("chromium", "all processes of the browser"),
        ("server", "server process"),
        ("kernel", "kernel"),
    ):
        report.add(f"{what}: {label}", 100 * getattr(spent, name), "%")


def test_beside_nvdashboard(page: LabPage, report: Report, seconds: float) -> None:
    seconds = min(seconds, 30.0)
    status = json.loads(page.server.ask("nvdashboard/accelerators/check")[2])
    report.note(f"jupyterlab-nvdashboard says: {status}")
    set_rate(page)
    meter = open_lab(page, "neighbour")
    page.page.wait_for_timeout(4000)
    add(report, "neither", meter.over(seconds / 2))
    for turn in ("first", "second"):
        start_transfer(page, seconds + 60, rate_hz=RATE_HZ)
        page.page.wait_for_timeout(4000)
        add(report, f"gdviz alone, {turn}", meter.over(seconds))
        stop_transfer(page)
    frames = open_machine_panel(page)
    page.page.wait_for_timeout(6000)
    del frames[:]
    spent = meter.over(seconds)
    add(report, f"nvdashboard alone ({len(frames) / spent.wall_s:.1f} messages a second)", spent)
    # Beside each other, both in sight.
    page.screenshot("panel")
    show_panel(page)
    start_transfer(page, seconds + 60, rate_hz=RATE_HZ)
    page.page.wait_for_timeout(4000)
    add(report, "both", meter.over(seconds))
    page.screenshot("both")
    stop_transfer(page)
    report.note("kernel and server of the same JupyterLab; nvdashboard's server part runs in the server")


def set_rate(page: LabPage) -> None:
    """Set nvdashboard's rate of updates; its own default is every 100 ms."""
    ms = round(1000 / RATE_HZ)
    told = page.page.evaluate(
        """async ([plugin, token, ms]) => {
          const answer = await fetch(`/lab/api/settings/${plugin}`, {
            method: 'PUT',
            headers: { Authorization: `token ${token}`, 'Content-Type': 'application/json' },
            body: JSON.stringify({ raw: JSON.stringify({ updateFrequency: ms }) })
          });
          return answer.status;
        }""",
        [SETTINGS, page.server.token, ms],
    )
    assert told == 204, told
    page.reload()


def open_machine_panel(page: LabPage) -> list[str]:
    """Open "Machine Resources" to the right of the notebook; return its messages as they come."""
    frames: list[str] = []

    def watch(socket: Any) -> None:
        if "nvdashboard" in socket.url:
            socket.on("framereceived", lambda frame: frames.append(str(frame)))

    page.page.on("websocket", watch)
    page.execute("gpu-dashboard-widget:open", id="machine-resource-widget", title="Machine Resources")
    page.page.wait_for_selector(".recharts-surface", timeout=20000)
    page.page.evaluate(
        """() => {
          const { shell } = window.jupyterapp;
          const all = [...shell.widgets('main')];
          const ours = all.find(one => one.sessionContext);
          const theirs = all.find(one => one.id === 'machine-resource-widget');
          shell.add(theirs, 'main', { mode: 'split-right', ref: ours.id });
          shell.activateById(ours.id);
        }"""
    )
    return frames
