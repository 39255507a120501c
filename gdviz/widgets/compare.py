"""Step 5, Compare: both paths over all sizes, and where one message's time goes."""

from __future__ import annotations

import ipywidgets as w
from bokeh.layouts import column

from gdviz.errors import GdvizError
from gdviz.figures import PercentileChart, SweepCharts, WaterfallChart
from gdviz.figures.charts.sweep_columns import Point
from gdviz.messages import _
from gdviz.model import DataPath, Op, Workload, predict
from gdviz.quantities import format_size, parse_size
from gdviz.session import Comparison, Session, Topic
from gdviz.widgets.live import LiveFigure
from gdviz.widgets.pair import Pair, any_pair, offer_ends
from gdviz.widgets.panel import Panel
from gdviz.widgets.parts import Controls, button, labelled
from gdviz.widgets.stage import Stage


class ComparePanel(Panel):
    """Run both paths over all sizes; see curves, ceilings, and one message's time by stage."""

    title = _("Compare")

    def build(self, session: Session, stage: Stage) -> None:
        """Make the controls."""
        self.local = labelled(_("From"), w.Dropdown)
        self.remote = labelled(_("To"), w.Dropdown)
        self.op = labelled(_("Operation"), w.Dropdown, options=[o.value for o in Op])
        self.message_size = labelled(_("One message"), w.Text, value="64 KiB", continuous_update=False)
        self.start_button = button(_("Run both"), lambda: self.controls.act(self._start()), main=True)
        self.stop_button = button(_("Stop"), self._stop)
        self.stop_button.disabled = True
        self.progress = w.FloatProgress(min=0.0, max=1.0, layout=w.Layout(width="100%"))
        self.controls = Controls(
            session,
            [
                self.local,
                self.remote,
                self.op,
                w.HBox([self.start_button, self.stop_button]),
                self.progress,
                self.message_size,
            ],
        )
        simulated = session.simulated_nodes
        self.sweep = SweepCharts({}, simulated=simulated)
        self.waterfall = WaterfallChart({}, simulated=simulated)
        self.percentiles = PercentileChart({}, simulated=simulated)
        self.figure = LiveFigure(
            column(
                self.sweep.root,
                self.waterfall.root,
                self.percentiles.root,
                sizing_mode="stretch_width",
            ),
            session.engine,
            layout=w.Layout(width="100%", overflow="hidden"),
        )
        self.view = self.figure
        self.comparison: Comparison | None = None
        self.refused = ""
        self.message_size.observe(lambda _c: self.controls.act(self._draw_message()), "value")
        self._unwatch.append(session.watch(Topic.OBJECTS, lambda _news: self._refresh()))
        self._later(self._refresh)

    def enter(self) -> None:
        """Show what has been compared so far."""
        self.stage.on_click(None)
        self.stage.show_charts(False)
        if self.local.value is not None and self.comparison is None:
            self.controls.act(self._expect())

    def _refresh(self) -> None:
        offer_ends(self.session, self.local, self.remote)

    async def _ends(self) -> Pair:
        if self.local.value is None or self.remote.value is None:
            pair = await any_pair(self.session)
            self._refresh()
            if pair.refused:
                return pair
        return Pair(self.local.value, self.remote.value)

    async def _start(self) -> None:
        if self.comparison is not None and not self.comparison.done.done():
            raise GdvizError(_("A comparison is running."), _("Stop it first."))
        pair = await self._ends()
        comparison = Comparison(self.session, pair.local, pair.remote, op=self.op.value)
        self.comparison, self.refused = comparison, pair.refused
        comparison.watchers.add(Topic.SAMPLES, lambda _point: self._show())
        comparison.watchers.add(Topic.TRANSFERS, lambda _end: self._ended())
        self.start_button.disabled, self.stop_button.disabled = True, False
        self._show()
        await self._draw_message()
        comparison.start()

    def _stop(self) -> None:
        if self.comparison is not None:
            self.comparison.stop()

    def _show(self) -> None:
        comparison = self.comparison
        assert comparison is not None
        self.progress.value = comparison.progress
        measured = {
            path: [Point(p.size_bytes, p.bandwidth_bytes_per_s, p.p50_s, p.p99_s) for p in points]
            for path, points in comparison.measured.items()
        }
        self.sweep.update(comparison.predicted, measured)
        self.controls.message.say(comparison.doing)

    def _ended(self) -> None:
        comparison = self.comparison
        assert comparison is not None
        self.start_button.disabled, self.stop_button.disabled = False, True
        self._show_percentiles()
        failure = comparison.done.exception()
        if failure is not None:
            self.controls.message.fail(str(failure))
        else:
            self.controls.message.say(self._outcome(comparison))

    def _outcome(self, comparison: Comparison) -> str:
        ended = _("Stopped.") if comparison.stopped else _("Done.")
        if not self.refused:
            return ended
        return _("{ended} Only the staged path was measured, since the direct one is refused: {why}").format(
            ended=ended, why=self.refused
        )

    def _show_percentiles(self) -> None:
        """Show how latencies are spread at the size measured that is nearest to the chosen one."""
        comparison = self.comparison
        if comparison is None:
            return
        wanted = parse_size(self.message_size.value)
        sizes = set.intersection(*(set(comparison.latencies[path]) for path in comparison.paths))
        if not sizes:
            return
        size = min(sizes, key=lambda measured: abs(measured - wanted))
        self.percentiles.update(
            {path: comparison.latencies[path][size] for path in comparison.paths},
            title=_("Latency by percentile: {size}, one in flight").format(size=format_size(size)),
        )

    async def _expect(self) -> None:
        """Draw what the model expects, before anything is measured."""
        pair = await self._ends()
        self.sweep.update(Comparison(self.session, pair.local, pair.remote, op=self.op.value).predicted)
        await self._draw_message()

    async def _draw_message(self) -> None:
        """Draw where the time of one message goes, by both paths."""
        pair = await self._ends()
        size = parse_size(self.message_size.value)
        state = self.session.state
        predictions = {
            path: predict(
                state.endpoint(pair.local),
                state.endpoint(pair.remote),
                Workload(Op(self.op.value), path, size, 1, 1),
            )
            for path in DataPath
        }
        self.waterfall.update(predictions)
        self._show_percentiles()
        self.controls.message.say(
            _("Where the time of one message of {size} goes.").format(size=format_size(size))
        )
