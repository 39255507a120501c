"""Brings samples to the page: everything new since the last update, in one message.

Samples come at the rate of the transfers, updates go out at the page's pace. A sample is never dropped:
when the page is slow, more of them travel together, and what no page could show is merged for it.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from gdviz.clock import timestamp
from gdviz.model import Place
from gdviz.session import Sample, Session, Topic, Transfer

if TYPE_CHECKING:
    from gdviz.figures import LiveCharts
    from gdviz.widgets.live import LiveFigure

#: Rows of one update at most; more samples than that are thinned, peaks first kept.
MOST_ROWS = 40


class Pump:
    """Streams a transfer's samples into the live charts.

    Parameters
    ----------
    session
        Where the samples come from.
    charts
        Where they go.
    figure
        The widget whose pace is kept.
    """

    def __init__(self, session: Session, charts: LiveCharts, figure: LiveFigure) -> None:
        self._session = session
        self._charts = charts
        self._figure = figure
        self._waiting: list[Sample] = []
        self._task: asyncio.Task[None] | None = None
        self._transfer: Transfer | None = None
        self._flushed_at = -math.inf
        self._unwatch = session.watch(Topic.SAMPLES, self._on_samples)

    def follow(self, transfer: Transfer) -> None:
        """Show the samples of this transfer from now on."""
        self._transfer = transfer
        self._waiting.clear()

    def _on_samples(self, samples: list[Sample]) -> None:
        if self._transfer is None:
            return
        self._waiting += [sample for sample in samples if sample.transfer == self._transfer.number]
        if self._waiting and (self._task is None or self._task.done()):
            self._task = asyncio.get_running_loop().create_task(self._flush())

    async def _flush(self) -> None:
        # Real time: the page's pace does not depend on how fast the session's clock runs.
        now = asyncio.get_running_loop().time
        while self._waiting:
            # From update to update, whenever the samples come in between.
            await asyncio.sleep(self._flushed_at + self._figure.pace.interval_s - now())
            self._flushed_at = now()
            rows, self._waiting = thinned(self._waiting, MOST_ROWS), []
            if self._figure.shown:
                self._figure.pace.sent()
            if rows and self._transfer is not None:
                capacities = self._transfer.prediction.capacities
                self._charts.update([in_shares(row, capacities) for row in rows], at_ms=timestamp() * 1000)

    def close(self) -> None:
        """Stop."""
        self._unwatch()
        if self._task is not None and self._session.engine.alive:
            self._session.engine.loop.call_soon_threadsafe(self._task.cancel)


def in_shares(sample: Sample, capacities: Mapping[Place, float]) -> Sample:
    """Return a sample whose loads are shares of what each place can carry, as the picture fills them."""
    return replace(
        sample,
        loads={
            place: rate / capacities[place] for place, rate in sample.loads.items() if capacities.get(place)
        },
    )


def thinned(samples: list[Sample], most: int) -> list[Sample]:
    """Return at most `most` samples: of each run of neighbours the lowest and the highest bandwidth.

    Both extremes are kept so that a dip or a peak of one sample stays visible; the last one always is.
    """
    if len(samples) <= most:
        return samples
    buckets = max(1, (most - 1) // 2)
    size = -(-len(samples) // buckets)
    kept: list[Sample] = []
    for start in range(0, len(samples), size):
        run = samples[start : start + size]
        ends = {
            min(range(len(run)), key=lambda i: run[i].bandwidth_bytes_per_s),
            max(range(len(run)), key=lambda i: run[i].bandwidth_bytes_per_s),
        }
        kept += [run[i] for i in sorted(ends)]
    if kept[-1] is not samples[-1]:
        kept.append(samples[-1])
    return kept
