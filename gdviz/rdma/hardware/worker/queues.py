"""Completion queues and queue pairs of a worker, with what it remembers of them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from gdviz.rdma.hardware.backends.base import Completed, Context, Domain, Pair, Path, Port, Queue
from gdviz.rdma.states import QpType

ERR = 6

#: Completion opcodes from here on are of receives (IBV_WC_RECV).
RECEIVED = 1 << 7


@dataclass(eq=False)
class OpenedDevice:
    """A NIC."""

    name: str
    context: Context
    port: Port
    gid: str
    gid_index: int


@dataclass(eq=False)
class OpenedDomain:
    """A protection domain, and how much hangs on it."""

    device: OpenedDevice
    domain: Domain
    users: int = 0


@dataclass(eq=False)
class SharedQueue:
    """A completion queue.

    Attributes
    ----------
    pairs
        The queue pairs that report here, by number.
    kept
        Completions that a running transfer has met and that are not its own.
    owner
        The work that polls it; nobody else does meanwhile.
    """

    device: OpenedDevice
    queue: Queue
    pairs: dict[int, OpenedPair] = field(default_factory=dict)
    kept: deque[Completed] = field(default_factory=deque)
    owner: object | None = None

    def poll(self, most: int) -> list[Completed]:
        """Take completions for whoever asks from outside."""
        found = [self.kept.popleft() for _ in range(min(most, len(self.kept)))]
        if len(found) < most and self.owner is None:
            found += self.queue.poll(most - len(found))
        for entry in found:
            pair = self.pairs.get(entry[4])
            if pair is not None:
                pair.note_completion(entry)
        return found

    def set_aside(self) -> None:
        """Keep what is in the queue for whoever asks later."""
        while found := self.queue.poll(64):
            self.kept += found


@dataclass(eq=False)
class OpenedPair:
    """A queue pair."""

    domain: OpenedDomain
    pair: Pair
    kind: QpType
    send: SharedQueue
    receive: SharedQueue
    max_send_wr: int
    max_recv_wr: int
    max_inline: int
    #: Receives without memory that are posted, for notes; and those into memory, of earlier transfers.
    empty_receives: int = 0
    aimed_receives: int = 0
    work: object | None = None
    #: Single requests that hold places in the send queue; of signaled ones the number up to them, and wr_id.
    posted: int = 0
    freed: int = 0
    signals: deque[tuple[int, int]] = field(default_factory=deque)

    def note_send(self, wr_id: int, *, signaled: bool) -> None:
        """Count a single request."""
        self.posted += 1
        if signaled:
            self.signals.append((self.posted, wr_id))

    def note_completion(self, entry: Completed) -> None:
        """Free the places up to a request whose completion was polled."""
        if entry[1]:
            # After an error nothing waits any more, and the completion does not say which queue it is of.
            self.freed = self.posted
            self.signals.clear()
        elif entry[2] < RECEIVED and self.signals:
            self.freed = self.signals.popleft()[0]

    @property
    def full(self) -> bool:
        """Whether single requests fill the send queue.

        Some devices would take more, for they free a place before its completion is polled, or have rounded
        the number up.
        """
        return self.posted - self.freed >= self.max_send_wr

    @property
    def number(self) -> int:
        """Its number."""
        return self.pair.qp_num

    def path_to(self, gid: str, lid: int) -> Path:
        """Return the way to another port."""
        device = self.domain.device
        return Path(gid, lid, device.port.number, device.gid_index, device.port.ethernet)

    def fail(self) -> None:
        """Go to ERR; a pair that cannot is left as it is."""
        attributes: dict[str, Any] = {}
        try:
            self.pair.modify(ERR, attributes, None)
        except OSError:
            return
