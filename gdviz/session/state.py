"""A session's state and what can be done to it. Everything here runs on the engine's thread."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from gdviz.clock import Clock
from gdviz.errors import GdvizError, NodeLostError, SessionClosedError, TransferError, UnknownDeviceError
from gdviz.machine import Machine
from gdviz.messages import _
from gdviz.model import DataPath, Endpoint, Fabric, predict
from gdviz.nodes import Fleet, Report
from gdviz.quantities import format_size
from gdviz.rdma import (
    AccessFlags,
    Location,
    TransferSpec,
    TransferState,
)
from gdviz.session.events import Event, Topic, Watchers
from gdviz.session.objects import Buffer, MemoryRegion
from gdviz.session.samples import sample_of
from gdviz.session.transfers import Ends, Transfer, ended_text
from gdviz.session.wiring import Wiring, as_remote, local_access, remote_access

if TYPE_CHECKING:
    from gdviz.session.session import Session

#: Messages simulated for a transfer's prediction; enough for its p99.9, and quick.
_PREDICTED_MESSAGES = 4000


class State:
    """The session's objects.

    Parameters
    ----------
    session
        The handle that people hold.
    fleet
        The nodes.
    clock
        The session's time.
    fabric
        The wire between the nodes; None: what their NICs speak.
    """

    def __init__(self, session: Session, fleet: Fleet, clock: Clock, fabric: Fabric | None = None) -> None:
        self._session = session
        self._fleet = fleet
        self._clock = clock
        self._fabric = fabric
        self._numbers = itertools.count(1)
        self._opened: dict[int, tuple[Wiring, list[MemoryRegion]]] = {}
        self._ending: set[asyncio.Task[None]] = set()
        #: Transfers whose end has been told, and is being worked on or done.
        self._told: set[int] = set()
        self._closing = False
        self.machines: dict[str, Machine] = {node.name: node.machine for node in fleet.nodes}
        self.buffers: list[Buffer] = []
        self.regions: list[MemoryRegion] = []
        self.transfers: dict[int, Transfer] = {}
        self.watchers = Watchers()
        fleet.subscribe(self._on_reports)
        fleet.on_lost(self._on_lost)

    # Watching

    def say(self, text: str, level: str = "info") -> None:
        """Tell the watchers a sentence."""
        self.watchers.tell(Topic.EVENTS, Event(self._clock.now(), text, level))

    def place_name(self, node: str, location: Location) -> str:
        """Return where memory lies, for people."""
        machine = self.machines[node]
        if location.kind == "gpu":
            return f"GPU {machine.gpu(location.part).index}"
        cpu = next(cpu for cpu in machine.cpus if cpu.id == location.part)
        return _("host memory {numa}").format(numa=cpu.numa)

    # Buffers and regions

    async def on_node(self, node: str, command: str, *arguments: Any) -> Any:
        """Have a node's agent do something."""
        return await self._fleet.call(node, command, *arguments)

    async def alloc(
        self, node: str, location: Location, size_bytes: int, pattern: str | int | bytes, seed: int = 0
    ) -> Buffer:
        """Allocate a buffer on a node."""
        record = await self._fleet.call(node, "alloc", location, size_bytes, pattern, seed)
        buffer = Buffer(self._session, record)
        self.buffers.append(buffer)
        self.watchers.tell(Topic.OBJECTS, None)
        self.say(
            _("Allocated {size} in {where} of {node}.").format(
                size=format_size(size_bytes), where=self.place_name(node, location), node=node
            )
        )
        return buffer

    async def free(self, buffer: Buffer) -> None:
        """Free a buffer."""
        await self._fleet.call(buffer.record.node, "free", buffer.record.number)
        self.buffers.remove(buffer)
        self.watchers.tell(Topic.OBJECTS, None)
        self.say(_("Freed {size}.").format(size=format_size(buffer.size_bytes)))

    async def bar1_used(self, node: str, gpu: str) -> int:
        """Return how much of a GPU's BAR1 window registrations take."""
        used: int = await self._fleet.call(node, "bar1_used_bytes", gpu)
        return used

    async def register(
        self,
        node: str,
        nic: str,
        buffer: Buffer,
        access: AccessFlags,
        offset: int = 0,
        length: int | None = None,
    ) -> MemoryRegion:
        """Register a buffer with a NIC of its node."""
        if buffer._session is not self._session:
            raise GdvizError(_("The buffer belongs to another session."), _("Allocate one in this session."))
        if buffer.record.node != node:
            raise GdvizError(
                _("The buffer is on {there}, the NIC on {here}.").format(there=buffer.record.node, here=node),
                _("A NIC reaches only the memory of its own node."),
            )
        record = await self._fleet.call(node, "register", nic, buffer.record.number, access, offset, length)
        region = MemoryRegion(self._session, record, buffer)
        self.regions.append(region)
        self.watchers.tell(Topic.OBJECTS, None)
        self.say(
            _("Registered {size} with {nic} of {node}: rkey {rkey:#x}.").format(
                size=format_size(region.length), nic=nic, node=node, rkey=region.rkey
            )
        )
        return region

    async def deregister(self, region: MemoryRegion) -> None:
        """Deregister a memory region."""
        await self._fleet.call(region.record.node, "deregister", region.record.number)
        self.regions.remove(region)
        self.watchers.tell(Topic.OBJECTS, None)
        self.say(_("Deregistered rkey {rkey:#x}.").format(rkey=region.rkey))

    def endpoint(self, memory: Buffer | MemoryRegion) -> Endpoint:
        """Return an end of a transfer, as the model takes it; a bare buffer goes by its nearest NIC."""
        if isinstance(memory, MemoryRegion):
            buffer, nic = memory.buffer, memory.record.nic
        else:
            buffer, nic = memory, self._nearest_nic(memory)
        machine, location = self.machines[buffer.record.node], buffer.record.location
        if location.kind == "gpu":
            return Endpoint(machine, nic, location.part)
        cpu = next(cpu for cpu in machine.cpus if cpu.id == location.part)
        return Endpoint(machine, nic, None, cpu.numa)

    async def registered(self, memory: Buffer | MemoryRegion, access: AccessFlags) -> MemoryRegion:
        """Return a region as it is; register a bare buffer with the NIC nearest to it."""
        if isinstance(memory, MemoryRegion):
            return memory
        return await self.register(memory.record.node, self._nearest_nic(memory), memory, access)

    async def staged(self, memory: Buffer | MemoryRegion) -> MemoryRegion:
        """Return a region as it is; name a bare buffer for the staged path, which registers nothing of it."""
        if isinstance(memory, MemoryRegion):
            return memory
        node = memory.record.node
        record = await self._fleet.call(node, "stage", self._nearest_nic(memory), memory.record.number)
        return MemoryRegion(self._session, record, memory)

    def _nearest_nic(self, memory: Buffer) -> str:
        machine = self.machines[memory.record.node]
        location = memory.record.location
        nic = machine.nearest_nic(location.part) if location.kind == "gpu" else None
        if nic is None:
            nic = next((n for n in machine.nics if n.parent == location.part), None)
            nic = nic or (machine.nics[0] if machine.nics else None)
        if nic is None:
            raise UnknownDeviceError(
                _("{node} has no NIC.").format(node=machine.name), _("Open a machine with one.")
            )
        return nic.id

    # Transfers

    async def start(
        self,
        local: Buffer | MemoryRegion,
        remote: Buffer | MemoryRegion,
        spec: TransferSpec,
        *,
        quiet: bool = False,
    ) -> Transfer:
        """Start a transfer; `local` posts the work requests. A quiet one is not spoken of."""
        if self._closing:
            raise SessionClosedError(_("This session is closed."), _("Open a new one with gdviz.lab()."))
        temporary: list[MemoryRegion] = []
        wiring = Wiring(fabric=self._fabric)
        try:
            near = await self._reached(local, spec, local_access(spec.op), temporary)
            far = await self._reached(remote, spec, remote_access(spec.op), temporary)
            transfer = await self._connected(near, far, spec, wiring)
        except BaseException:
            await self._give_back(wiring, temporary)
            raise
        transfer.quiet = quiet
        self._opened[transfer.number] = (wiring, temporary)
        self.watchers.tell(Topic.TRANSFERS, transfer)
        if not quiet:
            self.say(_("Transfer {number} started.").format(number=transfer.number))
        return transfer

    async def _reached(
        self,
        memory: Buffer | MemoryRegion,
        spec: TransferSpec,
        access: AccessFlags,
        temporary: list[MemoryRegion],
    ) -> MemoryRegion:
        staged = spec.path is DataPath.STAGED
        region = await (self.staged(memory) if staged else self.registered(memory, access))
        if region is not memory:
            temporary.append(region)
        return region

    async def _connected(
        self, near: MemoryRegion, far: MemoryRegion, spec: TransferSpec, wiring: Wiring
    ) -> Transfer:
        ends = Ends(self.endpoint(near), self.endpoint(far))
        prediction = predict(
            ends.local, ends.remote, spec.workload, fabric=self._fabric, messages=_PREDICTED_MESSAGES
        )
        bounce = await wiring.connect(self._fleet, self.machines, near.record, far.record, spec)
        number = next(self._numbers)
        transfer = Transfer(self._session, number, near, far, spec, ends, prediction)
        self.transfers[number] = transfer
        transfer.state = TransferState.RUNNING
        try:
            await wiring.serve(self._fleet, number, near.record, far.record, spec)
            await self._fleet.call(
                near.record.node,
                "start",
                number,
                wiring.groups[0].number,
                near.record.number,
                as_remote(far.record),
                spec,
                bounce,
            )
        except BaseException:
            del self.transfers[number]
            raise
        return transfer

    async def _give_back(self, wiring: Wiring, temporary: list[MemoryRegion]) -> None:
        await wiring.give_back(self._fleet)
        for region in temporary:
            if region in self.regions:
                await self.deregister(region)
            elif not region.pages:  # named for staging, not registered
                with suppress(NodeLostError):
                    await self._fleet.call(region.record.node, "deregister", region.record.number)

    def forget(self, transfer: Transfer) -> None:
        """Drop an ended transfer from the list, for those that are steps of something larger."""
        self.transfers.pop(transfer.number, None)

    async def stop(self, transfer: Transfer) -> None:
        """Stop a transfer; one that has ended already is fine."""
        if not transfer.done.done():
            await self._fleet.call(transfer.local.record.node, "stop", transfer.number)

    async def verify(self, transfer: Transfer) -> bool:
        """Return whether both ends hold the same bytes wherever messages have arrived."""
        spec = transfer.spec
        result = transfer.result
        span = min(transfer.local.length - spec.local_offset, transfer.remote.length - spec.remote_offset)
        if result is not None:
            span = min(span, result.messages * spec.size_bytes)
        sums = [
            await self._fleet.call(
                region.record.node,
                "checksum",
                region.buffer.record.number,
                region.address - region.buffer.address + offset,
                span,
            )
            for region, offset in (
                (transfer.local, spec.local_offset),
                (transfer.remote, spec.remote_offset),
            )
        ]
        return bool(sums[0] == sums[1])

    def _on_reports(self, _node: str, reports: list[Report]) -> None:
        samples = []
        for report in reports:
            transfer = self.transfers.get(report.transfer)
            if transfer is None:
                continue
            transfer.progress = report.progress
            if report.interval is not None and report.interval.end_s > report.interval.start_s:
                sample = sample_of(report)
                transfer.history.append(sample)
                samples.append(sample)
            if (report.result is not None or report.trouble) and self._ends(transfer):
                self._follow(self._end(transfer, report))
        if samples:
            self.watchers.tell(Topic.SAMPLES, samples)

    def _on_lost(self, node: str, why: str) -> None:
        """End what a node that is gone took part in, and forget what it held."""
        self.buffers = [buffer for buffer in self.buffers if buffer.record.node != node]
        self.regions = [region for region in self.regions if region.record.node != node]
        for transfer in tuple(self.transfers.values()):
            took_part = node in (transfer.local.record.node, transfer.remote.record.node)
            if took_part and self._ends(transfer):
                self._follow(self._abandon(transfer, why))
        self.watchers.tell(Topic.OBJECTS, None)
        self.say(why, "error")

    async def _abandon(self, transfer: Transfer, why: str) -> None:
        with suppress(GdvizError):  # the posting end may be the one that is gone
            await self.stop(transfer)
        trouble = Report(transfer.number, None, transfer.progress, TransferState.FAILED, trouble=why)
        await self._end(transfer, trouble)

    def _ends(self, transfer: Transfer) -> bool:
        """Return whether a transfer ends now, for the first reason that is told; False for any later one.

        The end that is left of an abandoned transfer says of itself that it was stopped, and all went well.
        """
        if transfer.done.done() or transfer.number in self._told:
            return False
        self._told.add(transfer.number)
        return True

    def _follow(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._session.engine.loop.create_task(work)
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _end(self, transfer: Transfer, report: Report) -> None:
        transfer.state = report.state
        transfer.failure = report.failure
        trouble = report.trouble
        try:
            await self._give_back(*self._opened.pop(transfer.number, (Wiring(), [])))
        except Exception as error:  # noqa: BLE001  (whoever waits must hear of the end in any case)
            trouble = trouble or (
                str(error) if isinstance(error, GdvizError) else f"{type(error).__name__}: {error}"
            )
        if transfer.done.done():
            return
        if report.result is not None:
            transfer.done.set_result(report.result)
        else:
            transfer.state = TransferState.FAILED
            transfer.done.set_exception(TransferError(trouble))
        self.watchers.tell(Topic.TRANSFERS, transfer)
        if trouble:
            self.say(trouble, "error")
        elif not transfer.quiet:
            self.say(*ended_text(transfer))

    async def close(self) -> None:
        """Stop all transfers and give everything back."""
        self._closing = True
        try:
            for transfer in tuple(self.transfers.values()):
                await self.stop(transfer)
            # Each stopped transfer gives its queue pairs back and tells its result.
            await asyncio.gather(*self._ending, return_exceptions=True)
        finally:
            try:
                await self._fleet.close()
            finally:
                for transfer in self.transfers.values():
                    if not transfer.done.done():
                        transfer.state = TransferState.FAILED
                        transfer.done.set_exception(
                            SessionClosedError(_("The session was closed while the transfer ran."))
                        )
                self.watchers.clear()
                self.buffers.clear()
                self.regions.clear()
