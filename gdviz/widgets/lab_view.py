"""The lab's widget: a row of steps, the picture with the step's controls beside it, a status line."""

from __future__ import annotations

from html import escape
from os import PathLike

import ipywidgets as w

from gdviz.messages import _
from gdviz.quantities import whole_number
from gdviz.session import Event, Session, Topic
from gdviz.widgets.buffers import BuffersPanel
from gdviz.widgets.compare import ComparePanel
from gdviz.widgets.doctor_step import DoctorStep
from gdviz.widgets.machine import MachinePanel
from gdviz.widgets.panel import Panel
from gdviz.widgets.register import RegisterPanel
from gdviz.widgets.slow_motion import SlowMotionPanel
from gdviz.widgets.stage import Stage
from gdviz.widgets.style import style_sheet
from gdviz.widgets.transfer import TransferPanel

STEPS: tuple[type[Panel], ...] = (
    MachinePanel,
    BuffersPanel,
    RegisterPanel,
    TransferPanel,
    ComparePanel,
    SlowMotionPanel,
)


class LabView(w.VBox):  # type: ignore[misc]
    """All steps around one picture.

    Parameters
    ----------
    session
        The session.
    files
        What its machines were read from; the doctor reads it too.
    """

    def __init__(self, session: Session, files: str | PathLike[str] | None = None) -> None:
        self.session = session
        self._gone = False
        self.stage = Stage(session)
        self.panels = [panel(session, self.stage) for panel in STEPS]
        self.panels.append(DoctorStep(session, self.stage, files))
        titles = [f"{number} {panel.title}" for number, panel in enumerate(self.panels, 1)]
        self.steps = w.ToggleButtons(
            options=[(title, index) for index, title in enumerate(titles)],
            style={"button_width": "auto"},
            layout=w.Layout(width="100%"),
        )
        self.steps.add_class("gdviz-steps")
        self.status = w.HTML(layout=w.Layout(width="100%"))
        self.status.add_class("gdviz-status")
        self.body = w.Box()
        self.body.add_class("gdviz-body")
        self.below = w.VBox(layout=w.Layout(width="100%", overflow="hidden"))
        super().__init__([style_sheet(), self.steps, self.body, self.below, self.status])
        self.add_class("gdviz-panel")
        self.steps.observe(lambda change: self.go(change["new"]), "value")
        self._unwatch = session.watch(Topic.EVENTS, self._on_event)
        self._say(self._ready())
        self.go(0)

    def _ready(self) -> str:
        """Return the first words of the status line: what the nodes' file could not say, if anything."""
        notices = self.session.nodes[0].machine.notices if self.session.nodes else ()
        if not notices:
            return _("Ready.")
        first = notices[0]
        where = _("line {line}: ").format(line=first.line) if first.line is not None else ""
        more = _(" ({count} more, see machine.notices)").format(count=len(notices) - 1)
        return _("Ready. The file: ") + where + first.text + (more if len(notices) > 1 else "")

    def go(self, step: int) -> None:
        """Show a step, counted from 0."""
        step = whole_number(step, "step", most=len(self.panels) - 1)
        if self._gone:
            return
        panel = self.panels[step]
        panel.view.add_class("gdviz-view")
        self.body.children = (panel.view, panel.controls)
        self.below.children = () if panel.below is None else (panel.below,)
        if self.steps.value != step:
            self.steps.value = step
        panel._later(panel.enter)

    def _on_event(self, event: Event) -> None:
        self._say(event.text)

    def _say(self, text: str) -> None:
        kind = _("simulated") if self.session.simulated_nodes else _("real")
        names = ", ".join(node.name for node in self.session.nodes)
        self.status.value = f"<b>{escape(kind)}</b> &middot; {escape(names)} &middot; {escape(text)}"

    def close(self) -> None:
        """Take everything off the page."""
        self._gone = True
        self._unwatch()
        for panel in self.panels:
            panel.close()
        self.stage.close()
        super().close()
