"""Two ends, a fabric, an operation and a path, joined to routes: what every other file here starts from."""

from __future__ import annotations

from dataclasses import dataclass

from gdviz.machine import Cpu, Gpu, Nic
from gdviz.machine.known import is_virtual_function
from gdviz.model.constants import Constants
from gdviz.model.results import Place, PlaceKind, Side
from gdviz.model.route import Route, memory_cpu, route
from gdviz.model.wire import one_way_s
from gdviz.model.workload import DataPath, Endpoint, Fabric, Op


@dataclass(frozen=True, slots=True)
class End:
    """One end of a transfer.

    Attributes
    ----------
    data
        From the memory that the NIC touches to the NIC.
    host
        From the host memory with the queues to the NIC.
    copy
        From the bounce buffer to the GPU that copies; None where nothing is copied, or a CPU copies.
    cpu_copies
        Whether a CPU copies to or from the bounce buffer (memory of a host, staged).
    """

    side: Side
    nic: Nic
    gpu: Gpu | None
    data: Route
    host: Route
    copy: Route | None
    cpu_copies: bool

    @property
    def cpu(self) -> Place:
        """The CPU that posts, launches and polls."""
        return next(place for place in self.host.places if place.kind is PlaceKind.PART)

    @property
    def virtual_function(self) -> bool:
        """Whether the NIC is a virtual function of SR-IOV."""
        return is_virtual_function(self.nic.pci.vendor, self.nic.pci.device)

    @property
    def port(self) -> Place:
        """The NIC's port."""
        return Place(self.side, PlaceKind.PORT, self.nic.id)

    @property
    def nic_place(self) -> Place:
        """The NIC itself."""
        return Place(self.side, PlaceKind.PART, self.nic.id)

    @property
    def from_cpu(self) -> tuple[Place, ...]:
        """Places from that CPU to the NIC."""
        places = self.host.places
        return places[places.index(self.cpu) :]


@dataclass(frozen=True, slots=True)
class Setup:
    """Both ends and what lies between them."""

    local: End
    remote: End
    fabric: Fabric
    op: Op
    path: DataPath
    constants: Constants

    @property
    def source(self) -> End:
        """The end whose memory is read."""
        return self.remote if self.op is Op.READ else self.local

    @property
    def sink(self) -> End:
        """The end whose memory is written."""
        return self.local if self.op is Op.READ else self.remote

    @property
    def one_way_s(self) -> float:
        """Seconds from NIC to NIC without the bits' own time."""
        late_s = self.constants.vf_latency_s if self.virtual else 0.0
        return one_way_s(self.fabric, self.constants) + late_s

    @property
    def virtual(self) -> bool:
        """Whether either NIC is a virtual function."""
        return self.local.virtual_function or self.remote.virtual_function

    def inlined(self, size_bytes: int) -> bool:
        """Return whether a message travels inside its work queue entry: small, and out of host memory."""
        small = size_bytes <= self.constants.inline_bytes
        return small and self.op is not Op.READ and self.source.gpu is None

    @property
    def staged(self) -> bool:
        """Whether bytes go through bounce buffers."""
        return self.path is DataPath.STAGED


def build(
    local: Endpoint,
    remote: Endpoint,
    op: Op,
    path: DataPath,
    fabric: Fabric | None,
    constants: Constants,
) -> Setup:
    """Join endpoints to routes.

    Raises
    ------
    UnknownDeviceError
        An endpoint names a NIC or a GPU that its machine lacks.
    """
    between = fabric or Fabric.between(local.nic_part, remote.nic_part)
    staged = path is DataPath.STAGED
    return Setup(
        _end(local, Side.LOCAL, staged, constants),
        _end(remote, Side.REMOTE, staged, constants),
        between,
        op,
        path,
        constants,
    )


def _end(endpoint: Endpoint, side: Side, staged: bool, constants: Constants) -> End:
    machine, nic, gpu = endpoint.machine, endpoint.nic_part, endpoint.gpu_part
    cpu: Cpu | None = memory_cpu(machine, nic, endpoint.numa)
    queues = route(machine, side, memory_cpu(machine, nic, None), nic, constants)
    bounce = route(machine, side, cpu, nic, constants)
    copies = staged and gpu is not None
    data = bounce if gpu is None or staged else route(machine, side, gpu, nic, constants)
    copy = route(machine, side, cpu, gpu, constants) if copies and gpu is not None else None
    return End(side, nic, gpu, data, queues, copy, staged and gpu is None)
