"""Both paths over all message sizes: what is measured, beside what the model expects."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gdviz.errors import GdvizError, SessionClosedError
from gdviz.messages import _
from gdviz.model import SIZES, DataPath, Op, Prediction, sweep
from gdviz.quantities import format_size, parse_size, whole_number
from gdviz.rdma import LatencyHistogram, TransferResult, TransferSpec, WcStatus
from gdviz.session.checks import choice, own_memory
from gdviz.session.engine import finished
from gdviz.session.events import Topic, Watchers
from gdviz.session.objects import MemoryRegion

if TYPE_CHECKING:
    from gdviz.session.objects import Buffer
    from gdviz.session.session import Session
    from gdviz.session.transfers import Transfer

#: Messages of a bandwidth run: enough to fill the queue many times over ...
_MOST_MESSAGES = 4000
#: ... but no more bytes than this, so that the largest sizes do not take minutes, ...
_MOST_BYTES = 8 * 2**30
#: ... and enough for a p99 in any case.
_LEAST_MESSAGES = 100

#: Messages of a latency run, one in flight, as perftest's latency tests send them.
_LATENCY_MESSAGES = 1000


@dataclass(frozen=True, slots=True)
class MeasuredPoint:
    """One size of one path, as it was measured.

    Attributes
    ----------
    bandwidth_bytes_per_s, messages_per_s, cpu_share
        With the queue full.
    p50_s, p99_s, p999_s
        Latency with one message in flight.
    """

    size_bytes: int
    bandwidth_bytes_per_s: float
    messages_per_s: float
    p50_s: float
    p99_s: float
    p999_s: float
    cpu_share: float


def _length(memory: Buffer | MemoryRegion) -> int:
    return memory.length if isinstance(memory, MemoryRegion) else memory.size_bytes


class Comparison:
    """A sweep of sizes over both paths, or over the staged one alone where memory is not registered.

    Parameters
    ----------
    local, remote
        The regions; sizes larger than they are left out. Where either is a bare buffer, which no NIC can
        use, only the staged path is measured.
    op
        The operation.
    sizes
        Message sizes in bytes; by default 2 B to 64 MiB by powers of two.
    depth, qps
        Of the bandwidth runs.

    Attributes
    ----------
    predicted
        What the model expects, by path.
    measured
        What has been measured so far, by path.
    latencies
        Latencies with one message in flight, by path and size.
    paths
        The paths that are measured.
    progress
        0 to 1.
    doing
        What is being measured, for people.
    watchers
        Told of each new point (`Topic.SAMPLES`) and of the end (`Topic.TRANSFERS`).
    """

    def __init__(
        self,
        session: Session,
        local: Buffer | MemoryRegion,
        remote: Buffer | MemoryRegion,
        *,
        op: str | Op = Op.WRITE,
        sizes: Sequence[str | int] = SIZES,
        depth: int = 128,
        qps: int = 4,
    ) -> None:
        self._session = session
        self.local = own_memory(session, local, "local")
        self.remote = own_memory(session, remote, "remote")
        registered = all(isinstance(end, MemoryRegion) for end in (local, remote))
        self.paths = tuple(DataPath) if registered else (DataPath.STAGED,)
        self.op = choice(Op, op)
        self.depth = whole_number(depth, "depth", least=1)
        self.qps = whole_number(qps, "qps", least=1)
        limit = min(_length(self.local), _length(self.remote))
        if not isinstance(sizes, Iterable) or isinstance(sizes, str | bytes):
            raise GdvizError(_("sizes must be several sizes, not {value}.").format(value=repr(sizes)[:60]))
        self.sizes = tuple(size for size in map(parse_size, sizes) if size <= limit)
        if not self.sizes:
            raise GdvizError(
                _("No size fits: the memory holds {limit}.").format(limit=format_size(limit)),
                _("Allocate larger buffers."),
            )
        state = session.state
        self.predicted: dict[DataPath, tuple[Prediction, ...]] = sweep(
            state.endpoint(local),
            state.endpoint(remote),
            op=self.op,
            sizes=self.sizes,
            depth=self.depth,
            qps=self.qps,
        )
        self.measured: dict[DataPath, list[MeasuredPoint]] = {path: [] for path in DataPath}
        self.latencies: dict[DataPath, dict[int, LatencyHistogram]] = {path: {} for path in DataPath}
        self.progress = 0.0
        self.doing = ""
        self.watchers = Watchers()
        self.stopped = False
        self._running: Transfer | None = None
        self.done: concurrent.futures.Future[Comparison] = concurrent.futures.Future()

    def start(self) -> None:
        """Start measuring."""
        self._session.engine.submit(self._run())

    def stop(self) -> None:
        """Stop after the transfer that is running, which is stopped too; what was measured stays."""
        self.stopped = True
        if self._running is not None:
            self._session.engine.submit(self._session.state.stop(self._running))

    def __await__(self) -> Generator[Any, None, Comparison]:
        """Wait for the end and return the comparison."""
        return self._wait().__await__()

    async def _wait(self) -> Comparison:
        try:
            return await finished(self.done)
        except asyncio.CancelledError:
            self.stop()
            raise

    def wait(self, timeout_s: float | None = None) -> Comparison:
        """Wait for the end in a plain program and return the comparison."""
        try:
            return self.done.result(timeout_s)
        except KeyboardInterrupt:
            self.stop()
            raise

    async def _run(self) -> None:
        try:
            await self._measure_all()
        except asyncio.CancelledError:
            self.done.set_exception(SessionClosedError(_("The session was closed while the comparison ran.")))
            raise
        except Exception as error:  # noqa: BLE001  (who waits for the comparison gets it)
            self.done.set_exception(error)
        finally:
            if not self.done.done():
                self.done.set_result(self)
            self.watchers.tell(Topic.TRANSFERS, self)

    async def _measure_all(self) -> None:
        work = [(size, path) for size in self.sizes for path in self.paths]
        for number, (size, path) in enumerate(work):
            if self.stopped:
                return
            self.doing = _("{size}, {path}").format(size=format_size(size), path=path.value)
            point = await self._measure(size, path)
            if point is None:
                return
            self.measured[path].append(point)
            self.progress = (number + 1) / len(work)
            self.watchers.tell(Topic.SAMPLES, point)

    async def _measure(self, size_bytes: int, path: DataPath) -> MeasuredPoint | None:
        count = min(_MOST_MESSAGES, max(_LEAST_MESSAGES, _MOST_BYTES // size_bytes))
        full = await self._transfer(size_bytes, path, self.depth, self.qps, count)
        single = None
        if full is not None:
            count = min(_LATENCY_MESSAGES, count)
            single = await self._transfer(size_bytes, path, 1, 1, count)
        if full is None or single is None:
            return None
        self.latencies[path][size_bytes] = single.latency
        return MeasuredPoint(
            size_bytes,
            full.bandwidth_bytes_per_s,
            full.messages_per_s,
            single.latency.p50,
            single.latency.p99,
            single.latency.p999,
            full.cpu_share,
        )

    async def _transfer(
        self, size_bytes: int, path: DataPath, depth: int, qps: int, count: int
    ) -> TransferResult | None:
        spec = TransferSpec(self.op, path, size_bytes, depth, qps, count)
        transfer = await self._session.state.start(self.local, self.remote, spec, quiet=True)
        self._running = transfer
        result = await asyncio.wrap_future(transfer.done)
        self._running = None
        self._session.state.forget(transfer)
        if result.status is not WcStatus.SUCCESS:
            raise GdvizError(
                _("{path} at {size} failed: {status}. {meaning}").format(
                    path=path.value,
                    size=format_size(size_bytes),
                    status=result.status.name,
                    meaning=result.status.meaning,
                )
            )
        return None if self.stopped else result

    def __repr__(self) -> str:
        paths = _("both paths") if len(self.paths) > 1 else _("the staged path")
        return f"<comparison of {paths}, {self.op}, {len(self.sizes)} sizes, {self.progress:.0%}>"
