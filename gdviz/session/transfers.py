"""A transfer as a person handles it: await it, stop it, look at it."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Generator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gdviz.errors import SessionClosedError
from gdviz.messages import _
from gdviz.model import Endpoint, Prediction
from gdviz.quantities import format_duration, format_rate, format_size
from gdviz.rdma import Completion, TransferResult, TransferSpec, TransferState, WcStatus
from gdviz.session.engine import finished
from gdviz.session.samples import History

if TYPE_CHECKING:
    from gdviz.session.objects import MemoryRegion
    from gdviz.session.session import Session


@dataclass(frozen=True, slots=True)
class Ends:
    """Both ends of a transfer, as the model takes them."""

    local: Endpoint
    remote: Endpoint


class Transfer:
    """Messages from one region to another.

    Attributes
    ----------
    number
        Number of the transfer in its session, from 1.
    spec
        What is done.
    prediction
        What the model expects of it.
    history
        Its samples so far.
    state
        Where it is in its life.
    progress
        Share of the work done, 0 to 1.
    failure
        The completion that ended it, if one did.
    quiet
        Whether it is a step of something larger, of which the status line says nothing.
    """

    def __init__(
        self,
        session: Session,
        number: int,
        local: MemoryRegion,
        remote: MemoryRegion,
        spec: TransferSpec,
        ends: Ends,
        prediction: Prediction,
    ) -> None:
        self._session = session
        self.number = number
        self.local = local
        self.remote = remote
        self.spec = spec
        self.ends = ends
        self.prediction = prediction
        self.history = History()
        self.state = TransferState.CREATED
        self.progress = 0.0
        self.failure: Completion | None = None
        self.quiet = False
        self.done: concurrent.futures.Future[TransferResult] = concurrent.futures.Future()

    @property
    def result(self) -> TransferResult | None:
        """What came out; None while it runs, and where nothing came out (`wait` says why)."""
        if not self.done.done() or self.done.cancelled() or self.done.exception() is not None:
            return None
        return self.done.result()

    @property
    def trouble(self) -> str:
        """What went wrong where nothing came out; empty otherwise."""
        if not self.done.done() or self.done.cancelled():
            return ""
        error = self.done.exception()
        return "" if error is None else str(error)

    def __await__(self) -> Generator[Any, None, TransferResult]:
        """Wait for the end and return the result; an interrupted cell stops the transfer."""
        return self._wait().__await__()

    async def _wait(self) -> TransferResult:
        try:
            return await finished(self.done)
        except asyncio.CancelledError:
            self._stop_soon()
            raise

    def _stop_soon(self) -> None:
        with suppress(SessionClosedError):  # then it has been stopped already
            self._session.engine.submit(self._session.state.stop(self))

    def wait(self, timeout_s: float | None = None) -> TransferResult:
        """Wait for the end in a plain program and return the result.

        Raises
        ------
        TimeoutError
            It has not ended within `timeout_s`.
        """
        try:
            return self.done.result(timeout_s)
        except KeyboardInterrupt:
            self._stop_soon()
            raise

    def stop(self) -> None:
        """Stop it now; messages in flight are completed or flushed. One that has ended is left as it is."""
        if self.done.done():
            return
        self._session.ask(self._session.state.stop(self))

    def verify(self) -> bool:
        """Return whether the bytes at both ends are the same where the last message lies."""
        return self._session.ask(self._session.state.verify(self))

    def __repr__(self) -> str:
        spec = self.spec
        text = (
            f"<transfer {self.number}: {spec.op} {spec.path} {format_size(spec.size_bytes)} "
            f"{self.local.record.node} {self.local.record.nic} - {self.remote.record.node} "
            f"{self.remote.record.nic}, {self.state.value}"
        )
        result = self.result
        if result is None:
            return f"{text}>" if self.done.done() else f"{text}, {self.progress:.0%}>"
        text += f", {result.status.name}"
        if result.messages:
            text += f", {format_rate(result.bandwidth_bytes_per_s)}"
            text += f", p50 {format_duration(result.latency.p50)}"
        return text + ">"


def ended_text(transfer: Transfer) -> tuple[str, str]:
    """Return a sentence on how a transfer ended, and its level."""
    result = transfer.result
    assert result is not None
    if result.status is not WcStatus.SUCCESS:
        text = _("Transfer {number} failed: {status}. {meaning}").format(
            number=transfer.number, status=result.status.name, meaning=result.status.meaning
        )
        return text, "error"
    verb = _("stopped") if transfer.state is TransferState.STOPPED else _("completed")
    text = _("Transfer {number} {verb}: {size} at {rate}.").format(
        number=transfer.number,
        verb=verb,
        size=format_size(result.bytes),
        rate=format_rate(result.bandwidth_bytes_per_s),
    )
    return text, "info"
