"""The engine thread: one loop, answers, interrupts, an end."""

from __future__ import annotations

import asyncio
import threading

import pytest

from gdviz.errors import SessionClosedError
from gdviz.session.engine import Engine


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
