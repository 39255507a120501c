"""The plugin on a worker, without a cluster: it holds its nodes, reports, and gives all back."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

pytest.importorskip("distributed", reason="Dask is not installed: pip install 'gdviz[dask]'")

from gdviz.clock import RealClock
from gdviz.errors import AllocationError, GdvizError
from gdviz.machine import reference_machine
from gdviz.nodes.dask import plugin as module
from gdviz.nodes.dask.plugin import NodePlugin, call_here, nodes_here
from gdviz.rdma import AccessFlags, Location, Provider, RemoteRegion, TransferSpec, TransferState
from gdviz.rdma.simulated import SimulatedNetwork
from gdviz.version import VERSION

FULL = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ
NAME = "gdviz-test"


class Worker:
    """What the plugin needs of a Dask worker."""

    address = "tcp://10.0.0.2:4000"

    def __init__(self, plugin: NodePlugin) -> None:
        self.plugins = {NAME: plugin}
        self.logged: list[Any] = []
        self.told = asyncio.Event()

    def log_event(self, topic: str, message: Any) -> None:
        assert topic == NAME
        self.logged.append((message["node"], pickle.loads(message["reports"])))
        self.told.set()


class Nodes:
    """A supply of two simulated nodes that are kept, so that tests can look at them."""

    def __init__(self) -> None:
        network = SimulatedNetwork(RealClock())
        machine = reference_machine("pcie-a30")
        self.made = tuple(network.provider(machine.renamed(name)) for name in ("a", "b"))

    def providers(self, worker: str) -> Sequence[Provider]:
        assert worker == Worker.address
        return self.made


class Nothing:
    """A supply on a host without verbs."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def providers(self, worker: str) -> Sequence[Provider]:
        raise self.error


def with_plugin(act: Callable[[NodePlugin, Worker], Awaitable[None]], supply: Any = None) -> None:
    """Set a plugin up, act, and tear it down."""

    async def whole() -> None:
        plugin = NodePlugin(NAME, supply or Nodes())
        worker = Worker(plugin)
        await plugin.setup(worker)
        try:
            await act(plugin, worker)
        finally:
            await plugin.teardown(worker)

    asyncio.run(asyncio.wait_for(whole(), 20))


async def started(plugin: NodePlugin, spec: TransferSpec) -> None:
    """Start transfer 1 from node a to node b."""
    regions, groups = [], []
    for node in ("a", "b"):
        gpu = Location("gpu", plugin.records()[0][0].machine.gpus[0].id)
        buffer = await plugin.call(node, "alloc", (gpu, 65536, "counter"))
        regions.append(await plugin.call(node, "register", ("mlx5_0", buffer.number, FULL)))
        groups.append(await plugin.call(node, "open_queue_pairs", ("mlx5_0", spec.qps, spec.depth)))
    for node, own, other in zip("ab", groups, groups[::-1], strict=True):
        await plugin.call(node, "connect", (own.number, other.addresses))
    far = regions[1]
    remote = RemoteRegion(far.node, far.nic, far.address, far.length, far.rkey)
    await plugin.call("a", "start", (1, groups[0].number, regions[0].number, remote, spec))


def test_it_is_sent_as_it_is_made() -> None:
    again = pickle.loads(pickle.dumps(NodePlugin(NAME, Nothing(GdvizError("x")))))
    assert again.name == NAME


def test_reports_come_in_batches_until_the_end() -> None:
    async def act(plugin: NodePlugin, worker: Worker) -> None:
        await started(plugin, TransferSpec(size_bytes=4096, count=1000))
        while not (worker.logged and worker.logged[-1][1][-1].result):
            worker.told.clear()
            await worker.told.wait()
        node, reports = worker.logged[-1]
        assert (node, reports[-1].state, reports[-1].result.messages) == ("a", TransferState.COMPLETED, 1000)
        worker.told.clear()
        # Nothing runs, and so nothing is said any more.
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(worker.told.wait(), 3 * module.TICK_S)

    with_plugin(act)


def test_a_stop_is_reported_at_once() -> None:
    async def act(plugin: NodePlugin, worker: Worker) -> None:
        await started(plugin, TransferSpec(size_bytes=4096))
        await plugin.call("a", "stop", (1,))
        assert worker.logged[-1][1][-1].state is TransferState.STOPPED

    with_plugin(act)


def test_teardown_gives_everything_back() -> None:
    supply = Nodes()

    async def act(plugin: NodePlugin, worker: Worker) -> None:
        await started(plugin, TransferSpec(size_bytes=4096))
        assert supply.made[0].resources()["run"] == 1

    with_plugin(act, supply)
    assert all(provider.closed for provider in supply.made)
    assert all(not any(provider.resources().values()) for provider in supply.made)


def test_answers_and_errors_go_back_as_what_they_are() -> None:
    async def act(plugin: NodePlugin, worker: Worker) -> None:
        assert nodes_here(NAME, dask_worker=worker)[0] == VERSION
        gpu = Location("gpu", plugin.records()[0][0].machine.gpus[0].id)
        told = await call_here(NAME, "a", "bar1_used_bytes", (gpu.part,), dask_worker=worker)
        assert told == ("answer", 0)
        kind, error = await call_here(NAME, "a", "alloc", (gpu, 2**60, "zeros"), dask_worker=worker)
        assert kind == "error"
        assert isinstance(pickle.loads(pickle.dumps(error)), AllocationError)
        kind, error = await call_here(NAME, "c", "alloc", (), dask_worker=worker)
        assert (kind, type(error)) == ("error", GdvizError)
        assert await call_here("another lab", "a", "alloc", (), dask_worker=worker) == ("lost", None)
        assert nodes_here("another lab", dask_worker=worker) == (VERSION, (), "")

    with_plugin(act)


@pytest.mark.parametrize(
    ("error", "said"),
    [(GdvizError("There is no RDMA device."), "There is no RDMA device."), (OSError("odd"), "OSError: odd")],
)
def test_a_host_without_verbs_is_a_worker_all_the_same(error: Exception, said: str) -> None:
    async def act(plugin: NodePlugin, worker: Worker) -> None:
        assert nodes_here(NAME, dask_worker=worker) == (VERSION, (), said)

    with_plugin(act, Nothing(error))


def test_a_fleet_that_is_silent_for_long_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    supply = Nodes()
    seconds = [0.0]
    monkeypatch.setattr(module, "wall_seconds", lambda: seconds[0])
    monkeypatch.setattr(module, "TICK_S", 0.001)

    async def act(plugin: NodePlugin, worker: Worker) -> None:
        await started(plugin, TransferSpec(size_bytes=4096))
        seconds[0] = module.LEASE_S - 1
        plugin.records()  # a sign of life
        seconds[0] = 2 * module.LEASE_S - 2
        worker.told.clear()
        await worker.told.wait()
        assert not supply.made[0].closed
        seconds[0] += 2
        while not supply.made[1].closed:
            await asyncio.sleep(0.001)
        with pytest.raises(GdvizError, match="not on this worker any more"):
            await plugin.call("a", "stop", (1,))

    with_plugin(act, supply)
