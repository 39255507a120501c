"""Bulk runs: the simulated side of a transfer.

A run follows the clock without simulating each of ten million messages a second (see `stream`); rules are
judged for its messages by the code for single ones (see `faults`), whenever something has changed; bytes
are copied as they are sent, through the bounce buffers where the path is staged (see `copying`). Runs that
meet somewhere share it fairly (see `sharing`); single work requests beside them are not counted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gdviz.errors import AllocationError
from gdviz.model import DataPath, Op, Prediction, flow
from gdviz.rdma.requests import Completion, WcOpcode
from gdviz.rdma.simulated.copying import Copier, Stretch
from gdviz.rdma.simulated.faults import OPCODES, Fault, Inspector, check_start
from gdviz.rdma.simulated.memory import SparseMemory
from gdviz.rdma.simulated.regions import SimulatedRegion
from gdviz.rdma.simulated.sharing import demand
from gdviz.rdma.simulated.stream import EXACT_MESSAGES, Stream
from gdviz.rdma.simulated.tally import Tally
from gdviz.rdma.simulated.timing import End
from gdviz.rdma.status import WcStatus
from gdviz.rdma.transfer import (
    Bounce,
    Interval,
    RemoteRegion,
    TransferEvent,
    TransferResult,
    TransferSpec,
    TransferState,
    next_state,
)

if TYPE_CHECKING:
    from gdviz.rdma.simulated.network import SimulatedNetwork
    from gdviz.rdma.simulated.provider import SimulatedProvider
    from gdviz.rdma.simulated.queue_pairs import SimulatedQueuePair


class BulkRun:
    """A simulated transfer. Made by `SimulatedProvider.start_transfer`."""

    def __init__(
        self,
        network: SimulatedNetwork,
        provider: SimulatedProvider,
        pairs: Sequence[SimulatedQueuePair],
        local: SimulatedRegion,
        remote: RemoteRegion,
        spec: TransferSpec,
        bounce: Bounce | None,
    ) -> None:
        check_start(pairs, spec, bounce)
        self.spec = spec
        self.provider = provider
        self.error: Completion | None = None
        self._network = network
        self._pairs = tuple(pairs)
        self._inspector = Inspector(network, pairs, local, remote, spec, bounce)
        target = network.region_of(remote)
        here, there = End.of(local), End.of(target) if target else network.end_of(remote, End.of(local))
        messages = flow(
            here.endpoint,
            there.endpoint,
            spec.workload,
            fabric=network.fabric,
            constants=network.constants,
            seed=network.next_seed(),
        )
        self.prediction: Prediction = messages.prediction
        self.demand = demand(self.prediction, here, there)
        self._answer_s = max(stage.end_s for stage in self.prediction.stages)
        self._copier = _copier(network, local, target, spec, bounce, self._inspector.slots.span_bytes)
        if self._copier is not None:
            network.commit.check(self._copier.room_bytes)
        exact = spec.count is not None and spec.count <= EXACT_MESSAGES
        self._stream = Stream(messages, exact=exact)
        self._tally = Tally(network.now, spec.size_bytes, messages.cpu_seconds_per_message, self.prediction)
        self._time_s = network.now
        self._end_s = math.inf if spec.duration_s is None else network.now + spec.duration_s
        self._scale = 1.0
        self._stopped = False
        self._draining = 0
        self._epoch = -1
        self._fault: Fault | None = None
        self._stalled_s: float | None = None
        self._result: TransferResult | None = None
        self._reported = False
        self._trouble: Exception | None = None
        self._state = next_state(TransferState.CREATED, TransferEvent.START)
        for pair in pairs:
            pair.run = self

    # What everybody may ask.

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
            shares.append(self._tally.messages / self.spec.count)
        if self.spec.duration_s is not None:
            shares.append((self._time_s - self._tally.start_s) / self.spec.duration_s)
        return min(1.0, max(shares))

    def advance(self) -> Interval | None:
        """Bring the run up to the clock's time; return what has happened since, None if nothing has."""
        self._network.settle()
        if self._trouble is not None:
            raise self._trouble
        if self._reported:
            return None
        self._reported = self._state.final
        interval = self._tally.interval(self._time_s)
        return interval if interval.duration_s > 0 or interval.messages or self._reported else None

    def stop(self) -> None:
        """Post no more. The next `advance` ends the run; what is in flight then counts as completed.

        Its completions lie ahead of the clock by a queue's time at most; waiting for them would only make
        Stop slow. A run that waits for an answer is flushed.
        """
        if not self._state.final:
            self._network.settle()
        if not self._state.final:
            self._state = next_state(self._state, TransferEvent.STOP)
            self._stopped = True

    # What the network asks.

    @property
    def flowing(self) -> bool:
        """Whether it takes bandwidth."""
        return not self._state.final and self._stalled_s is None

    def rescale(self, scale: float) -> None:
        """Set the part of its own bandwidth that it gets from now on."""
        self._scale = scale

    def expected_end_s(self) -> float:
        """Return about when it ends, infinite if nobody knows."""
        ends = [self._end_s]
        left = self._limit()
        if left is not None:
            ends.append(self._time_s + left / (self.prediction.messages_per_s * self._scale))
        return min(ends)

    def catch_up(self, memory: SparseMemory) -> None:
        """Copy all that has been sent, if it has to do with a memory."""
        if self._copier is not None and self._copier.uses(memory):
            self._copy(everything=True)

    def let_go(self, memory: SparseMemory) -> None:
        """Copy nothing any more, if it has to do with a memory."""
        if self._copier is not None and self._copier.uses(memory):
            self._copier = None

    def simulate(self, to_s: float) -> None:
        """Bring the run up to a time."""
        while not self._state.final and (self._time_s < to_s or self._stopped):
            fault = self._inspect()
            if fault is not None and self._passing(fault) == 0:
                if self._stopped or not self._stall(fault, to_s):
                    break
                continue
            self._stalled_s = None
            self._produce(to_s, None if fault is None else self._passing(fault))
        if self._stopped and not self._state.final:
            self._flush()

    def abort(self, trouble: Exception) -> None:
        """End at once, because of something that should not have happened; `advance` raises it."""
        self._trouble = trouble
        self._copier = None
        self._state = TransferState.FAILED
        for pair in self._pairs:
            pair.run = None

    def _inspect(self) -> Fault | None:
        if self._epoch != self._network.epoch:
            self._epoch = self._network.epoch
            self._fault = self._inspector.find()
        return self._fault

    def _passing(self, fault: Fault) -> int:
        """Return how many messages pass before the one that does not."""
        return max(0, fault.slot - self._tally.messages % self._inspector.slots.count)

    def _stall(self, fault: Fault, to_s: float) -> bool:
        """Wait with a message that does not pass; False when `to_s` is reached meanwhile."""
        if self._stalled_s is None:
            self._stalled_s = self._time_s
        answer_s = self._stalled_s + fault.wait_s + self._answer_s
        if answer_s > to_s:
            self._time_s = to_s
            return False
        self._time_s = max(self._time_s, answer_s)
        self._fail(fault)
        return True

    def _limit(self) -> int | None:
        if self._state is TransferState.DRAINING:
            return self._draining
        return None if self.spec.count is None else self.spec.count - self._tally.messages

    def _produce(self, to_s: float, passing: int | None) -> None:
        """Let messages through, up to a time."""
        if self._stopped and not self._draining:
            self._drain()
            if self._state.final:
                return
        until_s = math.inf if self._stopped else to_s
        if self._state is TransferState.RUNNING:
            until_s = max(self._time_s, min(until_s, self._end_s))
        limit = self._limit()
        if passing is not None:
            limit = passing if limit is None else min(limit, passing)
        stream, began_s = self._stream, self._stream.time_s
        wanted_s = began_s + (until_s - self._time_s) * self._scale
        draining = self._state is TransferState.DRAINING
        taken = stream.advance(min(wanted_s, stream.end_s) if draining else wanted_s, limit)
        if taken.last_s < wanted_s:
            self._time_s += (taken.last_s - began_s) / self._scale
        else:
            self._time_s = until_s
        # Where bandwidth is shared, a full queue takes longer in the same proportion.
        self._tally.add(taken.latency_s / self._scale, taken.messages)
        if not self._copy():
            return
        if self._state is TransferState.DRAINING:
            self._draining -= taken.messages
            if not stream.pending:
                self._finish(TransferEvent.EMPTIED if self._stopped else TransferEvent.LAST_COMPLETED)
        elif self.spec.count is not None and self._tally.messages >= self.spec.count:
            self._state = next_state(self._state, TransferEvent.LAST_POSTED)
            self._finish(TransferEvent.LAST_COMPLETED)
        elif self._time_s >= self._end_s:
            self._state = next_state(self._state, TransferEvent.LAST_POSTED)
            self._drain()

    def _drain(self) -> None:
        """Let what has been posted complete, and nothing else."""
        left = None if self.spec.count is None else self.spec.count - self._tally.messages
        self._draining = self._stream.close(self.spec.depth * self.spec.qps, left)
        if not self._draining and not self._state.final:
            self._finish(TransferEvent.EMPTIED if self._stopped else TransferEvent.LAST_COMPLETED)

    def _copy(self, *, everything: bool = False) -> bool:
        if self._copier is None:
            return True
        sent = self._tally.messages * self.spec.size_bytes
        try:
            if everything:
                self._copier.advance(sent, None)
            else:
                self._copier.advance(sent)
        except AllocationError:
            self._copier = None
            self._fail(Fault(self._pairs[0], WcStatus.GENERAL_ERR))
            return False
        return True

    # How it ends.

    def _finish(self, event: TransferEvent) -> None:
        if self._copy(everything=True):
            self._end(next_state(self._state, event))

    def _flush(self) -> None:
        """End a run that was stopped while it waited for an answer."""
        for pair in self._pairs:
            pair.run = None
            pair.enter_error()
        self._finish(TransferEvent.EMPTIED)

    def _fail(self, fault: Fault) -> None:
        pair = fault.pair
        opcode = WcOpcode.of(OPCODES[self.spec.op])
        self.error = Completion(self._tally.messages, fault.status, opcode, 0, pair.qp_num)
        self._copy(everything=True)
        peer = self._network.peer_of(pair)
        self._end(next_state(self._state, TransferEvent.ERROR))
        pair.enter_error()
        if fault.answered and peer is not None:
            peer.enter_error()

    def _end(self, state: TransferState) -> None:
        if self._state.final:
            return
        self._state = state
        self._result = self._tally.result(state, self._time_s, self.error)
        for pair in self._pairs:
            pair.run = None


def _copier(
    network: SimulatedNetwork,
    local: SimulatedRegion,
    remote: SimulatedRegion | None,
    spec: TransferSpec,
    bounce: Bounce | None,
    span_bytes: int,
) -> Copier | None:
    if remote is None:
        return None
    way = [_stretch(local, spec.local_offset), _stretch(remote, spec.remote_offset)]
    if spec.path is DataPath.STAGED and bounce is not None:
        far = network.region_of(bounce.remote)
        if far is None or not isinstance(bounce.local, SimulatedRegion):
            return None
        way[1:1] = [_stretch(bounce.local, 0), _stretch(far, 0)]
    return Copier(way[::-1] if spec.op is Op.READ else way, span_bytes)


def _stretch(region: SimulatedRegion, offset: int) -> Stretch:
    return Stretch(region.buffer.memory, region.offset + offset, max(0, region.length - offset))
