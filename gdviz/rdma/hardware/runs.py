"""Transfers over real NICs, as the program sees them: the worker moves the bytes and tells how far it is."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from gdviz.errors import TransferError, VerbsError
from gdviz.messages import _
from gdviz.model import DataPath, Place, Prediction
from gdviz.rdma.hardware.queue_pairs import completion_of
from gdviz.rdma.hardware.regions import HardwareRegion
from gdviz.rdma.hardware.remote import WorkerGone
from gdviz.rdma.hardware.worker.work import DRAIN_S, Report
from gdviz.rdma.latency import LatencyHistogram
from gdviz.rdma.requests import Completion
from gdviz.rdma.status import WcStatus
from gdviz.rdma.transfer import Interval, TransferResult, TransferSpec, TransferState

if TYPE_CHECKING:
    from gdviz.rdma.hardware.provider import HardwareProvider


class HardwareService:
    """The other end's part of a transfer, in the worker of its node."""

    def __init__(self, provider: HardwareProvider, number: int | None, region: HardwareRegion) -> None:
        self.provider = provider
        self.region = region
        self._number = number
        self._failed = False
        #: CPU seconds it has used, as far as they have been asked for.
        self.cpu_s = 0.0

    @property
    def failed(self) -> bool:
        """Whether it has ended by itself, because the transfer broke."""
        self.look()
        return self._failed

    def look(self) -> float:
        """Ask how it is; return the CPU seconds that it has used since it was last asked."""
        if self._number is None:
            return 0.0
        try:
            report: Report = self.provider.worker.call("report", self._number)
        except VerbsError:
            self._number, self._failed = None, True
            return 0.0
        if report.state in ("failed", "stopped"):
            self._number = None
            self._failed = report.state == "failed"
        self.cpu_s += report.cpu_s
        return report.cpu_s

    def tell_gone(self) -> None:
        """Let it know that its region is being deregistered."""
        if self._number is not None:
            self.provider.worker.call("region_gone", self._number)

    def stop(self) -> None:
        """End it; one that has ended is fine."""
        if self._number is not None:
            with suppress(VerbsError):
                self.provider.worker.call("finish", self._number, 0.2)
            self._number = None
        self.provider.services.discard(self)


class HardwareRun:
    """A transfer over real NICs. Made by `HardwareProvider.start_transfer`."""

    def __init__(
        self,
        provider: HardwareProvider,
        number: int,
        spec: TransferSpec,
        region: HardwareRegion,
        prediction: Prediction,
        service: HardwareService | None,
    ) -> None:
        self.provider = provider
        self.spec = spec
        self.region = region
        self.prediction = prediction
        self.error: Completion | None = None
        self._number = number
        self._service = service
        self._state = TransferState.RUNNING
        self._stopping = False
        self._reported = False
        self._start_s: float | None = None
        self._since_s = self._now_s = 0.0
        self._messages = 0
        self._cpu_s = 0.0
        self._latency = LatencyHistogram()
        self._result: TransferResult | None = None

    @property
    def state(self) -> TransferState:
        """Where it is in its life."""
        return self._state

    @property
    def result(self) -> TransferResult | None:
        """The figures, once the state is final."""
        return self._result

    @property
    def progress(self) -> float:
        """Share of the count or the duration that is done, 0 to 1; 0 for an endless one until it ends."""
        if self._state is TransferState.COMPLETED:
            return 1.0
        shares = [0.0]
        if self.spec.count is not None:
            shares.append(self._messages / self.spec.count)
        if self.spec.duration_s is not None and self._start_s is not None:
            shares.append((self._now_s - self._start_s) / self.spec.duration_s)
        return min(1.0, max(shares))

    def advance(self) -> Interval | None:
        """Ask the worker how far it is; return what has happened since, None if nothing has.

        After `stop` it waits for what is in flight.

        Raises
        ------
        TransferError
            The worker process has ended; the run has failed.
        """
        if self._state.final:
            return None
        try:
            if self._stopping:
                report: Report = self.provider.worker.call("finish", self._number, DRAIN_S)
            else:
                report = self.provider.worker.call("report", self._number)
        except WorkerGone as error:
            self._lost()
            raise TransferError(error.message, error.remedy) from None
        if report.trouble:
            self._lost()
            raise TransferError(
                _("The transfer on {node} broke: {trouble}.").format(
                    node=self.provider.node, trouble=report.trouble
                )
            )
        cpu_s = report.cpu_s + (self._service.look() if self._service is not None else 0.0)
        return self._take(report, cpu_s)

    def _take(self, report: Report, cpu_s: float) -> Interval | None:
        if self._start_s is None:
            self._start_s = self._since_s = report.start_s
        self._now_s = max(self._since_s, report.now_s)
        latency = LatencyHistogram()
        latencies = np.frombuffer(report.latencies_s, np.float64)
        weights = np.frombuffer(report.weights, np.int64)
        for weight in np.unique(weights):
            latency.record(latencies[weights == weight], float(weight))
        self._latency.merge(latency)
        self._messages += report.messages
        self._cpu_s += cpu_s
        self._state = TransferState(report.state)
        if report.error is not None:
            self.error = completion_of(report.error)
        moved = report.messages * self.spec.size_bytes
        interval = Interval(
            self._since_s,
            self._now_s,
            moved,
            report.messages,
            latency,
            cpu_s,
            self._loads(moved, self._now_s - self._since_s),
        )
        self._since_s = self._now_s
        if self._state.final:
            self._end()
        return interval if interval.duration_s > 0 or interval.messages or self._state.final else None

    def _loads(self, moved: int, duration_s: float) -> Mapping[Place, float]:
        """Return the model's loads, scaled to the bandwidth that was measured."""
        rate = moved / duration_s if duration_s > 0 else 0.0
        share = rate / self.prediction.bandwidth_bytes_per_s
        return {place: load * share for place, load in self.prediction.loads.items()}

    def stop(self) -> None:
        """Post no more. The next `advance` waits for what is in flight and ends the run."""
        if self._state.final or self._stopping:
            return
        self._stopping = True
        with suppress(WorkerGone):
            self.provider.worker.call("stop", self._number)

    def abort(self) -> None:
        """End it now, because the node is being closed."""
        if self._state.final:
            return
        try:
            self._take(self.provider.worker.call("finish", self._number, 0.2), 0.0)
        except VerbsError:
            self._lost()

    def tell_gone(self) -> None:
        """Let it know that its region is being deregistered."""
        if not self._state.final and self.spec.path is DataPath.STAGED:
            self.provider.worker.call("region_gone", self._number)

    def _lost(self) -> None:
        self._state = TransferState.FAILED
        if self._start_s is None:
            self._start_s = self._now_s
        self._end(WcStatus.FATAL_ERR)

    def _end(self, status: WcStatus = WcStatus.SUCCESS) -> None:
        assert self._start_s is not None
        if self._service is not None:
            self._service.stop()
        duration_s = self._now_s - self._start_s
        moved = self._messages * self.spec.size_bytes
        self._result = TransferResult(
            state=self._state,
            bytes=moved,
            messages=self._messages,
            duration_s=duration_s,
            bandwidth_bytes_per_s=moved / duration_s if duration_s > 0 else 0.0,
            messages_per_s=self._messages / duration_s if duration_s > 0 else 0.0,
            latency=self._latency,
            cpu_share=self._cpu_s / duration_s if duration_s > 0 else 0.0,
            status=self.error.status if self.error is not None else status,
            simulated=False,
            prediction=self.prediction,
        )
        self.provider.runs.discard(self)

    def __repr__(self) -> str:
        words = _("{messages} messages").format(messages=self._messages)
        return f"<transfer on {self.provider.node}: {self._state}, {words}>"
