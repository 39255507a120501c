"""Four live charts of a transfer on one source: bandwidth, message rate, latency and CPU share.

Everything a chart needs to know before the first sample (ends of axes, ceilings, what the model
expects) comes with `LiveCharts.expect`; after that a tick costs one `stream()` of plain lists. The x
axis shows a page of `window_s` seconds and flips to the next one when it is full; the y axis of
bandwidth ends at the ceiling, so that height reads as share.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from typing import Any

from bokeh.models import ColumnDataSource, LayoutDOM

from gdviz.figures.charts import axes
from gdviz.figures.charts import live_columns as live
from gdviz.figures.charts.live_figures import PLOT_PX, STRIP_PX, LiveFigures
from gdviz.figures.charts.text import table
from gdviz.messages import _
from gdviz.model import Ceiling, Place, Prediction
from gdviz.quantities import format_count, format_rate, three_digits

#: Pages of samples kept in the source at 10 samples a second.
PAGES_KEPT, FASTEST_HZ = 2, 10

#: Samples that the text twin shows.
TEXT_ROWS = 10


class LiveCharts:
    """Live charts of one transfer after the other.

    Parameters
    ----------
    ceilings
        Limits on bandwidth; the narrowest gives the axis its end.
    window_s
        Seconds on a page.
    simulated
        Whether the samples come from the simulated provider; then the charts say so.
    places
        Order of the `loads` in each row of the source; may be set later.
    prediction
        What the model expects; see `expect`.

    Attributes
    ----------
    root : LayoutDOM
        The grid.
    source : ColumnDataSource
        The only source; its columns are `live_columns.COLUMNS`. Never read it back: the last samples
        are kept here.
    """

    def __init__(
        self,
        ceilings: Sequence[Ceiling] = (),
        *,
        window_s: float = 60.0,
        simulated: bool,
        places: Sequence[Place] = (),
        prediction: Prediction | None = None,
    ) -> None:
        self.window_s = window_s
        self.simulated = simulated
        self.places = tuple(places)
        self.rollover = math.ceil(window_s * FASTEST_HZ * PAGES_KEPT)
        self.source = ColumnDataSource(dict(live.empty_columns()))
        self._figures = LiveFigures(self.source, window_s, simulated=simulated)
        self.root: LayoutDOM = self._figures.root
        self._recent: deque[live.LiveSample] = deque(maxlen=TEXT_ROWS)
        self._origin: float | None = None
        self._ceilings: tuple[Ceiling, ...] = ()
        self._ends: dict[str, float] = {}
        self._decades = (0.0, 0.0)
        self._page = 0.0
        self._set_end("rate", 1.0)
        self._set_end("cpu", 100.0)
        self._set_latency(1.0, 1000.0)
        if prediction is not None:
            self.expect(prediction)
        if ceilings or prediction is None:
            self.set_ceilings(ceilings)

    @property
    def page_range(self) -> tuple[float, float]:
        """Start and end of the page, seconds."""
        return self._page, self._page + self.window_s

    def update(self, samples: Sequence[live.LiveSample], *, at_ms: float = 0.0) -> None:
        """Stream new samples into the source; turn the page and widen an axis where they ask for it."""
        if not samples:
            return
        if self._origin is None:
            self._origin = float(math.floor(samples[0].time_s))
            self._figures.show_empty(False)
        self._recent.extend(samples)
        rows = live.columns(samples, self.places, at_ms)
        self._grow(rows)
        self.page(rows["t"][-1])
        self.source.stream(dict(rows), rollover=self.rollover)

    def page(self, t: float) -> None:
        """Show the page that holds time `t`, in seconds."""
        start = live.page_start(t, self.window_s, self._origin or 0.0)
        if start != self._page:
            self._page = start
            self._figures.x.update(start=start, end=start + self.window_s)

    def clear(self) -> None:
        """Forget all samples and show the empty state; the next sample starts a new page."""
        self._origin = None
        self._recent.clear()
        self.source.data = dict(live.empty_columns())
        self._figures.show_empty(True)
        self.page(0.0)

    def expect(self, prediction: Prediction) -> None:
        """Start anew for a transfer: its path's colour, its ceilings, the model's values as dotted lines."""
        self.clear()
        work, latency = prediction.workload, prediction.latency
        bandwidth, rate = prediction.bandwidth_bytes_per_s, prediction.messages_per_s
        cpu = prediction.cpu_share * 100
        self._figures.show_path(work.path)
        self.set_ceilings(prediction.ceilings)
        self._set_end("rate", axes.nice_end(rate * 1.05 / live.MEGA))
        self._set_end("cpu", max(100.0, axes.nice_end(cpu * 1.05)))
        queued = work.depth * work.qps / rate
        micros = [seconds / live.MICRO for seconds in (latency.p50, latency.p999, queued)]
        self._set_latency(*live.latency_decades(*micros))
        self._figures.show_expected("bandwidth", bandwidth / live.GIGA, format_rate(bandwidth))
        self._figures.show_expected("rate", rate / live.MEGA, f"{format_count(rate)}/s")
        self._figures.show_expected("cpu", cpu, f"{three_digits(cpu)} %")

    def set_ceilings(self, ceilings: Sequence[Ceiling]) -> None:
        """Draw these ceilings and end the axis of bandwidth at the highest one drawn."""
        self._ceilings = tuple(ceilings)
        marks = live.ceiling_marks(ceilings, PLOT_PX - STRIP_PX["bandwidth"])
        self._figures.show_ceilings(marks)
        self._set_end("bandwidth", marks[-1].rate if marks else 1.0)

    def _grow(self, rows: dict[str, list[Any]]) -> None:
        """Widen the axes that the new rows leave: rarely, since each change is drawn anew as a whole."""
        for name, end in list(self._ends.items()):
            grown = live.grown_end(end, rows[name])
            if grown != end:
                self._set_end(name, grown)
        spread = live.grown_decades(*self._decades, rows["p50"] + rows["p99"] + rows["p999"])
        if spread != self._decades:
            self._set_latency(*spread)

    def _set_end(self, name: str, end: float) -> None:
        self._ends[name] = end
        self._figures.set_end(name, end)

    def _set_latency(self, low: float, high: float) -> None:
        self._decades = (low, high)
        self._figures.set_latency(low, high)

    def __str__(self) -> str:
        """Return the last samples and the ceilings as tables."""
        lines = [live.text(self._recent) if self._recent else live.what_to_do()]
        if self._ceilings:
            ordered = sorted(self._ceilings, key=lambda one: one.bytes_per_s)
            rows = [(one.name, format_rate(one.bytes_per_s)) for one in ordered]
            lines += ["", table((_("ceiling"), ""), rows)]
        if self.simulated:
            lines += ["", _("simulated")]
        return "\n".join(lines)
