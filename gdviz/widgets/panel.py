"""What a step's panel is: controls, a view beside them, perhaps something below."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import ipywidgets as w

from gdviz.errors import GdvizError
from gdviz.messages import _
from gdviz.session import Session
from gdviz.widgets.parts import Controls
from gdviz.widgets.stage import Stage
from gdviz.widgets.style import style_sheet


class Panel(w.VBox):  # type: ignore[misc]
    """A step of the lab that also stands alone.

    Parameters
    ----------
    session
        What it acts on: a `Session`, or the lab that holds one.
    stage
        The picture to use; without one the panel makes its own and shows it.

    Attributes
    ----------
    title : str
        Name of the step.
    live : bool
        Whether it needs the live charts.
    controls : Controls
        The column of controls.
    view : ipywidgets.Widget
        What stands beside the controls: the picture, unless the panel has something else.
    below : ipywidgets.Widget or None
        What stands below both.
    """

    title: ClassVar[str] = ""
    live: ClassVar[bool] = False
    controls: Controls
    below: w.Widget | None = None
    view: w.Widget
    # Of a panel that could not be made: ipywidgets closes it all the same.
    _alone = False
    _unwatch: list[Callable[[], None]] = []  # noqa: RUF012  (each panel that is made has its own)

    def __init__(self, session: Session | Any, stage: Stage | None = None) -> None:
        session = getattr(session, "session", session)
        if not isinstance(session, Session):
            raise GdvizError(
                _("A panel needs a session or a lab, not {what}.").format(what=repr(session)[:60]),
                _("Open one with gdviz.lab()."),
            )
        self.session: Session = session
        self._alone = stage is None
        self.stage = stage or Stage(session, live=self.live)
        self._unwatch = []
        self.view = self.stage.widget
        self.build(session, self.stage)
        super().__init__()
        self.add_class("gdviz-panel")
        if self._alone:
            self.children = self._arranged()
            self._later(self.enter)

    def _arranged(self) -> tuple[w.Widget, ...]:
        self.view.add_class("gdviz-view")
        body = w.Box([self.view, self.controls])
        body.add_class("gdviz-body")
        below = (self.below,) if self.below is not None else ()
        return (style_sheet(), body, *below)

    def build(self, session: Session, stage: Stage) -> None:
        """Make the controls; called once, before the panel is shown."""
        raise NotImplementedError

    def enter(self) -> None:
        """Take over the picture; called on the engine's thread whenever the step is chosen."""

    def _later(self, act: Callable[..., None], *arguments: Any) -> None:
        """Do something on the engine's thread, where the figures live."""
        if self.session.engine.here:
            act(*arguments)
        elif self.session.engine.alive:
            self.session.engine.loop.call_soon_threadsafe(self._guarded, act, arguments)

    def _guarded(self, act: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        try:
            act(*arguments)
        except Exception as error:  # noqa: BLE001  (a failing view says so instead of vanishing)
            self.controls.message.fail(f"{type(error).__name__}: {error}")

    def close(self) -> None:
        """Stop following the session and take the panel off the page."""
        for unwatch in self._unwatch:
            unwatch()
        if self._alone:
            self.stage.close()
        super().close()
