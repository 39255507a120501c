"""Simulated nodes and the fabric that joins them, in the time of one clock.

Nothing happens by itself: every call first brings the simulation up to the clock's time (`settle`). So there
is no thread and no waiting, and a lesson can run at any speed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gdviz.clock import Clock
from gdviz.errors import GdvizError
from gdviz.machine import Machine
from gdviz.messages import _
from gdviz.model import DEFAULTS, Constants, Fabric
from gdviz.rdma.requests import Opcode, SendRequest
from gdviz.rdma.simulated.events import EventQueue
from gdviz.rdma.simulated.host import SimulatedHost
from gdviz.rdma.simulated.memory import CommitLimit
from gdviz.rdma.simulated.provider import SimulatedProvider
from gdviz.rdma.simulated.regions import SimulatedRegion
from gdviz.rdma.simulated.runs import BulkRuns
from gdviz.rdma.simulated.timing import End, MessageTiming, Timings
from gdviz.rdma.transfer import RemoteRegion

if TYPE_CHECKING:
    from gdviz.rdma.simulated.devices import SimulatedDevice
    from gdviz.rdma.simulated.queue_pairs import SimulatedQueuePair
    from gdviz.rdma.simulated.sender import Sender


class SimulatedNetwork:
    """Joins simulated nodes.

    Parameters
    ----------
    clock
        Whose time it runs in.
    fabric
        Between all nodes; None: the usual one for each pair of NICs.
    seed
        Of the random parts of latencies.
    constants
        Of the model.
    memory_limit_bytes
        How much of this computer's memory the contents of all buffers may take; None: 4 GiB, or half of
        its memory if less.

    Attributes
    ----------
    now
        Time that the simulation has come to.
    epoch
        Counts the changes that can make a message fail, or work again.
    """

    def __init__(
        self,
        clock: Clock,
        fabric: Fabric | None = None,
        seed: int = 1,
        constants: Constants = DEFAULTS,
        *,
        memory_limit_bytes: int | None = None,
    ) -> None:
        self.clock = clock
        self.fabric = fabric
        self.seed = seed
        self.constants = constants
        self.commit = CommitLimit(memory_limit_bytes)
        self.events = EventQueue()
        self.stalled: set[Sender] = set()
        self.runs = BulkRuns(self)
        self.now = clock.now()
        self.epoch = 0
        self._providers: dict[str, SimulatedProvider] = {}
        self._ports: dict[str, SimulatedDevice] = {}
        self._cut: set[frozenset[str]] = set()
        self._timings = Timings(fabric, constants)
        self._settling = False
        self._nodes_ever = 0
        self._seeds = 0

    def provider(self, machine: Machine, *, settings: SimulatedHost | None = None) -> SimulatedProvider:
        """Add a node.

        Raises
        ------
        GdvizError
            An open node has that name.
        """
        existing = self._providers.get(machine.name)
        if existing is not None and not existing.closed:
            raise GdvizError(
                _("The network has a node {name!r}.").format(name=machine.name),
                _("Give the machine another name: `machine.renamed(...)`."),
            )
        provider = SimulatedProvider(self, machine, settings or SimulatedHost(), self._nodes_ever)
        self._nodes_ever += 1
        self._providers[machine.name] = provider
        return provider

    def nodes(self) -> tuple[str, ...]:
        """Return the names of open nodes."""
        return tuple(name for name, provider in self._providers.items() if not provider.closed)

    def plug(self, device: SimulatedDevice) -> None:
        """Let a NIC's port be found by its GID."""
        self._ports[device.gid] = device

    def cut(self, node_a: str, node_b: str) -> None:
        """Cut the cable between two nodes: messages are lost, and senders give up after their retries."""
        self.settle()
        self._cut.add(frozenset((node_a, node_b)))
        self.changed()

    def mend(self, node_a: str, node_b: str) -> None:
        """Undo `cut`."""
        self.settle()
        self._cut.discard(frozenset((node_a, node_b)))
        self.changed()

    def is_cut(self, node_a: str, node_b: str) -> bool:
        """Whether the cable between two nodes is cut."""
        return frozenset((node_a, node_b)) in self._cut

    def changed(self) -> None:
        """Note that something has changed which messages depend on."""
        self.epoch += 1
        self.wake_senders()

    def wake_senders(self) -> None:
        """Let stalled messages try again at their next turn."""
        for sender in self.stalled:
            sender.wake()

    def settle(self) -> None:
        """Bring the simulation up to the clock's time."""
        if self._settling:
            return
        self._settling = True
        try:
            target = max(self.now, self.clock.now())
            while True:
                step = min(target, max(self.now, self.events.next_s))
                step = self.runs.simulate(step)
                self.now = max(self.now, step)
                while self.events.next_s <= self.now:
                    self.events.pop()()
                if self.now >= target:
                    break
        finally:
            self._settling = False

    def peer_of(self, pair: SimulatedQueuePair) -> SimulatedQueuePair | None:
        """Return the queue pair that a connected one talks to, None if nothing there answers it."""
        gid = pair.attributes.get("ah_attr", "")
        device = self._ports.get(gid)
        if device is None or device.provider.closed or pair.domain.device.provider.closed:
            return None
        if self.is_cut(device.provider.node, pair.domain.device.provider.node):
            return None
        peer = device.queue_pairs.get(pair.attributes.get("dest_qp_num", -1))
        if peer is None or not peer.present_state.answers:
            return None
        theirs = peer.attributes
        if theirs.get("dest_qp_num") != pair.qp_num or theirs.get("ah_attr") != pair.domain.device.gid:
            return None
        return peer if theirs.get("rq_psn") == pair.attributes.get("sq_psn") else None

    def timing(self, pair: SimulatedQueuePair, request: SendRequest) -> MessageTiming:
        """Return the times of a request's message."""
        device = pair.domain.device
        remote = self._ports.get(pair.attributes.get("ah_attr", ""), device)
        local_region = device.regions.get(request.sges[0].lkey) if request.sges else None
        if request.opcode in (Opcode.SEND, Opcode.SEND_WITH_IMM):
            peer = remote.queue_pairs.get(pair.attributes.get("dest_qp_num", -1))
            sges = peer.receives[0].request.sges if peer and peer.receives else ()
            remote_region = remote.regions.get(sges[0].lkey) if sges else None
        else:
            remote_region = remote.regions.get(request.rkey)
        return self._timings.message(
            End.at(device, local_region.buffer.location if local_region else None),
            End.at(remote, remote_region.buffer.location if remote_region else None),
            request.opcode,
            min(request.length, 2**31),
        )

    def region_of(self, remote: RemoteRegion) -> SimulatedRegion | None:
        """Return the region that a description is of, None if there is none (any more)."""
        if isinstance(remote.handle, SimulatedRegion):
            return remote.handle
        device = self._device(remote)
        if device is None:
            return None
        return device.regions.get(remote.rkey) or device.staged.get(remote.rkey)

    def end_of(self, remote: RemoteRegion, otherwise: End) -> End:
        """Return the end at a region that does not exist: its NIC, and host memory."""
        device = self._device(remote)
        return End.at(device) if device else otherwise

    def _device(self, remote: RemoteRegion) -> SimulatedDevice | None:
        for device in self._ports.values():
            provider = device.provider
            if not provider.closed and (provider.node, device.nic.id) == (remote.node, remote.nic):
                return device
        return None

    def next_seed(self) -> int:
        """Return a seed for the next run: runs differ, and a network's runs are the same each time."""
        self._seeds += 1
        return self.seed + self._seeds

    def close(self) -> None:
        """Close all nodes."""
        for provider in self._providers.values():
            provider.close()
