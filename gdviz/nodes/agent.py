"""The agent of one node: owns the provider's objects there and does what it is asked, by number.

Everything goes in and comes out as plain records, so that the same agent serves in this process and on
a worker elsewhere.
"""

from __future__ import annotations

import hashlib
import itertools
from contextlib import suppress
from dataclasses import dataclass

from gdviz.errors import GdvizError, VerbsError
from gdviz.messages import _
from gdviz.nodes.records import BufferRecord, NodeRecord, QueuePairGroup, RegionRecord, Report
from gdviz.rdma import (
    AccessFlags,
    Bounce,
    Buffer,
    CompletionQueue,
    Device,
    Location,
    MemoryRegion,
    ProtectionDomain,
    Provider,
    QpAddress,
    QueuePair,
    RemoteRegion,
    Run,
    Service,
    TransferSpec,
    TransferState,
)

#: Bytes hashed at a time, so that a checksum of a part needs no second copy of it.
_CHUNK_BYTES = 1 << 20


#: Requests that a queue holds at least.
LEAST_DEPTH = 64


@dataclass
class _Opened:
    """A NIC that is in use: its device and the one protection domain that gdviz keeps on it."""

    device: Device
    domain: ProtectionDomain


@dataclass
class _Group:
    record: QueuePairGroup
    queue_pairs: list[QueuePair]
    completions: CompletionQueue


class NodeAgent:
    """Keeps the buffers, regions, queue pairs and running transfers of one node.

    Parameters
    ----------
    provider
        The node's verbs.
    """

    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self._numbers = itertools.count(1)
        self._nics: dict[str, _Opened] = {}
        self._buffers: dict[int, Buffer] = {}
        self._regions: dict[int, MemoryRegion] = {}
        self._groups: dict[int, _Group] = {}
        self._runs: dict[int, Run] = {}
        self._services: dict[int, Service] = {}

    @property
    def record(self) -> NodeRecord:
        """Who this node is."""
        provider = self._provider
        return NodeRecord(provider.node, provider.machine, provider.name, provider.simulated)

    # Buffers

    def alloc(
        self, location: Location, size_bytes: int, pattern: str | int | bytes, seed: int = 0
    ) -> BufferRecord:
        """Allocate a buffer and fill it.

        Raises
        ------
        AllocationError
            The memory there does not suffice.
        """
        buffer = self._provider.alloc(location, size_bytes)
        try:
            buffer.fill(pattern, seed)
        except BaseException:
            buffer.free()
            raise
        number = next(self._numbers)
        self._buffers[number] = buffer
        name = pattern if isinstance(pattern, str) else repr(pattern)[:20]
        return BufferRecord(self._provider.node, number, location, size_bytes, buffer.address, name)

    def free(self, buffer: int) -> None:
        """Free a buffer.

        Raises
        ------
        VerbsError
            It is still registered.
        """
        self._buffer(buffer).free()
        del self._buffers[buffer]

    def fill(self, buffer: int, pattern: str | int | bytes, seed: int = 0) -> None:
        """Fill a buffer with a pattern."""
        self._buffer(buffer).fill(pattern, seed)

    def read(self, buffer: int, offset: int, length: int) -> bytes:
        """Return bytes of a buffer."""
        return self._buffer(buffer).read(offset, length)

    def write(self, buffer: int, offset: int, data: bytes) -> None:
        """Put bytes into a buffer."""
        self._buffer(buffer).write(offset, data)

    def checksum(self, buffer: int, offset: int = 0, length: int | None = None) -> str:
        """Return the checksum of a buffer, or of a part of it."""
        found = self._buffer(buffer)
        if offset == 0 and length in (None, found.size_bytes):
            return found.checksum()
        end = found.size_bytes if length is None else offset + length
        found.read(end, 0)  # refuses an end outside of the buffer
        found.read(offset, 0)
        digest = hashlib.sha256()
        for start in range(offset, end, _CHUNK_BYTES):
            digest.update(found.read(start, min(_CHUNK_BYTES, end - start)))
        return digest.hexdigest()[:16]

    def bar1_used_bytes(self, gpu: str) -> int:
        """Return how much of a GPU's BAR1 window registrations take."""
        return self._provider.bar1_used_bytes(gpu)

    # Memory regions

    def register(
        self,
        nic: str,
        buffer: int,
        access: AccessFlags,
        offset: int = 0,
        length: int | None = None,
    ) -> RegionRecord:
        """Register a buffer with a NIC.

        Raises
        ------
        RegistrationError
            The NIC cannot reach it, or not in that way.
        """
        region = self._nic(nic).domain.register(self._buffer(buffer), access, offset=offset, length=length)
        return self._noted(nic, buffer, region)

    def stage(self, nic: str, buffer: int) -> RegionRecord:
        """Name a buffer for the staged path: nothing is pinned, and the NIC cannot use it."""
        return self._noted(nic, buffer, self._nic(nic).domain.stage(self._buffer(buffer)))

    def _noted(self, nic: str, buffer: int, region: MemoryRegion) -> RegionRecord:
        number = next(self._numbers)
        self._regions[number] = region
        return RegionRecord(
            node=self._provider.node,
            number=number,
            nic=nic,
            buffer=buffer,
            address=region.address,
            length=region.length,
            lkey=region.lkey,
            rkey=region.rkey,
            access=region.access,
            page_bytes=region.page_bytes,
            pages=region.pages,
            translation=region.translation,
        )

    def deregister(self, region: int) -> None:
        """Deregister a memory region."""
        self._region(region).deregister()
        del self._regions[region]

    # Queue pairs

    def open_queue_pairs(self, nic: str, count: int, depth: int) -> QueuePairGroup:
        """Make queue pairs on a NIC, with one completion queue large enough for all of them.

        A queue holds `depth` requests, and some more where that is small: what the two ends tell each
        other goes through it as well.
        """
        depth = max(depth, LEAST_DEPTH)
        opened = self._nic(nic)
        completions = opened.device.create_cq(max(1, 2 * count * depth))
        made: list[QueuePair] = []
        try:
            for _index in range(count):
                made.append(  # noqa: PERF401  (those made so far are undone when one fails)
                    opened.domain.create_qp(completions, completions, max_send_wr=depth, max_recv_wr=depth)
                )
        except BaseException:
            for queue_pair in made:
                queue_pair.destroy()
            completions.destroy()
            raise
        number = next(self._numbers)
        record = QueuePairGroup(self._provider.node, number, nic, tuple(qp.address for qp in made))
        self._groups[number] = _Group(record, made, completions)
        return record

    def connect(self, group: int, remotes: tuple[QpAddress, ...], path_mtu: int = 4096) -> None:
        """Connect a group of queue pairs, each to one of the other end's; the path MTU is in bytes."""
        for queue_pair, remote in zip(self._group(group).queue_pairs, remotes, strict=True):
            queue_pair.connect(remote, path_mtu=path_mtu)

    def close_queue_pairs(self, group: int) -> None:
        """Destroy a group of queue pairs; a group that is gone already is fine."""
        found = self._groups.pop(group, None)
        if found is None:
            return
        for queue_pair in found.queue_pairs:
            queue_pair.destroy()
        found.completions.destroy()

    # Transfers

    def start(
        self,
        transfer: int,
        group: int,
        region: int,
        remote: RemoteRegion,
        spec: TransferSpec,
        bounce: tuple[int, RemoteRegion] | None = None,
    ) -> None:
        """Start a transfer from a region of this node.

        Parameters
        ----------
        transfer
            The session's number for it; reports carry it.
        bounce
            For the staged path: the local bounce region's number and the remote bounce region.
        """
        self._runs[transfer] = self._provider.start_transfer(
            self._group(group).queue_pairs,
            self._region(region),
            remote,
            spec,
            bounce=None if bounce is None else Bounce(self._region(bounce[0]), bounce[1]),
        )

    def serve(
        self,
        transfer: int,
        group: int,
        region: int,
        remote: RemoteRegion,
        spec: TransferSpec,
        bounce: tuple[int, RemoteRegion] | None = None,
    ) -> None:
        """Do this node's part of a transfer that another node starts; it has to be there before that.

        Parameters
        ----------
        remote
            The region of the node that starts.
        bounce
            This node's bounce region by number, and the other node's.
        """
        self._services[transfer] = self._provider.serve_transfer(
            self._group(group).queue_pairs,
            self._region(region),
            remote,
            spec,
            bounce=None if bounce is None else Bounce(self._region(bounce[0]), bounce[1]),
        )

    def unserve(self, transfer: int) -> None:
        """End this node's part of another's transfer; one that has ended already is fine."""
        service = self._services.pop(transfer, None)
        if service is not None:
            service.stop()

    def stop(self, transfer: int) -> None:
        """Stop a transfer; one that has ended already is fine."""
        run = self._runs.get(transfer)
        if run is not None:
            run.stop()

    @property
    def busy(self) -> bool:
        """Whether a transfer runs."""
        return bool(self._runs)

    def tick(self) -> list[Report]:
        """Let the transfers move on, and return what happened; ended ones are reported once."""
        reports = []
        for transfer, run in list(self._runs.items()):
            try:
                interval = run.advance()
            except Exception as error:  # noqa: BLE001  (one broken transfer must not hang the others)
                trouble = f"{type(error).__name__}: {error}"
                reports.append(Report(transfer, None, run.progress, TransferState.FAILED, trouble=trouble))
                del self._runs[transfer]
                continue
            result = run.result
            reports.append(Report(transfer, interval, run.progress, run.state, run.error, result))
            if result is not None:
                del self._runs[transfer]
        return reports

    def close(self) -> None:
        """Stop everything and give everything back."""
        for run in self._runs.values():
            with suppress(Exception):  # a broken run keeps nothing else from being given back
                run.stop()
                run.advance()
        self._runs.clear()
        for transfer in list(self._services):
            self.unserve(transfer)
        for group in list(self._groups):
            self.close_queue_pairs(group)
        for region in list(self._regions):
            self.deregister(region)
        for buffer in list(self._buffers):
            self.free(buffer)
        self._provider.close()

    # Looking up

    def _nic(self, nic: str) -> _Opened:
        if nic not in self._nics:
            device = self._provider.device(nic)
            self._nics[nic] = _Opened(device, device.alloc_pd())
        return self._nics[nic]

    def _buffer(self, number: int) -> Buffer:
        if number not in self._buffers:
            raise GdvizError(_("This buffer has been freed."), _("Allocate a new one."))
        return self._buffers[number]

    def _region(self, number: int) -> MemoryRegion:
        if number not in self._regions:
            raise GdvizError(_("This memory region has been deregistered."), _("Register the buffer again."))
        return self._regions[number]

    def _group(self, number: int) -> _Group:
        if number not in self._groups:
            raise VerbsError(_("These queue pairs have been destroyed."), errno=22)
        return self._groups[number]
