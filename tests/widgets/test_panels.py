"""The panels, driven through their controls as the page drives them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest
from bokeh.events import Tap

from gdviz.clock import SteppedClock
from gdviz.machine import Notice, reference_machine
from gdviz.rdma import TransferState, WcStatus
from gdviz.rdma.simulated import SimulatedHost
from gdviz.session import Session
from gdviz.widgets import (
    BuffersPanel,
    ComparePanel,
    MachinePanel,
    RegisterPanel,
    SlowMotionPanel,
    TransferPanel,
)
from gdviz.widgets.lab_view import STEPS, LabView

Settle = Callable[[], None]


def tap(panel: MachinePanel, node: int, part: str) -> None:
    """Click a part's box, as the page tells of it."""
    left, top, right, bottom = panel.stage.picture.layout.nodes[node].boxes[part].rect
    event = Tap(panel.stage.picture.root, x=(left + right) / 2, y=(top + bottom) / 2)
    panel.session.engine.loop.call_soon_threadsafe(panel.stage.picture._tapped, event)


def test_clicks_choose_a_path_and_let_it_go(session: Session, settle: Settle) -> None:
    panel = MachinePanel(session)
    gpu = session.nodes[0].machine.gpus[2].id
    tap(panel, 0, gpu)
    settle()
    assert panel.gpu.value == gpu
    tap(panel, 0, "mlx5_2")
    settle()
    assert "PIX" in panel.controls.message.value
    assert "narrowest" in panel.hops.value
    assert "GPU 2" in str(panel.stage.picture)
    tap(panel, 0, gpu)
    settle()
    assert panel.gpu.label == "–"
    assert panel.hops.value == ""


def test_a_click_on_the_other_node_starts_there(session: Session, settle: Settle) -> None:
    panel = MachinePanel(session)
    tap(panel, 0, "mlx5_1")
    settle()
    tap(panel, 1, "mlx5_7")
    settle()
    assert (panel.node.value, panel.nic.value) == (1, "mlx5_7")


def test_the_same_by_keyboard(session: Session, settle: Settle) -> None:
    panel = MachinePanel(session)
    settle()
    panel.gpu.value = session.nodes[0].machine.gpus[0].id
    panel.nic.value = "mlx5_7"
    settle()
    assert "SYS" in panel.controls.message.value
    assert panel.stage.picture.selected(0) == (panel.gpu.value, "mlx5_7")


def test_buffers_come_and_go(session: Session, settle: Settle) -> None:
    panel = BuffersPanel(session)
    settle()
    assert "No buffers yet" in panel.listing.value
    panel.size.value = "1 MiB"
    press(panel, "Allocate")
    settle()
    assert len(session.buffers) == 1
    assert "1 MiB" in panel.listing.value
    press(panel, "Free")
    settle()
    assert session.buffers == ()
    assert panel.chosen.value is None


@pytest.mark.parametrize("size", ["", "abc", "1e999 GiB", "-5", "0", "900 GiB"])
def test_a_bad_size_is_one_sentence(session: Session, settle: Settle, size: str) -> None:
    panel = BuffersPanel(session)
    panel.size.value = size
    press(panel, "Allocate")
    settle()
    assert "Not done" in panel.controls.message.value
    assert "Traceback" not in panel.controls.message.value
    assert session.buffers == ()


def test_registration_shows_keys_pages_and_translation(session: Session, settle: Settle) -> None:
    session.nodes[0].gpu(3).alloc("1 MiB")
    panel = RegisterPanel(session)
    settle()
    assert panel.nic.value == "mlx5_3", "the nearest is offered first"
    press(panel, "Register")
    settle()
    (region,) = session.regions
    assert f"{region.rkey:#x}" in panel.listing.value
    assert "16 ×" in panel.listing.value
    assert f"{region.address:#x}" in str(panel.picture)
    press(panel, "Deregister")
    settle()
    assert session.regions == ()


def test_remote_write_without_local_write_is_refused(session: Session, settle: Settle) -> None:
    session.nodes[0].gpu(0).alloc("1 MiB")
    panel = RegisterPanel(session)
    settle()
    next(iter(panel.flags.values())).value = False
    press(panel, "Register")
    settle()
    assert "Not done" in panel.controls.message.value
    assert session.regions == ()


def test_a_transfer_without_regions_makes_a_pair(session: Session, settle: Settle) -> None:
    panel = TransferPanel(session)
    settle()
    panel.limit.value = "500"
    panel.start_button.click()
    settle()
    transfer = panel.transfer
    assert transfer is not None
    result = transfer.wait(10)
    settle()
    assert (result.messages, result.status) == (500, WcStatus.SUCCESS)
    assert [transfer.local.record.node, transfer.remote.record.node] == ["node-a", "node-b"]
    assert transfer.verify()
    assert "Completed" in panel.controls.message.value
    assert "model" in panel.result.value
    assert not panel.start_button.disabled


@pytest.mark.parametrize(
    ("mistake", "operation", "status"),
    [
        ("wrong rkey", "write", "REM_ACCESS_ERR"),
        ("past the end", "write", "REM_ACCESS_ERR"),
        ("no receives (send)", "write", "RNR_RETRY_EXC_ERR"),
    ],
)
def test_a_broken_rule_shows_its_status(
    session: Session, settle: Settle, mistake: str, operation: str, status: str
) -> None:
    panel = TransferPanel(session)
    settle()
    panel.op.value = operation
    panel.mistake.value = mistake
    panel.limit.value = "10"
    panel.start_button.click()
    settle()
    assert panel.transfer is not None
    panel.transfer.wait(10)
    settle()
    assert panel.transfer.state is TransferState.FAILED
    assert status in panel.controls.message.value
    assert "Not done" in panel.controls.message.value


@pytest.mark.parametrize(
    ("control", "text"),
    [("size", "many"), ("limit", "soon"), ("limit", "0"), ("size", "4 GiB"), ("limit", "")],
)
def test_bad_fields_are_one_sentence(session: Session, settle: Settle, control: str, text: str) -> None:
    panel = TransferPanel(session)
    settle()
    getattr(panel, control).value = text
    panel.start_button.click()
    settle()
    assert "Not done" in panel.controls.message.value
    assert not any(transfer.state is TransferState.RUNNING for transfer in session.transfers)


def test_the_chosen_path_is_lit_before_anything_runs(session: Session, settle: Settle) -> None:
    for node in session.nodes:
        node.nic(0).register(node.gpu(0).alloc("1 MiB"))
    panel = TransferPanel(session)
    settle()
    assert str(panel.stage.picture).startswith("direct")
    panel.path.value = "staged"
    settle()
    assert str(panel.stage.picture).startswith("staged")
    panel.size.value = "half ty"
    settle()
    assert str(panel.stage.picture).startswith("staged")


def test_comparing_draws_the_models_curves_before_anything_runs(session: Session, settle: Settle) -> None:
    node_a, node_b = session.nodes
    node_a.nic(0).register(node_a.gpu(0).alloc("1 MiB"))
    node_b.nic(0).register(node_b.gpu(0).alloc("1 MiB"))
    panel = ComparePanel(session)
    settle()
    text = str(panel.sweep)
    assert "1 MiB" in text
    panel.start_button.click()
    settle()
    assert panel.comparison is not None
    panel.comparison.wait(60)
    settle()
    assert "Done" in panel.controls.message.value
    assert len(panel.comparison.measured["direct"]) == len(panel.comparison.sizes)


def test_slow_motion_steps_from_event_to_event(session: Session, settle: Settle) -> None:
    panel = SlowMotionPanel(session)
    settle()
    assert "work queue entry" in panel.controls.message.value
    seen = [panel.controls.message.value]
    for _step in range(40):
        press(panel, "Step")
        settle()
        if panel.controls.message.value == seen[-1]:
            break
        seen.append(panel.controls.message.value)
    sentences = " ".join(seen)
    for words in ("doorbell", "reads the work queue entry", "packet", "writes", "acknowledges", "polls"):
        assert words in sentences
    assert "Done" in seen[-1]
    press(panel, "Back")
    settle()
    assert "Done" not in panel.controls.message.value


def test_the_staged_message_shows_the_copies(session: Session, settle: Settle) -> None:
    panel = SlowMotionPanel(session)
    settle()
    panel.path.value = "staged"
    settle()
    assert {"copy_launch", "copy", "copy_wait"} <= {stage.key for stage in panel.stages}


def test_the_lab_goes_through_all_steps(session: Session, settle: Settle) -> None:
    view = LabView(session)
    settle()
    for number, step in enumerate(STEPS):
        view.steps.value = number
        settle()
        assert isinstance(view.panels[number], step)
        assert view.body.children == (view.panels[number].view, view.panels[number].controls)
        assert "Error" not in view.panels[number].controls.message.value
    assert session.state.watchers.failures == []
    assert "simulated" in view.status.value
    view.close()
    view.close()


def test_where_nothing_can_be_registered_staged_still_works(settle: Settle) -> None:
    machine = reference_machine("hgx-h100")
    nodes = [machine.renamed("a"), machine.renamed("b")]
    host = SimulatedHost(dma_buf=False, peermem=False)
    with Session.simulated(nodes, host=host, clock=SteppedClock(autojump=True)) as session:
        panel = TransferPanel(session)
        panel.limit.value = "100"
        for path, done in (("direct", False), ("staged", True), ("staged", True)):
            panel.path.value = path
            panel.start_button.click()
            session.ask(_turns())
            assert ("Completed" in panel.controls.message.value) is done
            assert len(session.buffers) == (2 if done else 0)
        slow = SlowMotionPanel(session)
        session.ask(_turns())
        assert "work queue entry" in slow.controls.message.value
        compare = ComparePanel(session)
        compare.start_button.click()
        session.ask(_turns())
        assert compare.comparison is not None
        compare.comparison.wait(60)
        session.ask(_turns())
        assert "Only the staged path was measured" in compare.controls.message.value
        assert "dma-buf" in compare.controls.message.value


async def _turns() -> None:
    for _turn in range(200):
        await asyncio.sleep(0)


def test_what_a_file_could_not_say_stands_in_the_status_line(settle: Settle) -> None:
    notices = (Notice("pci <b>x</b> has no class.", 7), Notice("Another."))
    machine = replace(reference_machine("pcie-a30"), notices=notices)
    with Session.simulated([machine], clock=SteppedClock(autojump=True)) as session:
        view = LabView(session)
        assert "line 7: pci &lt;b&gt;x&lt;/b&gt; has no class. (1 more" in view.status.value
        view.close()


def press(panel: object, label: str) -> None:
    """Press the button of that label."""
    import ipywidgets as w

    stack = list(panel.controls.children)
    while stack:
        child = stack.pop()
        if isinstance(child, w.Button) and child.description == label:
            child.click()
            return
        stack += getattr(child, "children", ())
    raise AssertionError(f"no button {label!r}")
