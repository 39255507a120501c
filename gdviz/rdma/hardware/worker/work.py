"""What a worker does for a transfer, a bit at a time: the frame that all kinds of it share."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from gdviz.clock import cpu_seconds, fine_seconds
from gdviz.rdma.hardware.backends.base import Completed
from gdviz.rdma.hardware.worker.queues import OpenedPair, SharedQueue
from gdviz.rdma.requests import Opcode
from gdviz.rdma.status import WcStatus

#: How long a transfer that has been stopped or has failed may wait for what is in flight.
DRAIN_S, FLUSH_S = 3.0, 0.3

#: Completions that are asked for at once.
POLL = 16


@dataclass(frozen=True, slots=True)
class Order:
    """What a transfer shall do, in a worker's terms.

    Attributes
    ----------
    local, remote
        Addresses at which the messages begin.
    local_key, remote_key
        The keys that go with them.
    local_bytes, remote_bytes
        What the regions have from there on.
    span_bytes
        Bytes that all messages cover before they start again.
    bounce
        For the staged path: address, key and length of the bounce buffer, here and there.
    window
        Receives that the other side keeps posted.
    """

    opcode: Opcode
    size_bytes: int
    depth: int
    count: int | None
    duration_s: float | None
    local: int
    local_key: int
    local_bytes: int
    remote: int
    remote_key: int
    remote_bytes: int
    span_bytes: int
    window: int
    staged: bool = False
    bounce: tuple[tuple[int, int, int], tuple[int, int, int]] | None = None
    post_receives: bool = True

    @property
    def slots(self) -> int:
        """Number of messages until they start again."""
        return -(-self.span_bytes // self.size_bytes)

    def offset(self, message: int) -> int:
        """Return where a message lies; the last of a round ends at the span's end."""
        return min(message % self.slots * self.size_bytes, self.span_bytes - self.size_bytes)


@dataclass(frozen=True, slots=True)
class Report:
    """What a work has come to since the last report.

    Attributes
    ----------
    state
        ``running``, ``draining``, ``completed``, ``stopped`` or ``failed``.
    now_s
        When this was told; for an ended work when it ended.
    messages, latencies_s, weights
        Completed since; each latency stands for as many messages as its weight says.
    cpu_s
        CPU time of this process since.
    error
        The first bad completion.
    trouble
        Which call failed where none should.
    """

    state: str
    start_s: float
    now_s: float
    messages: int
    latencies_s: bytes
    weights: bytes
    cpu_s: float
    error: Completed | None
    trouble: str = ""


class Work:
    """Something that goes on in steps.

    Parameters
    ----------
    pairs
        Queue pairs that it has for itself.
    """

    def __init__(self, pairs: Sequence[OpenedPair]) -> None:
        self.pairs = list(pairs)
        self.state = "running"
        self.error: Completed | None = None
        #: What went wrong where nothing should.
        self.trouble = ""
        self.start_s = fine_seconds()
        self.end_s = 0.0
        self.stopping = False
        #: The region that the messages come from has been deregistered.
        self.region_gone = False
        self._messages = 0
        self._latencies = array("d")
        self._weights = array("q")
        self._cpu_s = cpu_seconds()
        self._drain_until = 0.0
        queues: dict[int, SharedQueue] = {}
        for pair in self.pairs:
            pair.work = self
            for queue in (pair.send, pair.receive):
                queues[id(queue)] = queue
        self.queues = list(queues.values())
        for queue in self.queues:
            queue.set_aside()
            queue.owner = self

    @property
    def final(self) -> bool:
        """Whether nothing more happens."""
        return self.state in ("completed", "stopped", "failed")

    def step(self, until_s: float) -> None:
        """Go on until about a time."""
        raise NotImplementedError

    def stop(self) -> None:
        """Begin no more messages."""
        if not self.final and not self.stopping:
            self.stopping = True
            self._drain_until = fine_seconds() + DRAIN_S

    def finish(self, patience_s: float = DRAIN_S) -> None:
        """Stop, and return when all is over."""
        self.stop()
        self._drain_until = min(self._drain_until, fine_seconds() + patience_s)
        while not self.final:
            self.step(fine_seconds() + 1e-3)

    def done(self, messages: int, latency_s: float) -> None:
        """Count messages that have completed."""
        self._messages += messages
        self._latencies.append(latency_s)
        self._weights.append(messages)

    def end(self, state: str, now_s: float) -> None:
        """Be over."""
        self.state = state
        self.end_s = now_s
        self.release()

    def release(self) -> None:
        """Let others have the queues; doing it twice is fine."""
        for pair in self.pairs:
            if pair.work is self:
                pair.work = None
        for queue in self.queues:
            if queue.owner is self:
                queue.owner = None

    def fail(self, completed: Completed, outstanding: int) -> None:
        """Be over because of a bad completion, when what else is in flight has been flushed."""
        self.error = completed
        number = completed[4]
        for pair in self.pairs:
            if pair.number == number:
                pair.fail()
        # The flushed requests' completions belong to this work: whoever polls next shall not meet them.
        give_up_s = fine_seconds() + FLUSH_S
        while outstanding > 0 and fine_seconds() < give_up_s:
            for queue in self.queues:
                for other in queue.queue.poll(POLL):
                    if any(other[4] == pair.number for pair in self.pairs):
                        outstanding -= 1
                    else:
                        queue.kept.append(other)
        self.end("failed", fine_seconds())

    def flush(self) -> None:
        """End what does not drain: the queue pairs go to ERR."""
        for pair in self.pairs:
            pair.fail()
        give_up_s = fine_seconds() + FLUSH_S
        while fine_seconds() < give_up_s:
            for queue in self.queues:
                queue.queue.poll(POLL)
        self.end("stopped", fine_seconds())

    def broke(self, trouble: str) -> None:
        """Be over because a call failed that should not."""
        self.trouble = trouble
        for pair in self.pairs:
            pair.fail()
        self.end("failed", fine_seconds())

    @property
    def overdue(self) -> bool:
        """Whether a stopped work has waited long enough."""
        return self.stopping and fine_seconds() > self._drain_until

    def report(self) -> Report:
        """Return what has happened since the last report."""
        used = cpu_seconds()
        told = Report(
            "draining" if self.stopping and not self.final else self.state,
            self.start_s,
            self.end_s if self.final else fine_seconds(),
            self._messages,
            self._latencies.tobytes(),
            self._weights.tobytes(),
            used - self._cpu_s,
            self.error,
            self.trouble,
        )
        self._messages = 0
        self._latencies, self._weights = array("d"), array("q")
        self._cpu_s = used
        return told


def synthetic(number: int, wr_id: int, status: WcStatus, opcode: int) -> Completed:
    """Return a bad completion that this software makes, not the NIC."""
    return (wr_id, int(status), opcode, 0, number, 0, None)
