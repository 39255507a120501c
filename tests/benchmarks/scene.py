"""Scenes of the browser benchmarks: notebooks, meters of processes and of pages."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from lab_page import LabPage

PROBE = (Path(__file__).parent / "probe.js").read_text(encoding="utf-8")

#: A lab of two nodes and the ends of a transfer; the transfer's panel comes in a cell of its own.
SETUP = """
import gdviz
from gdviz.clock import timestamp
lab = gdviz.lab()
a, b = lab.nodes
src = a.nic(0).register(a.gpu(0).alloc("64 MiB", fill="counter"))
dst = b.nic(0).register(b.gpu(0).alloc("64 MiB", fill="zeros"), access="local_write|remote_write")
"""
PANEL = "panel = gdviz.TransferPanel(lab)\npanel"


def write_notebook(page: LabPage, name: str, cells: list[str]) -> str:
    """Put a notebook of these cells into the server's root; return its path there."""
    content = {
        "cells": [
            {
                "cell_type": "code",
                "id": f"cell-{number}",
                "execution_count": None,
                "metadata": {},
                "outputs": [],
                "source": cell.strip(),
            }
            for number, cell in enumerate(cells)
        ],
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    path = f"{name}.ipynb"
    (page.server.root / path).write_text(json.dumps(content), encoding="utf-8")
    return path


@dataclass(frozen=True)
class Spent:
    """What one window of time cost, as shares of one core (1 is a whole core).

    `main` is how long the page's main thread was busy, of it `script`, `layout` and `style`, `main_cpu` how
    long it ran: less, where other processes took its core meanwhile. `chromium` is all its processes.
    """

    wall_s: float
    kernel: float
    server: float
    main: float
    main_cpu: float
    script: float
    layout: float
    style: float
    chromium: float


class Meter:
    """Measures the page, its kernel and its server over windows of time.

    Parameters
    ----------
    page
        A page with an open notebook.
    """

    def __init__(self, page: LabPage) -> None:
        self.page = page
        self.kernel = psutil.Process(page.ask_kernel("__import__('os').getpid()"))
        self.server = self.kernel.parent()
        self._cdp = page.page.context.new_cdp_session(page.page)
        self._cdp.send("Performance.enable")

    def metrics(self) -> dict[str, float]:
        """Return Chromium's own counters of the page."""
        answer = self._cdp.send("Performance.getMetrics")
        return {one["name"]: one["value"] for one in answer["metrics"]}

    def heap_bytes(self) -> float:
        """Return the page's live JavaScript memory, after a collection."""
        for _ in range(2):
            self._cdp.send("HeapProfiler.collectGarbage")
        return self.metrics()["JSHeapUsedSize"]

    def kernel_bytes(self) -> float:
        """Return the kernel's resident memory."""
        return float(self.kernel.memory_info().rss)

    def server_bytes(self) -> float:
        """Return the server's resident memory."""
        return float(self.server.memory_info().rss) if self.server else 0.0

    def over(self, seconds: float) -> Spent:
        """Wait for a window of time and return what it cost."""
        before = self._counters()
        self.page.page.wait_for_timeout(seconds * 1000)
        after = self._counters()
        change = {name: after[name] - before[name] for name in before}
        wall = change.pop("wall")
        return Spent(wall, **{name: value / wall for name, value in change.items()})

    def _counters(self) -> dict[str, float]:
        page = self.metrics()
        return {
            "wall": time.perf_counter(),
            "kernel": cpu_s(self.kernel),
            "server": cpu_s(self.server) if self.server else 0.0,
            "main": page["TaskDuration"],
            "main_cpu": page["ThreadTime"],
            "script": page["ScriptDuration"],
            "layout": page["LayoutDuration"],
            "style": page["RecalcStyleDuration"],
            "chromium": sum(map(cpu_s, chromium())),
        }

    def profile(self, seconds: float) -> list[tuple[str, float]]:
        """Return where the main thread's script spends its time: functions and shares, own time."""
        self._cdp.send("Profiler.enable")
        self._cdp.send("Profiler.setSamplingInterval", {"interval": 500})
        self._cdp.send("Profiler.start")
        self.page.page.wait_for_timeout(seconds * 1000)
        profile = self._cdp.send("Profiler.stop")["profile"]
        names = {}
        for node in profile["nodes"]:
            frame = node["callFrame"]
            file = frame["url"].rsplit("/", 1)[-1].split("?")[0]
            names[node["id"]] = f"{frame['functionName'] or '(anonymous)'} {file}:{frame['lineNumber'] + 1}"
        shares: dict[str, float] = {}
        total = sum(profile["timeDeltas"])
        for node, delta in zip(profile["samples"], profile["timeDeltas"], strict=True):
            shares[names[node]] = shares.get(names[node], 0.0) + delta / total
        return sorted(shares.items(), key=lambda item: -item[1])


def cpu_s(process: psutil.Process) -> float:
    """Return a process's seconds of CPU so far; 0 when it has ended."""
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)


def chromium() -> list[psutil.Process]:
    """Return the processes of the browser that this process started."""
    children = psutil.Process().children(recursive=True)
    found = []
    for child in children:
        try:
            if "chrom" in child.name():
                found.append(child)
        except psutil.Error:
            continue
    return found


def wait_for_picture(page: LabPage, timeout_s: float = 60) -> None:
    """Wait until all figures on the page are drawn."""
    page.page.wait_for_function(
        "() => (window.Bokeh?.documents ?? []).some(d => d.roots().length > 0 && d.is_idle)",
        timeout=timeout_s * 1000,
    )
    page.page.wait_for_timeout(500)


def open_lab(page: LabPage, name: str, *, panel: bool = True) -> Meter:
    """Open a notebook with a lab, run it, and show the transfer's panel."""
    page.open(write_notebook(page, name, [SETUP, PANEL] if panel else [SETUP]))
    page.run_all()
    if panel:
        wait_for_picture(page)
        show_panel(page)
    return Meter(page)


def show_panel(page: LabPage) -> None:
    """Scroll to the panel: a browser draws nothing that is out of sight."""
    page.page.evaluate(
        "() => document.querySelector('.gdviz-panel')?.scrollIntoView({block: 'start', behavior: 'instant'})"
    )
    page.page.wait_for_timeout(300)


def run_cell(page: LabPage, code: str) -> None:
    """Add a cell at the end of the notebook and run it."""
    page.page.evaluate(
        """() => {
          const content = window.jupyterapp.shell.currentWidget.content;
          content.activeCellIndex = content.widgets.length - 1;
        }"""
    )
    page.execute("notebook:insert-cell-below")
    page.page.evaluate(
        """code => {
          window.jupyterapp.shell.currentWidget.content.activeCell.model.sharedModel.setSource(code);
        }""",
        code,
    )
    page.execute("notebook:run-cell")


def start_transfer(page: LabPage, seconds: float, *, rate_hz: float = 5.0, path: str = "direct") -> None:
    """Start a transfer of so many seconds, and wait until its first samples are drawn."""
    page.tell_kernel(
        f"""
if 'panel' in globals():
    from gdviz.widgets.live import Pace
    panel.stage.widget.pace = Pace({rate_hz!r})
t = gdviz.transfer(src, dst, path={path!r}, size="64 KiB", depth=64, qps=4, duration={f"{seconds:.0f} s"!r})
"""
    )


def stop_transfer(page: LabPage) -> None:
    """Stop the transfer and wait a moment for the last samples."""
    page.tell_kernel("t.stop()")
    page.page.wait_for_timeout(1500)


def start_probe(page: LabPage) -> None:
    """Put the probe into the page and start it anew."""
    page.page.evaluate(PROBE)
    page.page.evaluate(
        """() => {
          const probe = window.gdviz_probe;
          probe.look();
          probe.rows.length = 0;
          for (const key of Object.keys(probe.paints)) { probe.paints[key] = 0; probe.spent[key] = 0; }
        }"""
    )


def read_probe(page: LabPage) -> dict[str, Any]:
    """Return what the probe has seen since it was started."""
    found: dict[str, Any] = page.page.evaluate(
        """() => {
          const probe = window.gdviz_probe;
          return {rows: probe.rows, paints: probe.paints, spent: probe.spent, sources: probe.sources};
        }"""
    )
    return found


def clock_shift_ms(page: LabPage) -> float:
    """Return what to add to a sample's own time, in milliseconds, to get the wall's."""
    return 1000 * float(page.ask_kernel("timestamp() - lab.session.clock.now()"))
