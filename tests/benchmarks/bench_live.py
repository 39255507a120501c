"""Live figures: the path picture and four charts while a transfer runs"""

from __future__ import annotations

import statistics
from typing import Any

from lab_page import LabPage
from report import Report, percentile, slope
from scene import (
    Meter,
    Spent,
    clock_shift_ms,
    open_lab,
    read_probe,
    run_cell,
    show_panel,
    start_probe,
    start_transfer,
    stop_transfer,
    wait_for_picture,
)

#: Seconds of rest before a window begins: a page and a kernel have loose ends after a start.
SETTLE_S = 4.0


def percent(spent: Spent, name: str) -> float:
    return float(100 * getattr(spent, name))


def watched(
    page: LabPage, meter: Meter, seconds: float, rate_hz: float
) -> tuple[Spent, dict[str, Any], float]:
    """Run a transfer in sight of the page; return the cost, what the probe saw, and the clock's shift."""
    start_transfer(page, seconds + 60, rate_hz=rate_hz)
    page.page.wait_for_timeout(SETTLE_S * 1000)
    shift = clock_shift_ms(page)
    start_probe(page)
    spent = meter.over(seconds)
    seen = read_probe(page)
    stop_transfer(page)
    return spent, seen, shift


def ages(seen: dict[str, Any], shift_ms: float) -> tuple[list[float], list[float], list[float]]:
    """Return per update, in milliseconds: sent to painted, measured to painted, arrived to painted."""
    rows = seen["rows"]
    return (
        [row["painted"] - row["at"] for row in rows],
        [row["painted"] - (1000 * row["t"] + shift_ms) for row in rows],
        [row["painted"] - row["arrived"] for row in rows],
    )


def test_four_figures_at_5_hz(lab_page: LabPage, report: Report, seconds: float) -> None:
    page, quiet = lab_page, min(seconds, 20.0)
    meter = open_lab(page, "live", panel=False)
    page.page.wait_for_timeout(SETTLE_S * 1000)
    alone = meter.over(quiet)
    start_transfer(page, quiet + 60)
    page.page.wait_for_timeout(SETTLE_S * 1000)
    unseen = meter.over(quiet)
    stop_transfer(page)
    page.tell_kernel("panel = gdviz.TransferPanel(lab)")
    run_cell(page, "panel")
    wait_for_picture(page)
    show_panel(page)
    page.page.wait_for_timeout(SETTLE_S * 1000)
    idle = meter.over(quiet)
    spent, seen, shift = watched(page, meter, seconds, 5.0)
    sent, measured, arrived = ages(seen, shift)

    rate = len(seen["rows"]) / spent.wall_s
    report.add("updates painted a second", rate, "Hz")
    report.add(
        "kernel CPU for the view (watched - unwatched)",
        percent(spent, "kernel") - percent(unseen, "kernel"),
        "%",
        below=5,
    )
    report.add("  kernel, watched transfer, all", percent(spent, "kernel"), "%")
    report.add("  kernel, same transfer without a view", percent(unseen, "kernel"), "%")
    report.add("  kernel, idle with a view", percent(idle, "kernel"), "%")
    report.add("  kernel, idle without a view", percent(alone, "kernel"), "%")
    report.add("browser main thread, watched transfer", percent(spent, "main"), "%", below=50)
    report.add("  of that, on a core", percent(spent, "main_cpu"), "%")
    report.add("  of that, script", percent(spent, "script"), "%")
    report.add("  of that, layout and style", percent(spent, "layout") + percent(spent, "style"), "%")
    report.add("  main thread, idle with a view", percent(idle, "main"), "%")
    report.add("all processes of the browser", percent(spent, "chromium"), "%")
    report.add("server process", percent(spent, "server"), "%")
    for what, values, goal in (
        ("sample sent to pixel, median", sent, 300),
        ("sample measured to pixel, median", measured, 300),
        ("  arrived in the page to pixel, median", arrived, None),
    ):
        report.add(
            what, statistics.median(values), "ms", spread=(min(values), percentile(values, 99)), judge=None
        )
        report.add(what.replace("median", "p95"), percentile(values, 95), "ms", below=goal)
    _paints(report, seen, spent.wall_s, "5 Hz")
    report.raw["at_5_hz"] = {"sent_ms": sent, "measured_ms": measured, "arrived_ms": arrived}
    page.screenshot("5hz")
    page.assert_clean()


def _paints(report: Report, seen: dict[str, Any], wall_s: float, at: str) -> None:
    for name, times in sorted(seen["paints"].items()):
        if times > wall_s / 2:
            each = seen["spent"][name] / times
            report.note(
                f"{at}: {name} painted {times / wall_s:.1f} times a second, {each:.1f} ms of script each"
            )


def test_no_backlog_at_10_hz(lab_page: LabPage, report: Report, seconds: float) -> None:
    meter = open_lab(lab_page, "fast")
    lab_page.page.wait_for_timeout(SETTLE_S * 1000)
    spent, seen, shift = watched(lab_page, meter, seconds, 10.0)
    sent, measured, _arrived = ages(seen, shift)
    when = [row["painted"] / 1000 for row in seen["rows"]]
    rise, error = slope(when, sent)
    drift = rise * seconds
    report.add("10 Hz: updates painted a second", len(when) / spent.wall_s, "Hz")
    report.add(
        "10 Hz: growth of a sample's age in the window",
        drift,
        "ms",
        below=100,
        spread=(drift - 2 * error * seconds, drift + 2 * error * seconds),
    )
    third = max(1, len(sent) // 3)
    report.add("10 Hz: age when painted, first third, median", statistics.median(sent[:third]), "ms")
    report.add("10 Hz: age when painted, last third, median", statistics.median(sent[-third:]), "ms")
    report.add("10 Hz: sample sent to pixel, p95", percentile(sent, 95), "ms", below=300)
    report.add("10 Hz: sample measured to pixel, p95", percentile(measured, 95), "ms", below=300)
    report.add("10 Hz: kernel, all", percent(spent, "kernel"), "%")
    report.add("10 Hz: browser main thread", percent(spent, "main"), "%")
    report.add("10 Hz:   of that, on a core", percent(spent, "main_cpu"), "%")
    _paints(report, seen, spent.wall_s, "10 Hz")
    report.raw["at_10_hz"] = {"sent_ms": sent, "painted_s": when}
    lab_page.assert_clean()


def test_where_the_page_spends_its_time(lab_page: LabPage, report: Report) -> None:
    meter = open_lab(lab_page, "profile")
    start_transfer(lab_page, 60)
    lab_page.page.wait_for_timeout(SETTLE_S * 1000)
    shares = meter.profile(10)
    stop_transfer(lab_page)
    report.raw["profile"] = shares[:60]
    busy = [(name, share) for name, share in shares if not name.startswith(("(idle)", "(root)"))]
    for name, share in busy[:8]:
        report.note(f"own time in the page at 5 Hz: {share:6.1%}  {name}")
