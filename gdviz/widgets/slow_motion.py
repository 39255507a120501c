"""Step 6, Slow motion: one message from doorbell to completion, stage by stage."""

from __future__ import annotations

import asyncio

import ipywidgets as w

from gdviz.figures import SlowMotion
from gdviz.messages import _
from gdviz.model import DataPath, Op, Workload, timeline
from gdviz.model import Stage as MessageStage
from gdviz.quantities import format_duration, parse_size
from gdviz.session import Session, Topic
from gdviz.widgets.live import LiveFigure
from gdviz.widgets.pair import endpoints
from gdviz.widgets.panel import Panel
from gdviz.widgets.parts import Controls, button, labelled, path_choice
from gdviz.widgets.stage import Stage

#: Pictures a second while it plays, and seconds that the whole message takes to play.
_FRAMES_PER_S = 5
_PLAY_S = 20.0


class SlowMotionPanel(Panel):
    """Play one message; pause it, step through it."""

    title = _("Slow motion")

    def build(self, session: Session, stage: Stage) -> None:
        """Make the controls."""
        self.path = path_choice()
        self.op = labelled(_("Operation"), w.Dropdown, options=[o.value for o in Op])
        self.size = labelled(_("Message"), w.Text, value="4 KiB", continuous_update=False)
        self.play_button = button(_("Play"), self._play_or_pause, main=True)
        self.text = w.HTML()
        self.controls = Controls(
            session,
            [
                self.path,
                self.op,
                self.size,
                w.HBox(
                    [
                        self.play_button,
                        button(_("Step"), lambda: self._later(self._step, 1), _("To the next event")),
                        button(_("Back"), lambda: self._later(self._step, -1)),
                    ]
                ),
                w.HBox([button(_("From the start"), lambda: self._later(self._rewind))]),
                self.text,
            ],
        )
        self.stages: tuple[MessageStage, ...] = ()
        self.time_s = 0.0
        self.figure_data = SlowMotion((), title="")
        self.figure = LiveFigure(
            self.figure_data.root, session.engine, layout=w.Layout(width="100%", overflow="hidden")
        )
        self.below = self.figure
        self._player: asyncio.Task[None] | None = None
        for control in (self.path, self.op, self.size):
            control.observe(lambda _change: self.controls.act(self._load()), "value")
        self._unwatch.append(session.watch(Topic.OBJECTS, lambda _news: None))

    def enter(self) -> None:
        """Show the message at the start."""
        self.stage.on_click(None)
        self.stage.show_charts(False)
        self.controls.act(self._load())

    async def _load(self) -> None:
        ends = endpoints(self.session)
        work = Workload(Op(self.op.value), DataPath(self.path.value), parse_size(self.size.value), 1, 1)
        self._pause()
        self.stages = timeline(*ends, work)
        self.figure_data.update(self.stages, title=self._title(work))
        self.stage.picture.show_transfer(*ends, work.path, None)
        self._rewind()

    def _title(self, work: Workload) -> str:
        total = max((stage.end_s for stage in self.stages), default=0.0)
        return _("One {op} of {size}, {path}: {time}").format(
            op=work.op.value, size=self.size.value, path=work.path.value, time=format_duration(total)
        )

    @property
    def end_s(self) -> float:
        """When the message is complete."""
        return max((stage.end_s for stage in self.stages), default=0.0)

    def _show(self, time_s: float) -> None:
        self.time_s = min(max(0.0, time_s), self.end_s)
        self.figure_data.set_time(self.time_s)
        active = self.figure_data.at(self.time_s)
        self.stage.picture.highlight(tuple(place for stage in active for place in stage.places))
        sentence = " ".join(stage.text for stage in active) or _("Done: the completion is polled.")
        self.controls.message.say(f"{format_duration(self.time_s) if self.time_s else '0'}: {sentence}")

    def _rewind(self) -> None:
        self._pause()
        self._show(0.0)

    def _step(self, direction: int) -> None:
        self._pause()
        # Just after the event, so that what it starts is what is lit.
        hair = self.end_s * 1e-6
        times = sorted({*self.figure_data.steps, self.end_s})
        if direction > 0:
            later = [t for t in times if t > self.time_s + hair]
            self._show((later[0] if later else self.end_s) + hair / 2)
        else:
            earlier = [t for t in times if t < self.time_s - hair]
            self._show((earlier[-1] if earlier else 0.0) + hair / 2)

    def _play_or_pause(self) -> None:
        self._later(self._toggle)

    def _toggle(self) -> None:
        if self._player is not None and not self._player.done():
            self._pause()
            return
        if self.time_s >= self.end_s:
            self.time_s = 0.0
        self._player = self.session.engine.loop.create_task(self._play())
        self.play_button.description = _("Pause")

    def _pause(self) -> None:
        if self._player is not None:
            self._player.cancel()
            self._player = None
        self.play_button.description = _("Play")

    async def _play(self) -> None:
        step = self.end_s / (_PLAY_S * _FRAMES_PER_S)
        while self.time_s < self.end_s:
            await asyncio.sleep(1 / _FRAMES_PER_S)
            self._show(self.time_s + step)
        self.play_button.description = _("Play")

    def close(self) -> None:
        """Stop playing and close."""
        self._later(self._pause)
        super().close()
