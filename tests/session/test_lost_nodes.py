"""A node that is gone ends what it took part in, and a first end is the only one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gdviz.clock import SteppedClock
from gdviz.errors import GdvizError
from gdviz.machine import reference_machine
from gdviz.nodes import InProcessFleet
from gdviz.nodes.fleet import LostHandler
from gdviz.rdma.simulated import SimulatedNetwork
from gdviz.session import Session, Transfer

GONE = "node-b is gone."


class LosingFleet(InProcessFleet):
    """Its nodes can go; the others answer as before."""

    def on_lost(self, handler: LostHandler) -> None:
        self.handler = handler

    async def lose(self, node: str) -> None:
        self.handler(node, GONE)


@pytest.fixture
def fleet() -> LosingFleet:
    clock = SteppedClock()
    network = SimulatedNetwork(clock)
    machines = [reference_machine("hgx-h100", name) for name in ("node-a", "node-b", "node-c")]
    return LosingFleet([network.provider(machine) for machine in machines], clock)


@pytest.fixture
def session(fleet: LosingFleet) -> Iterator[Session]:
    with Session(fleet, SteppedClock()) as opened:
        yield opened


def running(session: Session, far: int = 1) -> Transfer:
    """Start one that does not end by itself: no time passes."""
    ends = [session.nodes[at].nic(0).register(session.nodes[at].gpu(0).alloc("1 MiB")) for at in (0, far)]
    return session.transfer(*ends, duration="300 s")


def test_it_has_failed_and_was_not_stopped(session: Session, fleet: LosingFleet) -> None:
    # The end that is left is told to stop, and says of itself that it did and all went well.
    transfer = running(session)
    session.ask(fleet.lose("node-b"))
    with pytest.raises(GdvizError, match=GONE):
        transfer.wait(5)
    assert transfer.state.value == "failed"
    assert {buffer.record.node for buffer in session.buffers} == {"node-a"}


def test_others_go_on(session: Session, fleet: LosingFleet) -> None:
    transfer = running(session, far=2)
    session.ask(fleet.lose("node-b"))
    assert not transfer.done.done()
    transfer.stop()
    assert transfer.wait(5).state.value == "stopped"


def test_one_that_has_ended_stays_as_it_was(session: Session, fleet: LosingFleet) -> None:
    transfer = running(session)
    transfer.stop()
    session.ask(fleet.lose("node-b"))
    assert transfer.wait(5).state.value == "stopped"
    assert transfer.state.value == "stopped"
