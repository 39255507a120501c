"""The fleet on its side of a cluster, with a client that only pretends."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

pytest.importorskip("distributed", reason="Dask is not installed: pip install 'gdviz[dask]'")

from gdviz.errors import GdvizError, NodeLostError, UnknownDeviceError
from gdviz.machine import Machine
from gdviz.nodes import NodeRecord
from gdviz.nodes.dask import DaskFleet
from gdviz.nodes.dask import fleet as module
from gdviz.version import VERSION


def record(name: str) -> NodeRecord:
    return NodeRecord(name, Machine(name), "verbs (ibverbs)", False)


class Client:
    """Two workers with a node each; what they answer can be changed."""

    def __init__(self) -> None:
        self.workers: dict[str, Any] = {
            f"tcp://{number}": (VERSION, (record(f"node-{number}"),), "") for number in (1, 2)
        }
        self.answers: dict[str, Any] = {}
        self.error: Exception | None = None
        self.topics: dict[str, Callable[[Any], None]] = {}
        self.closed = False

    @property
    def scheduler(self) -> Any:
        return self

    async def identity(self, n_workers: int) -> dict[str, Any]:
        return {"workers": dict.fromkeys(self.workers)}

    async def register_plugin(self, plugin: Any, name: str) -> None:
        if isinstance(self.error, ImportError):
            raise self.error

    async def unregister_worker_plugin(self, name: str) -> None:
        pass

    def subscribe_topic(self, topic: str, handler: Callable[[Any], None]) -> None:
        self.topics[topic] = handler

    def unsubscribe_topic(self, topic: str) -> None:
        del self.topics[topic]

    async def run(self, function: Any, *arguments: Any, workers: Any = None, **_options: Any) -> Any:
        if self.error is not None:
            raise self.error
        if function is module.nodes_here:
            return {name: answer for name, answer in self.workers.items() if workers in (None, name)}
        return {name: self.answers[name] for name in workers if name in self.answers}

    async def close(self) -> None:
        self.closed = True

    def __await__(self) -> Any:
        yield from ()
        return self


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Client:
    made = Client()
    given: dict[str, Any] = {}

    def make(address: str, **options: Any) -> Client:
        given.update(options, address=address)
        return made

    monkeypatch.setattr(module, "Client", make)
    made.given = given  # type: ignore[attr-defined]
    return made


def with_fleet(act: Callable[[DaskFleet], Awaitable[None]], **options: Any) -> None:
    async def whole() -> None:
        fleet = await DaskFleet.open("tls://10.0.0.1:8786", **options)
        try:
            await act(fleet)
        finally:
            await fleet.close()

    asyncio.run(asyncio.wait_for(whole(), 20))


async def nothing(_fleet: DaskFleet) -> None:
    pass


def test_certificates_are_passed_on(client: Any) -> None:
    with_fleet(nothing, security="certificates", timeout_s=3)
    assert client.given["security"] == "certificates"
    assert (client.given["address"], client.given["timeout"]) == ("tls://10.0.0.1:8786", 3)
    assert client.closed
    assert client.topics == {}


def test_another_version_of_gdviz_is_said_with_both_numbers(client: Client) -> None:
    client.workers["tcp://2"] = ("0.0.7", (), "")
    with pytest.raises(GdvizError, match=rf"gdviz is 0\.0\.7 on tcp://2 and {VERSION} here") as caught:
        with_fleet(nothing)
    assert "same version" in caught.value.remedy
    assert client.closed


def test_a_worker_without_gdviz(client: Client) -> None:
    client.error = ModuleNotFoundError("No module named 'gdviz'")
    with pytest.raises(
        GdvizError, match="cannot be loaded on the workers: No module named 'gdviz'"
    ) as caught:
        with_fleet(nothing)
    assert f"pip install gdviz=={VERSION}" in caught.value.remedy


def test_a_cluster_without_workers(client: Client) -> None:
    client.workers.clear()
    with pytest.raises(GdvizError, match="has no worker"):
        with_fleet(nothing)


def test_workers_without_verbs_say_why(client: Client) -> None:
    for name in client.workers:
        client.workers[name] = (VERSION, (), "There is no RDMA device.")
    with pytest.raises(GdvizError, match=r"No worker has a node. tcp://1: There is no RDMA device."):
        with_fleet(nothing)


def test_two_workers_on_one_host(client: Client) -> None:
    client.workers["tcp://2"] = client.workers["tcp://1"]
    with pytest.raises(GdvizError, match="Two workers are both the node 'node-1'") as caught:
        with_fleet(nothing)
    assert "one worker on each host" in caught.value.remedy


def test_what_a_worker_answers(client: Client) -> None:
    async def act(fleet: DaskFleet) -> None:
        client.answers["tcp://1"] = ("answer", 7)
        assert await fleet.call("node-1", "checksum", 1) == 7
        client.answers["tcp://1"] = ("error", GdvizError("This buffer has been freed."))
        with pytest.raises(GdvizError, match="has been freed"):
            await fleet.call("node-1", "checksum", 1)
        with pytest.raises(UnknownDeviceError, match="no node 'node-9'"):
            await fleet.call("node-9", "checksum", 1)

    with_fleet(act)


@pytest.mark.parametrize("how", ["no answer", "no plugin", "no connection", "removed"])
def test_one_node_that_is_lost_leaves_the_other(client: Client, how: str) -> None:
    lost: list[tuple[str, str]] = []

    async def act(fleet: DaskFleet) -> None:
        fleet.on_lost(lambda node, why: lost.append((node, why)))
        if how == "no plugin":
            client.answers["tcp://2"] = ("lost", None)
        if how == "removed":
            client.topics["all"]((0, {"action": "add-worker", "worker": "tcp://2"}))
            assert lost == []
            client.topics["all"]((0, {"action": "remove-worker", "worker": "tcp://2"}))
        client.error = OSError("refused") if how == "no connection" else None
        with pytest.raises(NodeLostError, match="node-2 is gone: its Dask worker has ended"):
            await fleet.call("node-2", "stop", 1)
        client.error = None
        client.answers["tcp://1"] = ("answer", 7)
        assert await fleet.call("node-1", "stop", 1) == 7
        assert [node.name for node in fleet.nodes] == ["node-1", "node-2"]

    with_fleet(act)
    assert [node for node, _why in lost] == ["node-2"]


def test_a_scheduler_that_is_gone_takes_all_nodes_with_it(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SIGN_S", 0.001)
    lost: list[tuple[str, str]] = []

    async def act(fleet: DaskFleet) -> None:
        both = asyncio.Event()

        def on_lost(node: str, why: str) -> None:
            lost.append((node, why))
            if len(lost) == 2:
                both.set()

        fleet.on_lost(on_lost)
        client.error = OSError("Timed out trying to connect.")
        await both.wait()

    with_fleet(act)
    assert [node for node, _why in lost] == ["node-1", "node-2"]
    assert "node-1 is gone: the Dask scheduler does not answer any more." in lost[0][1]


def test_a_worker_that_hangs_keeps_no_other_from_hearing(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SIGN_S", 0.001)
    monkeypatch.setattr(module, "LEASE_S", 0.003)
    lost: list[str] = []

    async def act(fleet: DaskFleet) -> None:
        fleet.on_lost(lambda node, _why: lost.append(node))
        signs = 0
        enough = asyncio.Event()

        async def hang(*_arguments: Any, **_options: Any) -> Any:
            nonlocal signs
            signs += 1
            if signs == 3:
                enough.set()
            await asyncio.Event().wait()

        monkeypatch.setattr(client, "run", hang)
        await enough.wait()

    with_fleet(act)
    assert lost == []
