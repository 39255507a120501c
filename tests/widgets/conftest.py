"""A session whose time passes at once, and a way to wait for its engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from gdviz.clock import SteppedClock
from gdviz.machine import reference_machine
from gdviz.session import Session


@pytest.fixture
def session() -> Iterator[Session]:
    """Two H100 nodes; the clock jumps to the next deadline, so nothing waits."""
    machine = reference_machine("hgx-h100")
    machines = [machine.renamed("node-a"), machine.renamed("node-b")]
    with Session.simulated(machines, clock=SteppedClock(autojump=True)) as opened:
        yield opened


@pytest.fixture
def settle(session: Session) -> Callable[[], None]:
    """Wait until the engine has done all that was asked of it so far."""

    async def turns() -> None:
        import asyncio

        for _turn in range(50):
            await asyncio.sleep(0)

    return lambda: session.ask(turns())
