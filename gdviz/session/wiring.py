"""What a transfer needs besides its two regions: queue pairs on both nodes, and bounce buffers."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from gdviz.errors import GdvizError, NodeLostError
from gdviz.machine import Machine
from gdviz.messages import _
from gdviz.model import DEFAULTS, DataPath, Fabric, Op
from gdviz.nodes import BufferRecord, Fleet, QueuePairGroup, RegionRecord
from gdviz.rdma import AccessFlags, Location, RemoteRegion, TransferSpec

#: Path MTUs in bytes that a queue pair can have (``enum ibv_mtu``).
PATH_MTUS = (4096, 2048, 1024, 512, 256)


@dataclass
class Wiring:
    """What was opened for one transfer, to be given back at its end.

    Attributes
    ----------
    served
        Nodes that do their part of another's transfer, and its number.
    groups
        Queue pairs, of the posting node first.
    regions, buffers
        Bounce buffers and their registrations.
    fabric
        The wire between the nodes, whose MTU the queue pairs take; None: as large as their ports have it.
    """

    fabric: Fabric | None = None

    served: list[tuple[str, int]] = field(default_factory=list)
    groups: list[QueuePairGroup] = field(default_factory=list)
    regions: list[RegionRecord] = field(default_factory=list)
    buffers: list[BufferRecord] = field(default_factory=list)

    async def connect(
        self,
        fleet: Fleet,
        machines: Mapping[str, Machine],
        near: RegionRecord,
        far: RegionRecord,
        spec: TransferSpec,
    ) -> tuple[int, RemoteRegion] | None:
        """Open and connect queue pairs; return the bounce buffers of a staged transfer, else None."""
        for region in (near, far):
            self.groups.append(
                await fleet.call(region.node, "open_queue_pairs", region.nic, spec.qps, spec.depth)
            )
        for here, there in (self.groups, self.groups[::-1]):
            await fleet.call(here.node, "connect", here.number, there.addresses, self._path_mtu)
        if spec.path is not DataPath.STAGED:
            return None
        for region in (near, far):
            await self._bounce(fleet, machines[region.node], region, _bounce_bytes(spec))
        return self.regions[0].number, as_remote(self.regions[1])

    @property
    def _path_mtu(self) -> int:
        if self.fabric is None:
            return PATH_MTUS[0]
        return next((mtu for mtu in PATH_MTUS if mtu <= self.fabric.mtu_bytes), PATH_MTUS[-1])

    async def serve(
        self, fleet: Fleet, number: int, near: RegionRecord, far: RegionRecord, spec: TransferSpec
    ) -> None:
        """Have the other node do its part, before the posting node starts."""
        theirs = None
        if spec.path is DataPath.STAGED:
            theirs = (self.regions[1].number, as_remote(self.regions[0]))
        group = self.groups[1].number
        await fleet.call(far.node, "serve", number, group, far.number, as_remote(near), spec, theirs)
        self.served.append((far.node, number))

    async def _bounce(self, fleet: Fleet, machine: Machine, region: RegionRecord, size_bytes: int) -> None:
        """Allocate and register a bounce buffer in the host memory next to a region's NIC."""
        cpu = machine.cpu_of(region.nic) or next(iter(machine.cpus), None)
        if cpu is None:
            raise GdvizError(
                _("{node} has no host memory for bounce buffers: its description names no CPU.").format(
                    node=machine.name
                ),
                _("Use the direct path."),
            )
        buffer = await fleet.call(region.node, "alloc", Location("host", cpu.id), size_bytes, "zeros", 0)
        self.buffers.append(buffer)
        access = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ
        self.regions.append(
            await fleet.call(region.node, "register", region.nic, buffer.number, access, 0, None)
        )

    async def give_back(self, fleet: Fleet) -> None:
        """Close and free everything; what was on a node that is gone is gone with it."""
        for node, number in self.served:
            with suppress(NodeLostError):
                await fleet.call(node, "unserve", number)
        for command, records in (
            ("close_queue_pairs", self.groups),
            ("deregister", self.regions),
            ("free", self.buffers),
        ):
            for record in records:
                with suppress(NodeLostError):
                    await fleet.call(record.node, command, record.number)


def _bounce_bytes(spec: TransferSpec) -> int:
    """Return bytes of a bounce buffer: enough for copying and sending to overlap, as the model has it."""
    enough = DEFAULTS.chunk_bytes * DEFAULTS.bounce_buffers
    return max(spec.size_bytes, min(spec.size_bytes * spec.depth, enough)) * spec.qps


def as_remote(record: RegionRecord) -> RemoteRegion:
    """Return what the other side is told of a region."""
    return RemoteRegion(record.node, record.nic, record.address, record.length, record.rkey)


def local_access(op: Op) -> AccessFlags:
    """Return the access that an operation needs of the region whose node posts it."""
    return AccessFlags.LOCAL_WRITE if op is Op.READ else AccessFlags(0)


def remote_access(op: Op) -> AccessFlags:
    """Return the access that an operation needs of the region at the other end."""
    if op is Op.WRITE:
        return AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE
    return AccessFlags.REMOTE_READ if op is Op.READ else AccessFlags.LOCAL_WRITE
