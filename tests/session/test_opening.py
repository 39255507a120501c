"""What a session can be opened with, and what is said where it cannot."""

from __future__ import annotations

from typing import Any

import pytest

from gdviz.clock import SteppedClock
from gdviz.errors import GdvizError, TransferError, UnknownDeviceError
from gdviz.machine import Machine, reference_machine
from gdviz.model import Fabric
from gdviz.nodes import host
from gdviz.rdma.simulated import SimulatedNetwork
from gdviz.session import Session
from gdviz.widgets import lab


@pytest.fixture
def verbs(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Put simulated providers where this host's verbs would be; return what they were asked for."""
    asked: dict[str, Any] = {}
    network = SimulatedNetwork(SteppedClock())
    machine = reference_machine("pcie-a30", "here")

    def open_host(name: str, **options: Any) -> Any:
        asked[name] = options
        return network.provider(machine.renamed(name))

    monkeypatch.setattr(host, "open_host", open_host)
    monkeypatch.setattr(host, "host_machine", lambda: machine)
    return asked


def test_nodes_of_this_host(verbs: dict[str, Any]) -> None:
    with Session.hardware(gid_indexes=(1, 3), bindings=("ibverbs",)) as session:
        assert [node.name for node in session.nodes] == ["here-a", "here-b"]
    assert verbs == {
        "here-a": {"gid_index": 1, "bindings": ("ibverbs",)},
        "here-b": {"gid_index": 3, "bindings": ("ibverbs",)},
    }
    with Session.hardware(1) as session:
        assert session.nodes[0].name == "here"


def test_the_lab_of_this_host(verbs: dict[str, Any]) -> None:
    with lab(provider="verbs", nodes=3) as opened:
        assert [node.name for node in opened.nodes] == ["here-a", "here-b", "here-c"]


def test_a_host_without_verbs_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "host_machine", lambda name=None: Machine(name or "laptop"))
    with pytest.raises(UnknownDeviceError, match="laptop-a has no RDMA device") as caught:
        lab(provider="verbs")
    assert "rdma link add" in caught.value.remedy


def test_what_closes_when_the_second_node_cannot_be_opened(
    verbs: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []
    first = host.open_host

    def second_fails(name: str, **options: Any) -> Any:
        if opened:
            raise UnknownDeviceError("no more")
        opened.append(first(name, **options))
        return opened[0]

    monkeypatch.setattr(host, "open_host", second_fails)
    with pytest.raises(UnknownDeviceError, match="no more"):
        Session.hardware()
    assert opened[0].closed


def test_real_nodes_take_no_source() -> None:
    with pytest.raises(GdvizError, match="no source"):
        lab("hgx-h100", provider="verbs")
    with pytest.raises(GdvizError, match="'simulated' or 'verbs'"):
        lab(provider="magic")  # type: ignore[arg-type]


def test_the_fabric_counts_in_predictions_and_queue_pairs() -> None:
    machines = [reference_machine("pcie-a30", name) for name in ("a", "b")]
    rates = {}
    for mtu in (256, 4096):
        clock = SteppedClock(autojump=True)
        with Session.simulated(machines, fabric=Fabric(mtu_bytes=mtu), clock=clock) as session:
            ends = [node.nic(0).register(node.gpu(0).alloc("1 MiB")) for node in session.nodes]
            transfer = session.transfer(*ends, size="64 KiB", count=10)
            result = transfer.wait(20)
            rates[mtu] = transfer.prediction.bandwidth_bytes_per_s
            assert result.prediction.bandwidth_bytes_per_s == pytest.approx(rates[mtu])
    assert rates[256] < rates[4096]


def test_a_ping_pong_is_passed_on_and_refused_by_simulated_nodes() -> None:
    machines = [reference_machine("pcie-a30", name) for name in ("a", "b")]
    with Session.simulated(machines, clock=SteppedClock(autojump=True)) as session:
        ends = [node.nic(0).register(node.gpu(0).alloc(4096)) for node in session.nodes]
        with pytest.raises(TransferError, match="for real nodes"):
            session.transfer(*ends, depth=1, count=10, ping_pong=True)
        with pytest.raises(TransferError, match="one message in flight"):
            session.transfer(*ends, depth=2, count=10, ping_pong=True)
