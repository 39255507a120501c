"""One real node: its memory, its NICs, and everything that exists on them, in a worker process of its own."""

from __future__ import annotations

import ctypes
import errno
import importlib.util
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

from gdviz.errors import UnknownDeviceError, VerbsError
from gdviz.machine import Machine
from gdviz.messages import _
from gdviz.model import Endpoint, Prediction, predict
from gdviz.rdma.hardware.buffers import HardwareBuffer
from gdviz.rdma.hardware.counters import PortCounters
from gdviz.rdma.hardware.devices import HardwareDevice
from gdviz.rdma.hardware.gpu.nvml import GpuCounters, Nvml
from gdviz.rdma.hardware.orders import Asked, order_of, peer_of
from gdviz.rdma.hardware.regions import HardwareRegion
from gdviz.rdma.hardware.remote import Worker
from gdviz.rdma.hardware.runs import HardwareRun, HardwareService
from gdviz.rdma.provider import HOST_PAGE_BYTES, Location, MemoryRegion, Provider, QueuePair
from gdviz.rdma.transfer import Bounce, RemoteRegion, TransferSpec

#: Messages that are drawn for a prediction's latencies.
_PREDICTED_MESSAGES = 2000


class HardwareProvider:
    """The verbs of this host.

    Parameters
    ----------
    machine
        This host, as the live reader describes it; NICs go by their names in ``/sys/class/infiniband``.
    bindings
        Which Python bindings of libibverbs to try, in this order: ``pyverbs``, ``ibverbs``. By default
        pyverbs first; with GPU memory ibverbs first, for pyverbs cannot register it at its own address.
    gid_index
        Entry of the GID table; by default the first IPv4 address of RoCE v2, or 0 on InfiniBand.
    gpu_memory
        ``host``: host memory stands in for GPU memory. ``auto``: only where there is no CUDA.

    Attributes
    ----------
    notes
        Sentences on what is not what it may seem.
    binding
        Name and version of the binding in use.

    Raises
    ------
    MissingDependencyError
        No binding can be imported.
    """

    simulated = False

    def __init__(
        self,
        machine: Machine,
        *,
        bindings: Sequence[str] = (),
        gid_index: int | None = None,
        gpu_memory: Literal["auto", "host"] = "auto",
    ) -> None:
        self.machine = machine
        self.closed = False
        self.notes: list[str] = []
        self.buffers: set[HardwareBuffer] = set()
        self.runs: set[HardwareRun] = set()
        self.services: set[HardwareService] = set()
        self._gid_index = gid_index
        self._devices: dict[str, HardwareDevice] = {}
        self._predictions: dict[object, Prediction] = {}
        self._cuda = gpu_memory == "auto" and bool(machine.gpus) and cuda_is_here()
        if machine.gpus and not self._cuda:
            self.notes.append(
                _("There is no CUDA on {node}: host memory stands in for GPU memory.").format(node=self.node)
            )
        self.nvml = Nvml() if self._cuda else None
        self._bar1_before: dict[str, int] = {}
        self.worker = Worker(machine.name)
        try:
            wanted = tuple(bindings) or (("ibverbs", "pyverbs") if self._cuda else ())
            self.binding, self.binding_version, self.seen = self.worker.call("hello", wanted)
        except BaseException:
            self.worker.close()
            raise

    @property
    def name(self) -> str:
        """What stands below: ``verbs (pyverbs)`` or ``verbs (ibverbs)``."""
        return f"verbs ({self.binding})"

    @property
    def node(self) -> str:
        """Name of the node."""
        return self.machine.name

    @property
    def opened(self) -> tuple[HardwareDevice, ...]:
        """NICs that have been opened."""
        return tuple(self._devices.values())

    def alloc(self, location: Location, size_bytes: int, *, align: int = HOST_PAGE_BYTES) -> HardwareBuffer:
        """Allocate memory, filled with zeros."""
        gpu = None
        if location.kind == "gpu":
            part = self.machine.gpu(location.part)
            gpu = part.busid if self._cuda else None
            if self.nvml is not None and part.id not in self._bar1_before:
                self._bar1_before[part.id] = self.nvml.bar1_used_bytes(part.busid) or 0
        elif not any(cpu.id == location.part for cpu in self.machine.cpus):
            raise UnknownDeviceError(
                _("{machine} has no CPU {cpu!r}.").format(machine=self.node, cpu=location.part[:60])
            )
        buffer = HardwareBuffer(self, location, size_bytes, align, gpu)
        self.buffers.add(buffer)
        return buffer

    def device(self, nic: str) -> HardwareDevice:
        """Open a NIC by its id (the same object each time)."""
        part = self.machine.nic(nic)
        if part.id not in self._devices:
            self._devices[part.id] = HardwareDevice(self, part, self._gid_index)
        return self._devices[part.id]

    def bar1_used_bytes(self, gpu: str) -> int:
        """Return how much of a GPU's BAR1 window has been mapped since this node first allocated there.

        NVML tells of all processes together. Without CUDA nothing is mapped.
        """
        part = self.machine.gpu(gpu)
        if self.nvml is None:
            return 0
        used = self.nvml.bar1_used_bytes(part.busid) or 0
        return max(0, used - self._bar1_before.get(part.id, used))

    def port_counters(self, nic: str) -> PortCounters:
        """Return what the kernel has counted for a NIC's port, by the NIC's id."""
        part = self.machine.nic(nic)
        return PortCounters.read(part.name, part.port)

    def gpu_counters(self, gpu: str) -> GpuCounters | None:
        """Return what NVML has counted for a GPU, by its id; None where there is no NVML."""
        return None if self.nvml is None else self.nvml.counters(self.machine.gpu(gpu).busid)

    def start_transfer(
        self,
        qps: Sequence[QueuePair],
        local: MemoryRegion,
        remote: RemoteRegion,
        spec: TransferSpec,
        *,
        bounce: Bounce | None = None,
    ) -> HardwareRun:
        """Start a transfer over connected queue pairs of this node.

        Where the other end has work to do (SEND, the staged path, a ping-pong) it must be there already
        (`serve_transfer`), unless it lives in this process.
        """
        asked = Asked(self, qps, local, remote, spec, bounce)
        prediction = self._predicted(asked.region, remote, spec)
        service = None
        if asked.needs_service:
            peer = peer_of(asked)
            if peer is not None:
                there, pairs, region, their_bounce = peer
                mine = RemoteRegion.of(asked.region)
                service = there.serve_transfer(pairs, region, mine, spec, bounce=their_bounce)
        try:
            kind = "ping" if spec.ping_pong else "run"
            number = self.worker.call(
                "start", kind, *order_of(asked), what=_("The transfer does not start"), remedies=_watched()
            )
        except BaseException:
            if service is not None:
                service.stop()
            raise
        run = HardwareRun(self, number, spec, asked.region, prediction, service)
        self.runs.add(run)
        return run

    def serve_transfer(
        self,
        qps: Sequence[QueuePair],
        region: MemoryRegion,
        remote: RemoteRegion,
        spec: TransferSpec,
        *,
        bounce: Bounce | None = None,
    ) -> HardwareService:
        """Do this node's part of a transfer that another node starts, until it is stopped."""
        asked = Asked(self, qps, region, remote, spec, bounce, serving=True)
        number = None
        if asked.needs_service:
            kind = "pong" if spec.ping_pong else "serve"
            number = self.worker.call(
                "start", kind, *order_of(asked), what=_("The transfer is not served"), remedies=_watched()
            )
        service = HardwareService(self, number, asked.region)
        self.services.add(service)
        return service

    def _predicted(self, region: HardwareRegion, remote: RemoteRegion, spec: TransferSpec) -> Prediction:
        """Return what the model expects; an end in another process is taken to be a node like this one."""
        here = _endpoint(region)
        far = remote.handle if isinstance(remote.handle, HardwareRegion) else None
        there = here if far is None else _endpoint(far)
        key = (here.nic, region.buffer.location, there.machine.name, there.nic, spec.workload)
        if key not in self._predictions:
            self._predictions[key] = predict(here, there, spec.workload, messages=_PREDICTED_MESSAGES)
        return self._predictions[key]

    def tell_region_gone(self, region: HardwareRegion) -> None:
        """Let transfers that read or write a region themselves know that it is being deregistered."""
        for run in self.runs:
            if run.region is region:
                run.tell_gone()
        for service in self.services:
            if service.region is region:
                service.tell_gone()

    def resources(self) -> Mapping[str, int]:
        """Return how many there are of each: pd, cq, qp, mr, buffer, run."""
        devices = self._devices.values()
        domains = [domain for device in devices for domain in device.domains]
        return {
            "pd": len(domains),
            "cq": sum(len(device.completion_queues) for device in devices),
            "qp": sum(len(domain.queue_pairs) for domain in domains),
            "mr": sum(region.number is not None for domain in domains for region in domain.regions),
            "buffer": len(self.buffers),
            "run": len(self.runs),
        }

    def close(self) -> None:
        """Stop transfers and give everything back. Closing twice is fine."""
        if self.closed:
            return
        self.closed = True
        for run in list(self.runs):
            run.abort()
        for service in list(self.services):
            service.stop()
        # The worker gives back what it holds, in reverse order, when its line is closed.
        with suppress(VerbsError):
            self.worker.call("close")
        self.worker.close()
        for device in self._devices.values():
            for domain in device.domains:
                for pair in list(domain.queue_pairs):
                    pair.discard()
                for region in list(domain.regions):
                    region.discard()
            device.domains.clear()
            device.completion_queues.clear()
        for buffer in list(self.buffers):
            buffer.discard()

    def __enter__(self) -> HardwareProvider:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<node {self.node}, {self.name}{' (closed)' if self.closed else ''}>"


def _watched() -> dict[int, str]:
    return {
        errno.EOPNOTSUPP: _(
            "A ping-pong of WRITEs watches the memory, which has to be the host's: use that, or SEND or READ."
        )
    }


def cuda_is_here() -> bool:
    """Whether there are a CUDA driver and CuPy."""
    if importlib.util.find_spec("cupy") is None:
        return False
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


def _endpoint(region: HardwareRegion) -> Endpoint:
    machine, location = region.domain.device.provider.machine, region.buffer.location
    if location.kind == "gpu" and not region.buffer.stands_in:
        return Endpoint(machine, region.nic, gpu=location.part)
    numa = next((cpu.numa for cpu in machine.cpus if cpu.id == location.part), -1)
    return Endpoint(machine, region.nic, numa=numa if numa >= 0 else None)


if TYPE_CHECKING:

    def _keeps_the_protocols(provider: HardwareProvider) -> Provider:
        return provider
