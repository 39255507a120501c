"""When a single message arrives and completes, as the model has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gdviz.machine import Machine
from gdviz.model import DEFAULTS, Constants, DataPath, Endpoint, Fabric, Op, Workload, flow, timeline
from gdviz.rdma.provider import Location
from gdviz.rdma.requests import Opcode

if TYPE_CHECKING:
    from gdviz.rdma.simulated.devices import SimulatedDevice
    from gdviz.rdma.simulated.regions import SimulatedRegion

_OPS = {
    Opcode.RDMA_WRITE: Op.WRITE,
    Opcode.RDMA_WRITE_WITH_IMM: Op.WRITE,
    Opcode.SEND: Op.SEND,
    Opcode.SEND_WITH_IMM: Op.SEND,
    Opcode.RDMA_READ: Op.READ,
}


@dataclass(frozen=True, slots=True)
class MessageTiming:
    """Times of one message.

    Attributes
    ----------
    deliver_s, complete_s
        From posting to the payload's arrival in memory, and to the completion.
    gap_s
        Between messages that follow each other.
    """

    deliver_s: float
    complete_s: float
    gap_s: float


@dataclass(frozen=True)
class End:
    """One end of a message: a NIC and where the memory is.

    Attributes
    ----------
    node
        Number of the node in its network.
    """

    node: int
    machine: Machine
    nic: str
    location: Location

    @classmethod
    def at(cls, device: SimulatedDevice, location: Location | None = None) -> End:
        """Return the end at a NIC; without a location, host memory beside the NIC."""
        machine = device.provider.machine
        if location is None:
            cpu = machine.cpu_of(device.nic.id)
            location = Location("host", cpu.id if cpu else "")
        return cls(device.provider.ordinal, machine, device.nic.id, location)

    @classmethod
    def of(cls, region: SimulatedRegion) -> End:
        """Return the end at a memory region."""
        return cls.at(region.domain.device, region.buffer.location)

    @property
    def endpoint(self) -> Endpoint:
        """The same for the model."""
        if self.location.kind == "gpu":
            return Endpoint(self.machine, self.nic, gpu=self.location.part)
        numa = next((cpu.numa for cpu in self.machine.cpus if cpu.id == self.location.part), -1)
        return Endpoint(self.machine, self.nic, numa=numa if numa >= 0 else None)

    @property
    def key(self) -> tuple[int, str, Location]:
        """What tells it from others of a network, and is quick to compare."""
        return (self.node, self.nic, self.location)


class Timings:
    """Asks the model once for each kind of message."""

    def __init__(self, fabric: Fabric | None = None, constants: Constants = DEFAULTS) -> None:
        self.fabric = fabric
        self.constants = constants
        self._known: dict[object, MessageTiming] = {}

    def message(self, local: End, remote: End, opcode: Opcode, size_bytes: int) -> MessageTiming:
        """Return the times of a message of a size between two ends."""
        op = _OPS[opcode]
        size = max(1, size_bytes)
        key = (local.key, remote.key, op, size)
        if key not in self._known:
            self._known[key] = self._ask(local.endpoint, remote.endpoint, op, size)
        return self._known[key]

    def _ask(self, local: Endpoint, remote: Endpoint, op: Op, size: int) -> MessageTiming:
        workload = Workload(op, DataPath.DIRECT, size)
        stages = timeline(local, remote, workload, fabric=self.fabric, constants=self.constants)
        prediction = flow(local, remote, workload, fabric=self.fabric, constants=self.constants).prediction
        complete = max(stage.end_s for stage in stages)
        deliver = max((stage.end_s for stage in stages if stage.moves_bytes), default=complete)
        return MessageTiming(min(deliver, complete), complete, 1 / prediction.messages_per_s)
