"""perftest's measurements in a session: what ``ib_write_bw`` or ``ib_read_lat`` does between two nodes."""

from __future__ import annotations

import math
from contextlib import ExitStack
from dataclasses import dataclass, replace

import numpy as np

from gdviz.errors import GdvizError, TransferError
from gdviz.messages import _
from gdviz.model import DEFAULTS, DataPath, Op
from gdviz.model.calibration.measured import half_round_trip_s
from gdviz.rdma import AccessFlags, LatencyHistogram, TransferResult, TransferSpec, TransferState
from gdviz.session.objects import MemoryRegion, Node
from gdviz.session.session import Session
from gdviz.session.transfers import Transfer

_ACCESS = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ

#: Seconds over which a peak is a mean.
PEAK_S = 0.1


@dataclass(frozen=True, slots=True)
class BandwidthTest:
    """A bandwidth test; the defaults are perftest's.

    Attributes
    ----------
    count
        Messages on each queue pair.
    duration_s
        Instead of a count.
    bidirectional
        The same runs the other way at the same time; rates are sums.
    """

    op: Op = Op.WRITE
    path: DataPath = DataPath.DIRECT
    count: int = 5000
    duration_s: float | None = None
    depth: int = 128
    qps: int = 1
    bidirectional: bool = False

    def spec(self, size_bytes: int) -> TransferSpec:
        """Return the transfer of one message size; never more in flight than there are messages."""
        count = None if self.duration_s is not None else self.count * self.qps
        depth = self.depth if count is None else min(self.depth, self.count)
        return TransferSpec(
            self.op, self.path, size_bytes, depth, self.qps, count=count, duration_s=self.duration_s
        )


@dataclass(frozen=True, slots=True)
class LatencyTest:
    """A latency test: one message at a time, to and fro; the defaults are perftest's."""

    op: Op = Op.WRITE
    path: DataPath = DataPath.DIRECT
    count: int = 1000
    duration_s: float | None = None

    def spec(self, size_bytes: int) -> TransferSpec:
        """Return the transfer of one message size."""
        count = None if self.duration_s is not None else self.count
        return TransferSpec(self.op, self.path, size_bytes, 1, count=count, duration_s=self.duration_s)


@dataclass(frozen=True, slots=True)
class BandwidthRow:
    """What a bandwidth test of one message size came to.

    Attributes
    ----------
    iterations
        Messages, of one direction.
    peak_bytes_per_s
        Of the best tenth of a second, where the test lasts longer; perftest looks at single messages. None
        in a test by duration, as in perftest.
    average_bytes_per_s
        Over the whole test.
    """

    size_bytes: int
    iterations: int
    peak_bytes_per_s: float | None
    average_bytes_per_s: float
    messages_per_s: float


@dataclass(frozen=True, slots=True)
class LatencyRow:
    """What a latency test of one message size came to: half round trips, for READ whole ones.

    Attributes
    ----------
    per_s
        Round trips a second.
    """

    size_bytes: int
    iterations: int
    min_s: float
    max_s: float
    typical_s: float
    mean_s: float
    stdev_s: float
    p99_s: float
    p999_s: float
    per_s: float


@dataclass(frozen=True, slots=True)
class Place:
    """Where a test's buffer lies on a node.

    Attributes
    ----------
    node, nic
        Names.
    gpu
        Index of the GPU; None for host memory next to the NIC.
    """

    node: Node
    nic: str
    gpu: int | None = None


def run_bandwidth(
    session: Session, ends: tuple[Place, Place], test: BandwidthTest, size: int
) -> BandwidthRow:
    """Run one message size.

    Raises
    ------
    TransferError
        A message failed; the message says with which status.
    """
    spec = test.spec(size)
    ways = 2 if test.bidirectional else 1
    with ExitStack() as stack:
        pairs = []
        for one, other in (ends, ends[::-1])[:ways]:
            pairs.append((_region(stack, one, size), _region(stack, other, size)))
        results = _run(session, pairs, spec)
    rates = [result.bandwidth_bytes_per_s for result, _peak in results]
    peaks = [max(result.bandwidth_bytes_per_s, peak) for result, peak in results]
    return BandwidthRow(
        size_bytes=size,
        iterations=results[0][0].messages,
        peak_bytes_per_s=None if test.duration_s is not None else sum(peaks),
        average_bytes_per_s=sum(rates),
        messages_per_s=sum(result.messages_per_s for result, _peak in results),
    )


def run_latency(session: Session, ends: tuple[Place, Place], test: LatencyTest, size: int) -> LatencyRow:
    """Run one message size.

    Real nodes play ping-pong. Of simulated ones the latency to the completion is known, from which what the
    model has for the way back is taken away.

    Raises
    ------
    TransferError
        A message failed; the message says with which status.
    """
    spec = test.spec(size)
    real = not session.simulated_nodes
    if real and test.path is DataPath.DIRECT:
        spec = replace(spec, ping_pong=True)
    elif real:
        raise GdvizError(_("The latency of real nodes is that of the direct path."), _("Leave out --path."))
    with ExitStack() as stack:
        pair = (_region(stack, ends[0], size), _region(stack, ends[1], size))
        ((result, _peak),) = _run(session, [pair], spec)
    later_s = 0.0
    if not real and test.op is not Op.READ:
        stages = result.prediction.stages
        later_s = max(stage.end_s for stage in stages) - half_round_trip_s(result.prediction, DEFAULTS)
    return latency_row(test.op, size, result.messages, result.latency, later_s)


def latency_row(op: Op, size: int, messages: int, latency: LatencyHistogram, later_s: float) -> LatencyRow:
    """Return the figures of a histogram whose latencies are all `later_s` longer than what is asked for."""
    values, counts = latency.buckets()
    mean = float(np.average(values, weights=counts)) if counts.size else math.nan
    spread = float(np.average((values - mean) ** 2, weights=counts)) if counts.size else math.nan
    fixed = {"min_s": latency.min, "max_s": latency.max, "typical_s": latency.p50, "mean_s": mean}
    tail = {"p99_s": latency.p99, "p999_s": latency.p999}
    found = {name: value - later_s for name, value in (fixed | tail).items()}
    per_s = 1 / found["mean_s"] / (1 if op is Op.READ else 2)
    return LatencyRow(size, messages, stdev_s=math.sqrt(spread), per_s=per_s, **found)


def _region(stack: ExitStack, end: Place, size: int) -> MemoryRegion:
    nic = end.node.nic(end.nic)
    if end.gpu is not None:
        memory = end.node.gpu(end.gpu).alloc(size)
    else:
        cpu = end.node.machine.cpu_of(nic.part.id)
        memory = end.node.host(cpu.numa if cpu is not None else end.node.machine.cpus[0].numa).alloc(size)
    stack.callback(memory.free)
    region = nic.register(memory, _ACCESS)
    stack.callback(region.deregister)
    return region


def _run(
    session: Session, pairs: list[tuple[MemoryRegion, MemoryRegion]], spec: TransferSpec
) -> list[tuple[TransferResult, float]]:
    """Run transfers at the same time; return each one's result and best stretch."""
    transfers: list[Transfer] = []
    try:
        for one, other in pairs:
            transfers.append(session.ask(session.state.start(one, other, spec, quiet=True)))
        return [(_good(transfer), _peak(transfer)) for transfer in transfers]
    finally:
        for transfer in transfers:
            transfer.stop()
            session.state.forget(transfer)


def _good(transfer: Transfer) -> TransferResult:
    result = transfer.wait()
    if result.state is TransferState.FAILED:
        raise TransferError(
            _("A message failed: {status}. {meaning}").format(
                status=result.status.name, meaning=result.status.meaning
            )
        )
    return result


def _peak(transfer: Transfer) -> float:
    """Return bytes a second of the best `PEAK_S`, 0 where the transfer was shorter."""
    ends_s = transfer.history.column("time_s")
    if ends_s.size < 2:
        return 0.0
    # When the first sample began nobody knows, so counting starts at its end. By when its last message
    # completed a stretch has up to one message more than its share.
    moved = np.cumsum(transfer.history.column("bandwidth_bytes_per_s")[1:] * np.diff(ends_s))
    moved = np.concatenate(([0.0], moved))
    begins = np.searchsorted(ends_s, ends_s - PEAK_S, side="right") - 1
    whole = begins >= 0
    if not whole.any():
        return 0.0
    begins = begins[whole]
    seconds = ends_s[whole] - ends_s[begins]
    return float(((moved[whole] - moved[begins] - transfer.spec.size_bytes) / seconds).max())
