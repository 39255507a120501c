"""An agent keeps its node's objects by number, gives all back, and outlives a broken transfer."""

from __future__ import annotations

import asyncio
import hashlib

import pytest

from gdviz.clock import SteppedClock
from gdviz.errors import GdvizError, UnknownDeviceError, VerbsError
from gdviz.machine import reference_machine
from gdviz.nodes import InProcessFleet, Report
from gdviz.nodes.agent import NodeAgent
from gdviz.rdma import AccessFlags, Location, Provider, RemoteRegion, TransferSpec, TransferState
from gdviz.rdma.simulated import SimulatedNetwork

FULL = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ


@pytest.fixture
def providers() -> tuple[Provider, Provider]:
    network = SimulatedNetwork(SteppedClock())
    machine = reference_machine("pcie-a30")
    return network.provider(machine.renamed("a")), network.provider(machine.renamed("b"))


def on_gpu(agent: NodeAgent) -> Location:
    return Location("gpu", agent.record.machine.gpus[0].id)


def started(agents: tuple[NodeAgent, NodeAgent], spec: TransferSpec) -> None:
    """Start transfer 1 from the first agent's node to the second's."""
    regions, groups = [], []
    for agent in agents:
        buffer = agent.alloc(on_gpu(agent), 4096, "counter")
        regions.append(agent.register("mlx5_0", buffer.number, FULL))
        groups.append(agent.open_queue_pairs("mlx5_0", spec.qps, spec.depth))
    for agent, own, other in zip(agents, groups, groups[::-1], strict=True):
        agent.connect(own.number, other.addresses)
    far = regions[1]
    remote = RemoteRegion(far.node, far.nic, far.address, far.length, far.rkey)
    agents[0].start(1, groups[0].number, regions[0].number, remote, spec)


def test_checksums_of_parts_are_those_of_the_bytes(providers: tuple[Provider, Provider]) -> None:
    agent = NodeAgent(providers[0])
    buffer = agent.alloc(on_gpu(agent), 3 * 2**20 + 5, "random", 7)
    data = agent.read(buffer.number, 0, buffer.size_bytes)
    for offset, length in ((0, len(data)), (1, 2**20), (2**20 - 1, 2 * 2**20), (5, None)):
        part = data[offset:] if length is None else data[offset : offset + length]
        expected = hashlib.sha256(part).hexdigest()[:16]
        assert agent.checksum(buffer.number, offset, length) == expected


def test_closing_gives_everything_back(providers: tuple[Provider, Provider]) -> None:
    agents = (NodeAgent(providers[0]), NodeAgent(providers[1]))
    started(agents, TransferSpec(size_bytes=4096))
    assert providers[0].resources()["run"] == 1
    for agent in agents:
        agent.close()
    for provider in providers:
        assert set(provider.resources().values()) == {0}


def test_what_is_gone_is_said_to_be_gone(providers: tuple[Provider, Provider]) -> None:
    agent = NodeAgent(providers[0])
    buffer = agent.alloc(on_gpu(agent), 64, "zeros")
    agent.free(buffer.number)
    with pytest.raises(GdvizError, match="freed"):
        agent.free(buffer.number)
    with pytest.raises(GdvizError, match="deregistered"):
        agent.deregister(99)
    with pytest.raises(VerbsError, match="destroyed"):
        agent.connect(99, ())
    agent.close_queue_pairs(99)
    agent.stop(99)


def test_a_pattern_that_is_none_leaves_no_buffer(providers: tuple[Provider, Provider]) -> None:
    agent = NodeAgent(providers[0])
    with pytest.raises(GdvizError):
        agent.alloc(on_gpu(agent), 64, "plaid")
    assert providers[0].resources()["buffer"] == 0


def test_a_broken_transfer_is_reported_and_hangs_no_other(
    providers: tuple[Provider, Provider], monkeypatch: pytest.MonkeyPatch
) -> None:
    agents = (NodeAgent(providers[0]), NodeAgent(providers[1]))
    started(agents, TransferSpec(size_bytes=64, count=10))
    (run,) = agents[0]._runs.values()

    def broken() -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(run, "advance", broken, raising=False)
    (report,) = agents[0].tick()
    assert (report.state, report.result) == (TransferState.FAILED, None)
    assert report.trouble == "ZeroDivisionError: by zero"
    assert not agents[0].busy


def test_the_fleet_reports_until_the_last_transfer_has_ended() -> None:
    clock = SteppedClock(autojump=True)
    network = SimulatedNetwork(clock)
    machine = reference_machine("pcie-a30")
    fleet = InProcessFleet([network.provider(machine.renamed(name)) for name in "ab"], clock)
    seen: list[Report] = []
    fleet.subscribe(lambda _node, reports: seen.extend(reports))

    async def go() -> None:
        agents = (fleet._agents["a"], fleet._agents["b"])
        started(agents, TransferSpec(size_bytes=64, count=1000))
        # What `call` does for its callers once a transfer has been started.
        await fleet.call("a", "stop", 99)
        fleet._ticker = asyncio.create_task(fleet._tick_while_busy())
        await fleet._ticker
        with pytest.raises(UnknownDeviceError):
            await fleet.call("c", "tick")
        await fleet.close()

    asyncio.run(go())
    assert seen[-1].result is not None
    assert seen[-1].result.messages == 1000
    assert [node.name for node in fleet.nodes] == ["a", "b"]
