"""Machines that lack something, and arguments that are none: sentences instead of tracebacks."""

from __future__ import annotations

import asyncio
import gc
import warnings
from pathlib import Path

import pytest

from gdviz.errors import GdvizError, SessionClosedError
from gdviz.machine import reference_machine
from gdviz.rdma.simulated import SimulatedHost
from gdviz.session import Session
from gdviz.widgets import BuffersPanel, Lab, TransferPanel, lab
from gdviz.widgets.lab_view import LabView

NOTHING = '<system version="1"/>'
ONLY_CPU = '<system version="1"><cpu numaid="0" affinity="ff" arch="x86_64" vendor="GenuineIntel"/></system>'


def settle(session: Session) -> None:
    async def turns() -> None:
        for _turn in range(50):
            await asyncio.sleep(0)

    session.ask(turns())


@pytest.fixture
def empty(tmp_path: Path):
    path = tmp_path / "empty.xml"
    path.write_text(NOTHING)
    with lab(path) as opened:
        yield opened


def test_a_machine_without_memory_says_so(empty: Lab) -> None:
    panel = BuffersPanel(empty)
    settle(empty.session)
    panel.controls.act(panel._alloc())
    settle(empty.session)
    assert "neither a GPU nor a CPU" in panel.controls.message.value


@pytest.mark.parametrize("content", [NOTHING, ONLY_CPU])
def test_a_machine_without_nics_opens_and_says_what_it_lacks(tmp_path: Path, content: str) -> None:
    path = tmp_path / "machine.xml"
    path.write_text(content)
    with lab(path) as opened:
        panel = TransferPanel(opened)
        panel.start_button.click()
        settle(opened.session)
        assert "has no NIC" in panel.controls.message.value
        assert opened.session.state.watchers.failures == []


def test_start_leaves_no_buffer_behind_where_memory_cannot_be_registered() -> None:
    machine = reference_machine("pcie-a30")
    host = SimulatedHost(dma_buf=False, peermem=False)
    with Session.simulated([machine.renamed("a"), machine.renamed("b")], host=host) as session:
        panel = TransferPanel(session)
        panel.start_button.click()
        panel.start_button.click()
        settle(session)
        assert "Not done" in panel.controls.message.value
        assert session.buffers == ()


@pytest.mark.parametrize("source", [1.5, {}, object(), b"topo.xml", [], ["dgx-a100"], "a" * 5000, "a\0b"])
def test_what_is_no_machine_gets_a_sentence(source: object) -> None:
    with pytest.raises(GdvizError):
        lab(source)


@pytest.mark.parametrize("nodes", [0, -1, 27, 1.5, None, "2"])
def test_a_wrong_number_of_nodes_gets_a_sentence(nodes: object) -> None:
    with pytest.raises(GdvizError, match="nodes"):
        lab(nodes=nodes)


def test_a_panel_of_nothing_gets_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    ignored: list[object] = []
    monkeypatch.setattr("sys.unraisablehook", ignored.append)
    with pytest.raises(GdvizError, match="session or a lab"):
        TransferPanel(None)
    gc.collect()
    assert ignored == []


def test_a_closed_lab_shows_that_it_is_closed() -> None:
    opened = lab("pcie-a30")
    view = opened.view
    assert "widget-view" in str(opened._repr_mimebundle_())
    opened.close()
    assert "closed" in opened._repr_mimebundle_()["text/plain"]
    with pytest.raises(SessionClosedError):
        opened.view  # noqa: B018  (asking for it raises)
    view.go(2)


def test_buttons_of_a_closed_session_say_so_and_leave_no_coroutine() -> None:
    with lab("pcie-a30") as opened:
        panel = TransferPanel(opened)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        panel.start_button.click()
        gc.collect()
    assert "closed" in panel.controls.message.value
    assert [str(warning.message) for warning in seen if "awaited" in str(warning.message)] == []


@pytest.mark.parametrize("step", [-1, 7, 1.5, None, "2"])
def test_a_step_that_is_none_gets_a_sentence(step: object) -> None:
    with lab("pcie-a30") as opened, pytest.raises(GdvizError, match="step"):
        LabView(opened.session).go(step)
