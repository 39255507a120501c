from __future__ import annotations

import asyncio

import pytest

from gdviz import clock
from gdviz.clock import RealClock, SteppedClock


def test_the_real_clock_runs_at_its_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    wall = [100.0]
    monkeypatch.setattr(clock.time, "perf_counter", lambda: wall[0])
    slow, fast = RealClock(0.001), RealClock(10)
    wall[0] += 2.0
    assert slow.now() == pytest.approx(0.002)
    assert fast.now() == pytest.approx(20.0)


def test_the_real_clock_sleeps_at_its_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(clock.asyncio, "sleep", sleep)
    asyncio.run(RealClock(0.5).sleep(3.0))
    asyncio.run(RealClock().sleep(-1.0))
    assert slept == [6.0, 0.0]


@pytest.mark.parametrize("rate", [0, -1, float("nan")])
def test_a_rate_must_be_above_zero(rate: float) -> None:
    with pytest.raises(ValueError, match="rate"):
        RealClock(rate)


def test_a_stepped_clock_stands_still() -> None:
    stepped = SteppedClock()
    assert stepped.now() == 0
    stepped.advance(1.5)
    stepped.advance(0)
    assert stepped.now() == 1.5
    with pytest.raises(ValueError, match="back"):
        stepped.advance(-1)


def test_sleepers_wake_in_order_at_their_time() -> None:
    async def run() -> list[tuple[str, float]]:
        stepped = SteppedClock()
        woken: list[tuple[str, float]] = []

        async def sleeper(name: str, seconds: float) -> None:
            await stepped.sleep(seconds)
            woken.append((name, stepped.now()))

        tasks = [asyncio.create_task(sleeper(name, at)) for name, at in (("b", 2.0), ("a", 1.0), ("c", 9.0))]
        await asyncio.sleep(0)
        stepped.advance(1.0)
        await asyncio.sleep(0)
        assert woken == [("a", 1.0)]
        stepped.advance(1.0)
        await asyncio.sleep(0)
        assert woken == [("a", 1.0), ("b", 2.0)]
        tasks[2].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        stepped.advance(100.0)
        assert stepped.now() == 102.0
        return woken

    assert len(asyncio.run(run())) == 2


def test_autojump_takes_no_time() -> None:
    async def run() -> list[float]:
        stepped = SteppedClock(autojump=True)
        seen: list[float] = []

        async def sleeper(seconds: float) -> None:
            for _ in range(3):
                await stepped.sleep(seconds)
                seen.append(stepped.now())

        await asyncio.gather(sleeper(10.0), sleeper(25.0))
        await stepped.sleep(0)
        await stepped.sleep(3600.0)
        assert stepped.now() == 75.0 + 3600.0
        return seen

    assert asyncio.run(run()) == [10.0, 20.0, 25.0, 30.0, 50.0, 75.0]


def test_the_walls_readings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock.time, "monotonic", lambda: 12.5)
    monkeypatch.setattr(clock.time, "time", lambda: 99.5)
    assert (clock.wall_seconds(), clock.timestamp()) == (12.5, 99.5)
