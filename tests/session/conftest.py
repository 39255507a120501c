"""A session of two simulated nodes whose time passes at once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gdviz.clock import SteppedClock
from gdviz.machine import reference_machine
from gdviz.session import MemoryRegion, Session


@pytest.fixture
def session() -> Iterator[Session]:
    """Two H100 nodes; the clock jumps to the next deadline, so nothing waits."""
    machine = reference_machine("hgx-h100")
    machines = [machine.renamed("node-a"), machine.renamed("node-b")]
    with Session.simulated(machines, clock=SteppedClock(autojump=True)) as opened:
        yield opened


@pytest.fixture
def pair(session: Session) -> tuple[MemoryRegion, MemoryRegion]:
    """A filled region on GPU 0 of one node and an empty one on GPU 0 of the other."""
    a, b = session.nodes
    source = a.nic(0).register(a.gpu(0).alloc("1 MiB", fill="counter"))
    target = b.nic(0).register(b.gpu(0).alloc("1 MiB"))
    return source, target
