"""The engine thread: one loop, answers, interrupts, an end."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading

import pytest

from gdviz.errors import SessionClosedError
from gdviz.session.engine import Engine, finished


@pytest.fixture
def engine():
    engine = Engine("test-engine")
    yield engine
    engine.close()


async def _name() -> str:
    return threading.current_thread().name


def test_work_runs_on_the_engines_thread(engine):
    assert engine.ask(_name()) == "test-engine"


def test_errors_come_back_to_who_asked(engine):
    async def fail() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        engine.ask(fail())


def test_the_engine_does_not_wait_for_itself(engine):
    async def ask() -> None:
        engine.ask(_name())

    with pytest.raises(RuntimeError, match="itself"):
        engine.ask(ask())


def test_closing_cancels_what_runs_and_ends_the_thread():
    engine = Engine("short-lived")
    seen: list[str] = []

    async def for_ever() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    engine.submit(for_ever())
    engine.ask(_name())
    engine.close()
    engine.close()
    assert seen == ["cancelled"]
    assert "short-lived" not in [thread.name for thread in threading.enumerate()]


def test_a_closed_engine_says_so():
    engine = Engine()
    engine.close()
    with pytest.raises(SessionClosedError, match=r"gdviz\.lab"):
        engine.ask(_name())


def test_who_waits_wakes_up_by_itself_to_feel_an_interrupt():
    # A signal's handler cancels a task without waking the loop: what wakes it must be the waiting itself.
    waits: list[float | None] = []

    class Loop(asyncio.SelectorEventLoop):
        def call_later(self, delay, callback, *args, context=None):
            waits.append(delay)
            return super().call_later(0, callback, *args, context=context)

    done: concurrent.futures.Future[int] = concurrent.futures.Future()

    async def cell() -> int:
        waiting = asyncio.ensure_future(finished(done))
        while len(waits) < 3:
            await asyncio.sleep(0)
        done.set_result(7)
        return await waiting

    with asyncio.Runner(loop_factory=Loop) as runner:
        assert runner.run(cell()) == 7
    assert max(waits) <= 0.2


def test_who_stops_waiting_leaves_the_future_alone():
    done: concurrent.futures.Future[int] = concurrent.futures.Future()

    async def cell() -> None:
        waiting = asyncio.ensure_future(finished(done))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(cell())
    assert not done.cancelled()
