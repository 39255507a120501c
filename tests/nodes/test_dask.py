"""Nodes on the workers of a real Dask cluster of this machine."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from gdviz.errors import AllocationError, GdvizError, NodeLostError, TransferError
from gdviz.machine import Machine, reference_machine
from gdviz.session import Session, Topic
from gdviz.widgets import lab

distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install 'gdviz[dask]'")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(90)]


def machines() -> list[Machine]:
    return [reference_machine("hgx-h100", name) for name in ("node-a", "node-b")]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=60
    ) as made:
        yield made


@pytest.fixture
def session(cluster: Any) -> Iterator[Session]:
    made = Session.dask(cluster.scheduler_address, machines())
    yield made
    made.close()


def ends(session: Session) -> tuple[Any, Any]:
    first, second = session.nodes
    source, target = first.gpu(0).alloc("1 MiB", fill="counter"), second.gpu(0).alloc("1 MiB")
    return first.nic(0).register(source), second.nic(0).register(target)


def test_a_transfer_runs_there_and_its_samples_come_here(session: Session) -> None:
    assert [node.name for node in session.nodes] == ["node-a", "node-b"]
    assert session.simulated_nodes
    source, target = ends(session)
    seen: list[Any] = []
    session.watch(Topic.SAMPLES, seen.append)
    transfer = session.transfer(source, target, size="64 KiB", duration="0.6 s")
    result = transfer.wait(20)
    assert result.messages > 1000
    assert transfer.verify()
    assert len(transfer.history) >= 4
    assert len(seen) >= 4


def test_stop_stops_and_errors_keep_their_kind(session: Session) -> None:
    source, target = ends(session)
    transfer = session.transfer(source, target, duration="60 s")
    transfer.stop()
    assert transfer.wait(5).state == "stopped"
    with pytest.raises(AllocationError, match="do not fit") as caught:
        session.nodes[0].gpu(0).alloc("9 TiB")
    assert caught.value.errno == 12


def test_two_labs_on_one_cluster_do_not_meet(session: Session, cluster: Any) -> None:
    ends(session)
    with lab("pcie-a30", scheduler=cluster) as other:
        assert [node.name for node in other.nodes] == ["node-a", "node-b"]
        assert len(other.nodes[0].machine.gpus) == 2
        other.nodes[0].gpu(0).alloc("1 MiB")
    assert len(session.buffers) == 2
    assert session.buffers[0].checksum()


def test_a_closed_lab_leaves_nothing_on_the_workers(cluster: Any) -> None:
    with distributed.Client(cluster, set_as_default=False) as client:
        with Session.dask(client, machines()) as session:
            ends(session)
        left = client.run(lambda dask_worker: [name for name in dask_worker.plugins if "gdviz" in name])
    assert list(left.values()) == [[], []]


def test_no_hardware_is_one_sentence(cluster: Any) -> None:
    with pytest.raises(GdvizError, match="No worker has a node") as caught:
        Session.dask(cluster.scheduler_address)
    assert "gdviz nodes" in str(caught.value)


def test_nobody_answers() -> None:
    with pytest.raises(GdvizError, match="No Dask scheduler answers"):
        Session.dask("tcp://127.0.0.1:9", timeout_s=0.5)
    with pytest.raises(GdvizError, match="No Dask scheduler answers"):
        Session.dask("nonsense://nowhere", timeout_s=0.5)


def test_a_worker_that_is_killed_ends_its_transfers_and_the_lab_goes_on(cluster: Any) -> None:
    with Session.dask(cluster.scheduler_address, machines()) as session:
        source, target = ends(session)
        transfer = session.transfer(source, target, duration="60 s")
        told: list[Any] = []
        session.watch(Topic.EVENTS, told.append)
        with distributed.Client(cluster, set_as_default=False) as client:
            holders = client.run(
                lambda dask_worker: any(
                    getattr(plugin, "_agents", None) for plugin in dask_worker.plugins.values()
                )
            )
            pids = client.run(os.getpid)
        holder = next(address for address, holds in holders.items() if holds)
        os.kill(pids[holder], signal.SIGKILL)
        with pytest.raises(TransferError, match="its Dask worker has ended"):
            transfer.wait(20)
        assert transfer.state == "failed"
        assert (session.buffers, session.regions) == ((), ())
        with pytest.raises(NodeLostError, match="start the worker again"):
            session.nodes[0].gpu(0).alloc("1 MiB")
        assert any("is gone" in event.text for event in told)
