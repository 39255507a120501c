from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from gdviz.clock import SteppedClock
from gdviz.machine import reference_machine
from gdviz.rdma import (
    DEFAULT_ACCESS,
    Access,
    Bounce,
    Completion,
    Location,
    Opcode,
    RemoteRegion,
    SendRequest,
    Sge,
    TransferSpec,
)
from gdviz.rdma.simulated import SimulatedHost, SimulatedNetwork, SimulatedProvider
from gdviz.rdma.simulated.bulk import BulkRun
from gdviz.rdma.simulated.queue_pairs import SimulatedQueuePair
from gdviz.rdma.simulated.regions import SimulatedRegion


@dataclass
class Node:
    """A simulated node, used through its NIC 0 unless told otherwise."""

    provider: SimulatedProvider

    def __post_init__(self) -> None:
        self.device = self.provider.device("mlx5_0")
        self.domain = self.device.alloc_pd()
        self.completions = self.device.create_cq(4096)

    @property
    def gpu(self) -> Location:
        return Location("gpu", self.provider.machine.gpus[0].id)

    @property
    def host(self) -> Location:
        return Location("host", self.provider.machine.cpus[0].id)

    def region(
        self, size_bytes: int = 65536, access: Access = DEFAULT_ACCESS, *, where: Location | None = None
    ) -> SimulatedRegion:
        return self.domain.register(self.provider.alloc(where or self.gpu, size_bytes), access)

    def poll(self, count: int = 16) -> list[Completion]:
        return self.completions.poll(count)


@dataclass
class Lab:
    """Two (or more) nodes of a network, on a clock that stands still."""

    clock: SteppedClock = field(default_factory=SteppedClock)
    machine: str = "hgx-h100"

    def __post_init__(self) -> None:
        self.network = SimulatedNetwork(self.clock)
        self.nodes: list[Node] = []
        self.a, self.b = self.node("a"), self.node("b")

    def node(self, name: str, settings: SimulatedHost | None = None) -> Node:
        provider = self.network.provider(reference_machine(self.machine, name), settings=settings)
        self.nodes.append(Node(provider))
        return self.nodes[-1]

    def connect(
        self, left: Node | None = None, right: Node | None = None, **options: int
    ) -> tuple[SimulatedQueuePair, SimulatedQueuePair]:
        pairs = [
            node.domain.create_qp(node.completions, node.completions)
            for node in (left or self.a, right or self.b)
        ]
        for one, other in (pairs, pairs[::-1]):
            one.connect(other.address, **options)
        return pairs[0], pairs[1]

    def start(
        self,
        spec: TransferSpec,
        left: Node | None = None,
        right: Node | None = None,
        *,
        size_bytes: int = 65536,
        **options: int,
    ) -> BulkRun:
        """Start a transfer over new queue pairs, from random bytes to zeros."""
        left, right = left or self.a, right or self.b
        pairs = [self.connect(left, right, **options)[0] for _ in range(spec.qps)]
        local, remote = left.region(size_bytes), right.region(size_bytes)
        local.buffer.fill("random")
        bounce = Bounce(
            left.region(8192, where=left.host), RemoteRegion.of(right.region(8192, where=right.host))
        )
        return left.provider.start_transfer(pairs, local, RemoteRegion.of(remote), spec, bounce=bounce)


@pytest.fixture
def lab() -> Iterator[Lab]:
    made = Lab()
    yield made
    made.network.close()
    for node in made.nodes:
        assert not any(node.provider.resources().values())
    assert made.network.commit.used_bytes == 0


def _write(local: SimulatedRegion, remote: SimulatedRegion, wr_id: int = 1, **changes: object) -> SendRequest:
    fields: dict[str, object] = {
        "wr_id": wr_id,
        "opcode": Opcode.RDMA_WRITE,
        "sges": (Sge(local.address, local.length, local.lkey),),
        "remote_address": remote.address,
        "rkey": remote.rkey,
    }
    return SendRequest(**(fields | changes))  # type: ignore[arg-type]


@pytest.fixture
def write():
    return _write
