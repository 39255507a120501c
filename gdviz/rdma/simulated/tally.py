"""Counting what a run has done: for the interval since the last look, and in all."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from gdviz.model import Place, Prediction
from gdviz.rdma.latency import LatencyHistogram
from gdviz.rdma.requests import Completion
from gdviz.rdma.status import WcStatus
from gdviz.rdma.transfer import Interval, TransferResult, TransferState


class Tally:
    """Messages, bytes and latencies.

    Parameters
    ----------
    start_s
        When the run began.
    size_bytes
        Of a message.
    cpu_s
        CPU seconds of a message.
    """

    def __init__(self, start_s: float, size_bytes: int, cpu_s: float, prediction: Prediction) -> None:
        self.start_s = start_s
        self.messages = 0
        self._size_bytes = size_bytes
        self._cpu_s = cpu_s
        self._prediction = prediction
        self._latency = LatencyHistogram()
        self._since_s = start_s
        self._since_messages = 0
        self._since_latency = LatencyHistogram()

    def add(self, latency_s: NDArray[np.float64], messages: int) -> None:
        """Count messages, of which there are these latencies."""
        if messages > 0 and latency_s.size:
            self._since_latency.record(latency_s, messages / latency_s.size)
            self.messages += messages

    def interval(self, now_s: float) -> Interval:
        """Return what came since the last call, and begin a new interval."""
        messages = self.messages - self._since_messages
        duration = now_s - self._since_s
        moved = messages * self._size_bytes
        rate = moved / duration if duration > 0 else 0.0
        interval = Interval(
            self._since_s,
            now_s,
            moved,
            messages,
            self._since_latency,
            messages * self._cpu_s,
            self._loads(rate),
        )
        self._latency.merge(self._since_latency)
        self._since_s, self._since_messages = now_s, self.messages
        self._since_latency = LatencyHistogram()
        return interval

    def _loads(self, rate: float) -> Mapping[Place, float]:
        """Return the model's loads, scaled to the bandwidth that was reached."""
        share = rate / self._prediction.bandwidth_bytes_per_s
        return {place: load * share for place, load in self._prediction.loads.items()}

    def result(self, state: TransferState, now_s: float, error: Completion | None) -> TransferResult:
        """Return the figures of the whole run."""
        duration = now_s - self.start_s
        moved = self.messages * self._size_bytes
        return TransferResult(
            state=state,
            bytes=moved,
            messages=self.messages,
            duration_s=duration,
            bandwidth_bytes_per_s=moved / duration if duration > 0 else 0.0,
            messages_per_s=self.messages / duration if duration > 0 else 0.0,
            latency=LatencyHistogram.merged((self._latency, self._since_latency)),
            cpu_share=self.messages * self._cpu_s / duration if duration > 0 else 0.0,
            status=error.status if error is not None else WcStatus.SUCCESS,
            simulated=True,
            prediction=self._prediction,
        )
