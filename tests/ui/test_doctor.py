"""The doctor's panel: pairs as a matrix, a cell's path and findings, and what would change it."""

from __future__ import annotations

import pytest
from lab_page import LabPage

pytestmark = pytest.mark.timeout(400)


@pytest.fixture
def doctor(lab_page: LabPage) -> LabPage:
    """The panel in a notebook of its own."""
    lab_page.execute("application:toggle-left-area")
    lab_page.open("doctor.ipynb")
    lab_page.run_all()
    lab_page.page.locator(".gdviz-panel .bk-Figure").first.wait_for(timeout=30000)
    return lab_page


def picture(page: LabPage, label: str) -> None:
    page.page.wait_for_timeout(700)
    page.page.locator(".gdviz-panel").first.screenshot(path=page.picture_path(label))


@pytest.mark.parametrize("size", [(1280, 800), (1024, 768)], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("look", ["Light", "Dark"])
def test_report_cell_and_what_if(doctor: LabPage, size: tuple[int, int], look: str) -> None:
    page = doctor.page
    page.set_viewport_size({"width": size[0], "height": size[1]})
    doctor.theme(f"JupyterLab {look}")
    tag = f"{look.lower()}-{size[0]}"
    assert "peermem-missing" in page.locator(".gdviz-finding").first.inner_text()
    picture(doctor, f"doctor-{tag}")

    # Click the cell of the right node's first GPU and NIC.
    canvas = page.locator(".gdviz-panel .bk-Figure canvas").first
    box = canvas.bounding_box()
    assert box is not None
    where = doctor.ask_kernel(
        "next([x, y / panel.matrix.root.y_range.start] for x, y, pair in "
        "zip(*(panel.matrix.source.data[k] for k in ('x', 'y', 'pair'))) if 'right' in pair)"
    )
    frame = doctor.ask_kernel("panel.matrix.root.frame_height")
    top = box["y"] + 26  # below the title; a row is 30 px high
    page.mouse.click(box["x"] + box["width"] * where[0], top + frame * where[1])
    page.locator(".gdviz-panel .bk-Plot").first.wait_for(timeout=20000)
    assert "right: GPU0" in page.locator(".gdviz-controls").first.inner_text()
    picture(doctor, f"doctor-pair-{tag}")

    page.get_by_label("nvidia_peermem loaded").click()
    page.wait_for_function("() => document.body.innerText.includes('Computed anew')")
    assert doctor.ask_kernel("'peermem-missing' in panel.report.codes") is False
    picture(doctor, f"doctor-what-if-{tag}")
    doctor.assert_clean()


@pytest.mark.parametrize("look", ["Light", "Dark"])
def test_tooltips_have_the_colours_of_the_page(doctor: LabPage, look: str) -> None:
    page = doctor.page
    doctor.theme(f"JupyterLab {look}")
    page.locator(".gdviz-panel .bk-Figure").first.scroll_into_view_if_needed()
    # The theme gives the figure its look anew; what is hovered is what stands then.
    page.wait_for_timeout(1500)
    canvas = page.locator(".gdviz-panel .bk-Figure canvas").first
    box = canvas.bounding_box()
    assert box is not None
    where = doctor.ask_kernel("[panel.matrix.source.data['x'][0], panel.matrix.source.data['y'][0]]")
    rows = doctor.ask_kernel("panel.matrix.root.y_range.start")
    frame = doctor.ask_kernel("panel.matrix.root.frame_height")
    page.mouse.move(box["x"] + box["width"] * where[0], box["y"] + 26 + frame * where[1] / rows, steps=4)
    tip = page.locator(".bk-Tooltip").first
    tip.wait_for(timeout=10000)
    # The text stands in it as text, on JupyterLab's ground.
    assert "GPU0, mlx5_0" in tip.evaluate("tip => tip.shadowRoot.textContent")
    doctor.screenshot(f"tooltip-{look.lower()}")
    ground, expected = page.evaluate(
        """tip => {
          const probe = document.createElement('i');
          probe.style.color = 'var(--jp-layout-color1)';
          document.body.append(probe);
          const expected = getComputedStyle(probe).color;
          probe.remove();
          return [getComputedStyle(tip).backgroundColor, expected];
        }""",
        tip.element_handle(),
    )
    assert ground == expected
    doctor.assert_clean()
