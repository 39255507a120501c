"""Simulated completion queues."""

from __future__ import annotations

import errno
from collections import deque
from typing import TYPE_CHECKING

from gdviz.errors import VerbsError
from gdviz.messages import _
from gdviz.rdma.requests import Completion

if TYPE_CHECKING:
    from gdviz.rdma.simulated.devices import SimulatedDevice
    from gdviz.rdma.simulated.queue_pairs import SimulatedQueuePair


class SimulatedCompletionQueue:
    """A simulated completion queue.

    One that overruns stays so: what it held can still be taken, then every poll fails, and the queue pairs
    that use it are in the error state (a real NIC raises IBV_EVENT_CQ_ERR).
    """

    def __init__(self, device: SimulatedDevice, depth: int) -> None:
        self.device = device
        self.depth = depth
        self.users: list[SimulatedQueuePair] = []
        self.overrun = False
        self.destroyed = False
        self._entries: deque[tuple[Completion, SimulatedQueuePair, bool, int]] = deque()

    def push(self, completion: Completion, pair: SimulatedQueuePair, *, sent: bool, ticket: int) -> None:
        """Put a completion in.

        Parameters
        ----------
        sent
            Whether it is of the send queue.
        ticket
            The work request's number in its queue; polling frees the queue up to it.
        """
        if self.overrun:
            return
        if len(self._entries) >= self.depth:
            self.overrun = True
            for user in list(self.users):
                user.enter_error()
            self.device.provider.network.changed()
            return
        self._entries.append((completion, pair, sent, ticket))

    def purge(self, pair: SimulatedQueuePair) -> None:
        """Drop the completions of a queue pair that is reset or destroyed."""
        self._entries = deque(entry for entry in self._entries if entry[1] is not pair)

    def poll(self, max_entries: int = 16) -> list[Completion]:
        """Take up to so many completions, oldest first."""
        if self.destroyed:
            raise VerbsError(_("The completion queue has been destroyed."), errno=errno.EINVAL)
        self.device.provider.network.settle()
        if self.overrun and not self._entries:
            raise VerbsError(
                _("The completion queue has overrun: it holds {depth} entries.").format(depth=self.depth),
                _("Make it as deep as all the work requests that may complete between two polls."),
                errno=errno.EOVERFLOW,
            )
        taken: list[Completion] = []
        while self._entries and len(taken) < max_entries:
            completion, pair, sent, ticket = self._entries.popleft()
            pair.polled(sent=sent, ticket=ticket)
            taken.append(completion)
        return taken

    def destroy(self) -> None:
        """Give it back; EBUSY while a queue pair uses it."""
        if self.users:
            raise VerbsError(
                _("The completion queue is used by {count} queue pairs.").format(count=len(set(self.users))),
                _("Destroy them first."),
                errno=errno.EBUSY,
            )
        self.destroyed = True
        self.device.completion_queues.discard(self)
