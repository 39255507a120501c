"""Step 7, Doctor: what the hosts' tools show, read like any other files."""

from __future__ import annotations

from os import PathLike

import ipywidgets as w

from gdviz.messages import _
from gdviz.session import Session
from gdviz.widgets.doctor import DoctorPanel
from gdviz.widgets.panel import Panel
from gdviz.widgets.parts import Controls
from gdviz.widgets.stage import Stage


class DoctorStep(Panel):
    """The doctor's report of a lab's nodes, made when the step is first chosen."""

    title = _("Doctor")

    def __init__(
        self, session: Session, stage: Stage | None = None, files: str | PathLike[str] | None = None
    ) -> None:
        self._files = files
        super().__init__(session, stage)

    def build(self, session: Session, stage: Stage) -> None:
        """Make an empty view; looking at the nodes takes a moment."""
        del stage
        self.controls = Controls(session)
        # The report brings its own controls; only the message line is left, over the whole width.
        self.controls.layout.width = "100%"
        self.view = w.Box(layout=w.Layout(width="100%"))
        self.panel: DoctorPanel | None = None

    def enter(self) -> None:
        """Examine the nodes."""
        self.stage.on_click(None)
        self.stage.show_charts(False)
        if self.panel is not None:
            return
        from gdviz.widgets.lab import diagnose_session

        self.panel = DoctorPanel(diagnose_session(self.session, self._files), engine=self.session.engine)
        self.view.children = (self.panel,)
        faulty = self.session.faulty
        fault = faulty.fault if faulty is not None else None
        self.controls.message.say("" if fault is None else f"{fault.title}. {fault.text}")

    def close(self) -> None:
        """Take it off the page."""
        if self.panel is not None:
            self.panel.close()
        super().close()
