"""The whole lab in one cell: its seven steps, at the sizes of a laptop and of a projector."""

from __future__ import annotations

import pytest
from lab_page import LabPage

pytestmark = pytest.mark.timeout(400)


@pytest.fixture
def lab(lab_page: LabPage) -> LabPage:
    """The lab in a notebook of its own."""
    lab_page.execute("application:toggle-left-area")
    lab_page.open("lab.ipynb")
    lab_page.run_all()
    lab_page.page.locator(".gdviz-panel .bk-Plot, .gdviz-panel .bk-Figure").first.wait_for(timeout=30000)
    return lab_page


def step(page: LabPage, name: str) -> None:
    """Choose a step of the lab."""
    page.page.locator(".gdviz-steps button", has_text=name).click()
    page.page.wait_for_timeout(700)


def picture(page: LabPage, label: str) -> None:
    """Keep a picture of the lab alone, without JupyterLab around it."""
    panel = page.page.locator(".gdviz-panel").first
    panel.scroll_into_view_if_needed()
    panel.screenshot(path=page.picture_path(label))


@pytest.mark.parametrize("size", [(1280, 800), (1024, 768)], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("look", ["Light", "Dark"])
def test_all_steps(lab: LabPage, size: tuple[int, int], look: str) -> None:
    lab.page.set_viewport_size({"width": size[0], "height": size[1]})
    lab.theme(f"JupyterLab {look}")
    tag = f"{look.lower()}-{size[0]}"
    step(lab, "Machine")
    picture(lab, f"machine-{tag}")
    step(lab, "Transfer")
    lab.page.get_by_role("button", name="Start", exact=True).click()
    lab.page.wait_for_timeout(4000)
    picture(lab, f"transfer-{tag}")
    lab.page.get_by_role("button", name="Stop", exact=True).click()
    lab.page.wait_for_function(
        "() => [...document.querySelectorAll('.gdviz-status')].some(e => e.innerText.includes('stopped'))"
    )
    step(lab, "Buffers")
    picture(lab, f"buffers-{tag}")
    step(lab, "Register")
    picture(lab, f"register-{tag}")
    step(lab, "Compare")
    picture(lab, f"compare-{tag}")
    step(lab, "Slow motion")
    for _press in range(4):
        lab.page.get_by_role("button", name="Step", exact=True).click()
        lab.page.wait_for_timeout(200)
    picture(lab, f"slow-{tag}")
    step(lab, "Doctor")
    lab.page.locator(".gdviz-finding").first.wait_for(timeout=20000)
    picture(lab, f"doctor-{tag}")
    lab.assert_clean()
