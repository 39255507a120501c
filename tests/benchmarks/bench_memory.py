"""Memory of the kernel and of the page while a transfer runs"""

from __future__ import annotations

import time

import pytest
from lab_page import LabPage
from report import Report, slope
from scene import open_lab, start_transfer, stop_transfer

#: Seconds between two readings.
EVERY_S = 10.0

MIB = 2.0**20


@pytest.mark.timeout(3600)
def test_memory(lab_page: LabPage, report: Report, minutes: float) -> None:
    meter = open_lab(lab_page, "memory")
    start_transfer(lab_page, minutes * 60 + 120)
    start = time.monotonic()
    readings: list[dict[str, float]] = []
    while (spent := time.monotonic() - start) <= minutes * 60:
        metrics = meter.metrics()
        readings.append(
            {
                "s": spent,
                "kernel": meter.kernel_bytes() / MIB,
                "server": meter.server_bytes() / MIB,
                "heap": meter.heap_bytes() / MIB,
                "nodes": metrics["Nodes"],
                "listeners": metrics["JSEventListeners"],
            }
        )
        lab_page.page.wait_for_timeout(EVERY_S * 1000)
    stop_transfer(lab_page)
    report.raw["readings"] = readings
    # Caches fill and the source reaches its length in the first two minutes (a fifth of a shorter run).
    settled = [one for one in readings if one["s"] >= min(120.0, minutes * 60 / 5)]
    when = [one["s"] / 60 for one in settled]
    for name, what, unit, most in (
        ("kernel", "kernel, resident", "MiB", 0.5),
        ("heap", "page, JavaScript heap after collection", "MiB", 0.5),
        ("server", "server, resident", "MiB", None),
        ("nodes", "page, DOM nodes", "", None),
        ("listeners", "page, event listeners", "", None),
    ):
        values = [one[name] for one in settled]
        report.add(f"{what}, after the first minutes", values, unit)
        rise, error = slope(when, values)
        spread = (rise - 2 * error, rise + 2 * error)
        report.add("  growth", rise, f"{unit}/min".strip(), below=most, spread=spread)
    report.note(f"{minutes:g} minutes; no growth is judged as less than 0.5 MiB a minute")
    lab_page.assert_clean()
