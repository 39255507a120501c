"""The performance model: events a second beside SimPy, a full sweep, memory of a long flow"""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Generator
from typing import Any

import numpy as np
import simpy
from report import Report

from gdviz.machine import reference_machine
from gdviz.model import SIZES, DataPath, Endpoint, Op, Workload, flow, sweep
from gdviz.model.engine import Visit, tandem

CHUNKS, STAGES = 100_000, 8
SWEEP_SIZES = SIZES[2:]


def work(count: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return arrivals and service times: exponential, the stages about 80 % busy, same seed."""
    random = np.random.default_rng(7)
    arrivals = np.cumsum(random.exponential(1.0, count))
    return arrivals, [random.exponential(0.8, count) for _stage in range(STAGES)]


def by_simpy(arrivals: np.ndarray, services: list[np.ndarray]) -> np.ndarray:
    """Return departures from the last of the servers, each a SimPy resource of one, in a row."""
    environment = simpy.Environment()
    servers = [simpy.Resource(environment, 1) for _stage in services]
    done = np.empty(arrivals.size)

    def chunk(number: int) -> Generator[Any, Any, None]:
        yield environment.timeout(arrivals[number])
        for server, service in zip(servers, services, strict=True):
            with server.request() as turn:
                yield turn
                yield environment.timeout(service[number])
        done[number] = environment.now

    for number in range(arrivals.size):
        environment.process(chunk(number))
    environment.run()
    return done


def by_gdviz(arrivals: np.ndarray, services: list[np.ndarray]) -> np.ndarray:
    """Return the same from the engine."""
    _starts, done = tandem(arrivals, [Visit(service, service) for service in services])
    return done


def test_tandem_queue_beside_simpy(report: Report, repeats: int) -> None:
    arrivals, services = work(CHUNKS)
    theirs: list[float] = []
    ours: list[float] = []
    worst = 0.0
    by_gdviz(arrivals, services)
    for _round in range(max(2, repeats // 3)):
        start = time.perf_counter()
        expected = by_simpy(arrivals, services)
        theirs.append(time.perf_counter() - start)
        for _again in range(5):
            start = time.perf_counter()
            found = by_gdviz(arrivals, services)
            ours.append(time.perf_counter() - start)
        worst = max(worst, float(np.max(np.abs(found - expected) / expected)))
    assert worst < 1e-9
    events = CHUNKS * STAGES
    report.add("SimPy, stage events a second", [events / each for each in theirs], "/s")
    report.add("gdviz, stage events a second", [events / each for each in ours], "/s")
    ratio = sorted(theirs)[len(theirs) // 2] / sorted(ours)[len(ours) // 2]
    report.add("1000 x gdviz's time over SimPy's", 1000 / ratio, "", below=1000 / 300)
    report.note(
        f"The same tandem queue, {CHUNKS:,} chunks through {STAGES} servers: {ratio:.0f} times as fast,"
    )
    report.note(f"departures equal to {worst:.1e} relative.")


def test_full_sweep(report: Report, repeats: int) -> None:
    near, far = (reference_machine("hgx-h100", name) for name in ("a", "b"))
    ends = [Endpoint(machine, machine.nics[0].id, machine.gpus[0].id) for machine in (near, far)]
    spent = []
    for _ in range(repeats):
        start = time.perf_counter()
        found = sweep(*ends, sizes=SWEEP_SIZES, messages=10_000)
        spent.append(time.perf_counter() - start)
    assert [len(found[path]) for path in DataPath] == [24, 24]
    report.add("sweep, 24 sizes, both paths, 10,000 messages a size", spent, "s", below=1.0)


def test_memory_of_a_long_flow(report: Report) -> None:
    near, far = (reference_machine("hgx-h100", name) for name in ("a", "b"))
    ends = [Endpoint(machine, machine.nics[0].id, machine.gpus[0].id) for machine in (near, far)]
    peaks = {}
    for count in (10**5, 10**6, 10**7):
        running = flow(*ends, Workload(Op.WRITE, DataPath.DIRECT, 4096, 128, 4))
        gc.collect()
        tracemalloc.start()
        for _block in range(count // 10**5):
            running.take(10**5)
        peaks[count] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        report.add(f"peak memory, {count:,} messages taken by 100,000", peaks[count] / 2**20, "MiB")
    growth = peaks[10**7] / peaks[10**5]
    report.add("10,000,000 messages over 100,000", growth, "x", below=1.1)
