"""Bokeh figures that live in a notebook: the only place that touches jupyter_bokeh.

`jupyter_bokeh` applies to the Python model whatever the browser sends back, and the browser sends back
every streamed row, so each point is held twice in Python and shown twice after a reload. `LiveFigure`
lets through only what a person did (Bokeh's events, a tap for instance), never the echo of a property.
The rows that come back are not wasted: they say that the browser has drawn them, and `Pace` takes the
rate of updates from that.

A view that opens late gets the widget's first state, and what was sent before it was there is lost. So
views are counted: without one nothing is sent at all, and a new one is given the figure as it is then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from bokeh.models import LayoutDOM
from jupyter_bokeh.widgets import BokehModel

from gdviz.clock import wall_seconds
from gdviz.session.engine import Engine
from gdviz.widgets.bokehjs import ensure_bokehjs

#: Updates a second at most, unless asked otherwise.
DEFAULT_RATE_HZ = 5.0

#: Below this the picture would look frozen.
SLOWEST_RATE_HZ = 0.5

#: A figure that has not changed for so long has come to rest.
REST_S = 1.0

#: An answer older than this halves the rate.
PATIENCE_S = 2.0


class Pace:
    """How often to update a page, from how soon it answers.

    Parameters
    ----------
    rate_hz
        Updates a second while the page keeps up.
    now
        Gives the time in seconds.
    """

    def __init__(self, rate_hz: float = DEFAULT_RATE_HZ, now: Callable[[], float] = wall_seconds) -> None:
        self.wanted_hz = rate_hz
        self.rate_hz = rate_hz
        self._now = now
        self._unanswered_since: float | None = None

    def sent(self) -> None:
        """Note that an update went out; halve the rate if the last answer is long due."""
        now = self._now()
        if self._unanswered_since is None:
            self._unanswered_since = now
        elif now - self._unanswered_since > PATIENCE_S:
            self.rate_hz = max(SLOWEST_RATE_HZ, self.rate_hz / 2)
            self._unanswered_since = now

    def answered(self) -> None:
        """Note that the page has drawn an update; creep back towards the wanted rate."""
        self._unanswered_since = None
        self.rate_hz = min(self.wanted_hz, self.rate_hz * 1.25)

    @property
    def interval_s(self) -> float:
        """Seconds until the next update."""
        return 1.0 / self.rate_hz


class LiveFigure(BokehModel):  # type: ignore[misc]
    """A Bokeh layout as a widget, whose model belongs to a session's engine thread.

    Parameters
    ----------
    root
        The Bokeh layout.
    engine
        Runs the callbacks of the model, so that they never meet an update half done.
    """

    def __init__(self, root: LayoutDOM, engine: Engine | None = None, **traits: Any) -> None:
        ensure_bokehjs()
        self._engine = engine
        self._closed = False
        self.pace = Pace()
        # Patched since the page, and since this side, last put the whole figure into words.
        self._stale = self._changed = False
        self._rest: asyncio.TimerHandle | None = None
        traits.setdefault("combine_events", True)
        super().__init__(root, _view_count=0, **traits)
        self.observe(self._on_views, "_view_count")

    @property
    def shown(self) -> bool:
        """Whether a page shows it."""
        return bool(self._view_count)

    def _document_patched(self, event: Any) -> None:
        if event.setter is self:
            return
        self._stale = self._changed = True
        self._on_engine(self._write_later)
        if self.shown:
            super()._document_patched(event)

    def _on_views(self, change: dict[str, Any]) -> None:
        if (change["new"] or 0) > (change["old"] or 0) and self._stale:
            self._on_engine(self._renew)

    def _renew(self) -> None:
        """Give every view the figure as it is now."""
        self._stale = self._changed = False
        self.render_bundle = self._model_to_traits(self._model)

    def _write(self) -> None:
        """Put the figure into words, without telling the page."""
        self._changed = False
        self._trait_values["render_bundle"] = self._model_to_traits(self._model)

    async def _written(self) -> None:
        self._write()

    def _write_later(self) -> None:
        # A page that is reloaded waits for all widgets' states together, but not for long (4 s in
        # ipywidgets); what has come to rest is ready for it.
        if self._engine is None or not self._engine.here:
            return
        if self._rest is not None:
            self._rest.cancel()
        self._rest = self._engine.loop.call_later(REST_S, self._write_if_changed)

    def _write_if_changed(self) -> None:
        if self._changed and not self._closed:
            self._write()

    def _on_engine(self, act: Callable[..., None], *arguments: Any) -> None:
        if self._engine is not None and self._engine.alive and not self._engine.here:
            self._engine.loop.call_soon_threadsafe(act, *arguments)
        else:
            act(*arguments)

    def _sync_model(self, _widget: Any, content: dict[str, Any], buffers: list[Any]) -> None:
        if content.get("event") != "jsevent":
            return
        kind = content.get("kind")
        if kind == "ColumnsStreamed":
            self.pace.answered()
        elif kind == "MessageSent":
            self._on_engine(super()._sync_model, _widget, content, buffers)

    def close(self) -> None:
        """Take it off the page; closing twice is allowed."""
        if not self._closed:
            self._closed = True
            super().close()

    def __repr__(self) -> str:
        # The one of ipywidgets would print the whole document.
        return f"<{type(self).__name__} of {type(self._model).__name__} {self._model.id}>"

    def get_state(self, key: Any = None, drop_defaults: bool = False) -> dict[str, Any]:
        """Return the widget's state; a page that asks for all of it gets the figure as it is now."""
        if key is None:
            # Who asks has no view yet; those of a page that was reloaded never said goodbye.
            self._trait_values["_view_count"] = 0
            if self._changed and self._engine is not None and self._engine.alive and not self._engine.here:
                self._engine.ask(self._written())
            elif self._changed:
                self._write()
        state: dict[str, Any] = super().get_state(key, drop_defaults)
        return state
