"""What every provider is put through: two nodes, a NIC on each, and a way to let time pass.

A provider joins by a function in `BENCHES` that yields a `Bench`, or skips with the reason why it cannot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from gdviz.clock import SteppedClock
from gdviz.machine import reference_machine
from gdviz.rdma import (
    DEFAULT_ACCESS,
    Access,
    Bounce,
    Buffer,
    Completion,
    CompletionQueue,
    Device,
    Location,
    MemoryRegion,
    Opcode,
    ProtectionDomain,
    Provider,
    QueuePair,
    RemoteRegion,
    Run,
    SendRequest,
    Sge,
    TransferSpec,
    WcStatus,
)
from gdviz.rdma.simulated import SimulatedNetwork
from tests.conformance import soft_roce


@dataclass
class End:
    """One node with one of everything on it."""

    provider: Provider
    nic: str
    location: Location
    device: Device = field(init=False)
    domain: ProtectionDomain = field(init=False)
    completions: CompletionQueue = field(init=False)

    def __post_init__(self) -> None:
        self.device = self.provider.device(self.nic)
        self.domain = self.device.alloc_pd()
        self.completions = self.device.create_cq(1024)

    def buffer(self, size_bytes: int = 65536, pattern: str | int | bytes = "zeros") -> Buffer:
        buffer = self.provider.alloc(self.location, size_bytes)
        buffer.fill(pattern)
        return buffer

    def region(
        self, size_bytes: int = 65536, pattern: str | int = "zeros", access: Access = DEFAULT_ACCESS
    ) -> MemoryRegion:
        return self.domain.register(self.buffer(size_bytes, pattern), access)

    def host_region(self, size_bytes: int) -> MemoryRegion:
        """Host memory beside the NIC, for bounce buffers."""
        cpu = self.provider.machine.cpu_of(self.nic)
        assert cpu is not None
        buffer = self.provider.alloc(Location("host", cpu.id), size_bytes)
        return self.domain.register(buffer, DEFAULT_ACCESS)

    def queue_pair(self, **limits: int) -> QueuePair:
        return self.domain.create_qp(self.completions, self.completions, **limits)


@dataclass
class Bench:
    """Two nodes that can reach each other."""

    a: End
    b: End
    step: Callable[[float], None]
    #: Retries of a connection that shall give up soon; real ones need to bear a slow machine.
    patience: dict[str, int] = field(
        default_factory=lambda: {"timeout": 10, "retry_count": 2, "rnr_retry": 2, "min_rnr_timer": 1}
    )

    #: Statuses that a device is known to give instead, by rule.
    quirks: dict[str, WcStatus] = field(default_factory=dict)

    def status(self, rule: str, status: WcStatus) -> WcStatus:
        """Return what a broken rule ends with here."""
        return self.quirks.get(rule, status)

    def connect(self, **limits: int) -> tuple[QueuePair, QueuePair]:
        """Return two queue pairs in RTS that talk to each other and give up soon."""
        left, right = self.a.queue_pair(**limits), self.b.queue_pair(**limits)
        for one, other in ((left, right), (right, left)):
            one.connect(other.address, **self.patience)
        return left, right

    def poll(self, queue: CompletionQueue, count: int = 1, tries: int = 400) -> list[Completion]:
        """Return `count` completions, or what came of them in reasonable time."""
        found: list[Completion] = []
        for _try in range(tries):
            found += queue.poll(count - len(found))
            if len(found) >= count:
                break
            self.step(1e-3)
        return found

    def finish(self, run: Run, tries: int = 4000) -> None:
        """Follow a run to its end."""
        for _try in range(tries):
            run.advance()
            if run.state.final:
                return
            self.step(1e-3)
        pytest.fail(f"the run is still {run.state}")

    def start(
        self, pairs: list[QueuePair], local: MemoryRegion, remote: MemoryRegion, spec: TransferSpec
    ) -> Run:
        bounce = Bounce(self.a.host_region(8192), RemoteRegion.of(self.b.host_region(8192)))
        return self.a.provider.start_transfer(pairs, local, RemoteRegion.of(remote), spec, bounce=bounce)


def sge(region: MemoryRegion, offset: int = 0, length: int | None = None) -> Sge:
    return Sge(region.address + offset, region.length - offset if length is None else length, region.lkey)


def request(
    opcode: Opcode, local: MemoryRegion | None = None, remote: MemoryRegion | None = None, **changes: object
) -> SendRequest:
    """Return a request for all of a region, with some fields changed."""
    fields: dict[str, object] = {"wr_id": 1, "opcode": opcode}
    if local is not None:
        fields["sges"] = (sge(local),)
    if remote is not None:
        fields.update(remote_address=remote.address, rkey=remote.rkey)
    return SendRequest(**(fields | changes))  # type: ignore[arg-type]


def _simulated(memory: str) -> Iterator[Bench]:
    clock = SteppedClock()
    network = SimulatedNetwork(clock)
    ends = []
    for name in ("a", "b"):
        provider = network.provider(reference_machine("hgx-h100", name))
        part = provider.machine.gpus[0].id if memory == "gpu" else provider.machine.cpus[0].id
        ends.append(End(provider, "mlx5_0", Location("gpu" if memory == "gpu" else "host", part)))
    yield Bench(ends[0], ends[1], clock.advance)
    for end in ends:
        end.provider.close()
        assert not any(end.provider.resources().values())


def _soft_roce(memory: str, binding: str) -> Iterator[Bench]:
    for providers in soft_roce.pair(bindings=(binding,)):
        part = "gpu0" if memory == "gpu" else "cpu0"
        location = Location("gpu" if memory == "gpu" else "host", part)
        one, two = (End(provider, "rxe0", location) for provider in providers)
        yield Bench(one, two, soft_roce.step, soft_roce.PATIENCE, soft_roce.QUIRKS)
        for provider in providers:
            provider.close()
            assert not any(provider.resources().values())


BENCHES: dict[str, Callable[[], Iterator[Bench]]] = {
    "simulated-gpu": lambda: _simulated("gpu"),
    "simulated-host": lambda: _simulated("host"),
    "pyverbs-gpu": lambda: _soft_roce("gpu", "pyverbs"),
    "ibverbs-host": lambda: _soft_roce("host", "ibverbs"),
}


@pytest.fixture(
    params=[
        pytest.param(name, marks=() if name.startswith("simulated") else pytest.mark.vm) for name in BENCHES
    ]
)
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    yield from BENCHES[request.param]()


@pytest.fixture(name="sge")
def _sge() -> Callable[..., Sge]:
    return sge


@pytest.fixture(name="make")
def _make() -> Callable[..., SendRequest]:
    return request
