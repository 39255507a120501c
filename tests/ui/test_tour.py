"""The tour in JupyterLab: run it, click a GPU and a NIC, start and stop a transfer, see it move."""

from __future__ import annotations

import re
from typing import Any

import pytest
from lab_page import LabPage

TOUR = "en/00-tour.ipynb"

#: The whole tour runs in each test, on a machine that may be busy.
pytestmark = pytest.mark.timeout(400)


@pytest.fixture
def tour(lab_page: LabPage) -> LabPage:
    """The tour, run from top to bottom."""
    lab_page.execute("application:toggle-left-area")
    lab_page.open(TOUR)
    lab_page.run_all(timeout_s=180)
    return lab_page


def scroll_to(page: LabPage, cell: str) -> None:
    """Bring a cell to the top of the notebook."""
    page.page.evaluate(
        """id => {
            const cells = [...window.jupyterapp.shell.currentWidget.content.widgets]
            cells.find(cell => cell.model.id == id).node.scrollIntoView({block: "start"})
        }""",
        cell,
    )
    page.page.wait_for_timeout(300)


def click_part(page: LabPage, panel: str, node: int, part: str) -> None:
    """Click a part's box in a panel's picture, where the layout says it is."""
    x, y, width = page.ask_kernel(
        f"(lambda box, w: [(box.rect[0] + box.rect[2]) / 2, (box.rect[1] + box.rect[3]) / 2, w])("
        f"{panel}.stage.picture.layout.nodes[{node}].boxes[{part!r}], "
        f"{panel}.stage.picture.root.x_range.end)"
    )
    root = page.ask_kernel(f"{panel}.stage.picture.root.id")
    frame = page.page.evaluate(
        """id => {
            for (const view of Object.values(window.Bokeh.index.roots ?? window.Bokeh.index)) {
                const views = [view, ...(view.child_views ?? [])]
                const found = views.find(v => v.model.id == id)
                if (found) {
                    const box = found.el.getBoundingClientRect()
                    const frame = found.frame.bbox
                    return {left: box.left + frame.left, top: box.top + frame.top, width: frame.width}
                }
            }
            return null
        }""",
        root,
    )
    assert frame, "the picture is not on the page"
    scale = frame["width"] / width
    page.page.mouse.click(frame["left"] + x * scale, frame["top"] + y * scale)


def until(page: LabPage, expression: str, wanted: Any, timeout_s: float = 10) -> None:
    """Wait until an expression in the kernel has a value."""
    seen = None
    for _attempt in range(int(timeout_s / 0.2)):
        seen = page.ask_kernel(expression)
        if seen == wanted:
            return
        page.page.wait_for_timeout(200)
    raise AssertionError(f"{expression} is {seen!r}, not {wanted!r}")


def newest_row(page: LabPage) -> Any:
    """Return time and bandwidth of the newest row that the page holds, or None."""
    source = page.ask_kernel("live.stage.charts.source.id")
    return page.page.evaluate(
        """id => {
            for (const doc of window.Bokeh.documents) {
                const model = doc.get_model_by_id(id)
                if (model && model.data.t.length) {
                    return {t: model.data.t.at(-1), bandwidth: model.data.bandwidth.at(-1)}
                }
            }
            return null
        }""",
        source,
    )


def test_a_click_on_a_gpu_and_a_nic_shows_the_path(tour: LabPage) -> None:
    scroll_to(tour, "machine")
    gpu = tour.ask_kernel("a.machine.gpus[2].id")
    click_part(tour, "machine", 0, gpu)
    until(tour, "machine.gpu.value", gpu)
    click_part(tour, "machine", 0, "mlx5_5")
    until(tour, "machine.nic.value", "mlx5_5")
    until(tour, "'SYS' in machine.controls.message.value", wanted=True)
    panel = tour.page.locator(".gdviz-controls").first
    assert "narrowest" in panel.inner_text()
    tour.screenshot("path")
    click_part(tour, "machine", 0, gpu)
    until(tour, "machine.gpu.value", "")
    tour.assert_clean()


def test_a_transfer_is_started_watched_and_stopped(tour: LabPage) -> None:
    scroll_to(tour, "transfer")
    panel = tour.page.locator(
        ".gdviz-panel", has=tour.page.get_by_role("button", name="Start", exact=True)
    ).first
    panel.get_by_role("button", name="staged").click()
    before = tour.ask_kernel("len(lab.session.transfers)")
    panel.get_by_role("button", name="Start", exact=True).click()
    until(tour, "len(lab.session.transfers)", before + 1)
    tour.page.wait_for_timeout(1500)
    first = newest_row(tour)
    tour.page.wait_for_timeout(1500)
    second = newest_row(tour)
    assert first is not None
    assert second is not None
    assert second["t"] > first["t"] + 1, "the live figures do not move"
    assert second["bandwidth"] > 1, "GB/s"
    tour.screenshot("transfer")
    panel.get_by_role("button", name="Stop", exact=True).click()
    until(tour, "lab.session.transfers[-1].state.value", "stopped", timeout_s=3)
    expected = tour.ask_kernel("live.transfer.prediction.bandwidth_bytes_per_s / 1e9")
    measured = tour.ask_kernel("live.transfer.result.bandwidth_bytes_per_s / 1e9")
    assert measured == pytest.approx(expected, rel=0.05)
    # The Python side holds each point once, though the page sends every row back.
    times = tour.ask_kernel("list(live.stage.charts.source.data['t'])")
    assert len(times) == len(set(times))
    assert times == sorted(times)
    tour.assert_clean()


def test_the_figures_are_there_again_after_a_reload(tour: LabPage) -> None:
    tour.save()
    # What has just changed is put into words once it has come to rest.
    tour.page.wait_for_timeout(2000)
    shown = tour.ask_kernel("live.stage.charts.source.data['t'][-1]")
    tour.reload()
    tour.wait_for_kernel()
    scroll_to(tour, "transfer")
    start = tour.page.get_by_role("button", name="Start", exact=True)
    panel = tour.page.locator(".gdviz-panel", has=start).first
    panel.locator(".bk-Figure").first.wait_for(timeout=60000)
    tour.page.wait_for_timeout(500)
    assert newest_row(tour)["t"] == pytest.approx(shown), "the page has not the figure as it is now"
    tour.assert_clean()


def test_every_panel_shows_in_both_looks_and_sizes(tour: LabPage) -> None:
    cells = ("machine", "buffers", "register", "transfer", "compare-panel", "slow", "whole")
    for theme, look in (("JupyterLab Light", "light"), ("JupyterLab Dark", "dark")):
        tour.theme(theme)
        for width, height in ((1280, 800), (1024, 768)):
            tour.page.set_viewport_size({"width": width, "height": height})
            for cell in cells:
                scroll_to(tour, cell)
                tour.screenshot(f"{cell}-{look}-{width}")
    tour.assert_clean()


def test_the_saved_tour_is_small(tour: LabPage) -> None:
    saved = tour.save()
    text = re.sub(r"\s+", " ", str(saved))
    assert len(text) < 100_000
    assert "application/javascript" not in text
