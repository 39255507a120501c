"""The questions that the model answers: what bandwidth, how long, which part limits, how much CPU."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gdviz.model.constants import DEFAULTS, Constants
from gdviz.model.flow import Flow, draw
from gdviz.model.profile import Profile, profile
from gdviz.model.results import LatencySummary, Prediction, Stage
from gdviz.model.setup import Setup, build
from gdviz.model.workload import DataPath, Endpoint, Fabric, Op, Workload

#: Message sizes of a sweep: 2 B to 64 MiB, powers of two.
SIZES: tuple[int, ...] = tuple(2**power for power in range(1, 27))


def predict(
    local: Endpoint,
    remote: Endpoint,
    workload: Workload,
    *,
    fabric: Fabric | None = None,
    constants: Constants = DEFAULTS,
    messages: int = 10_000,
    seed: int = 1,
) -> Prediction:
    """Return what the model expects of a transfer.

    Parameters
    ----------
    local, remote
        Who posts, and whose memory is written or read.
    fabric
        The wire; None for the usual one between these two NICs.
    messages
        How many single messages to draw for the latency's distribution.
    seed
        Of the random numbers: the same seed, the same answer.

    Raises
    ------
    UnknownDeviceError
        An endpoint names a NIC or a GPU that its machine lacks.
    """
    setup = build(local, remote, workload.op, workload.path, fabric, constants)
    return _predict(setup, workload, messages, seed)


def timeline(
    local: Endpoint,
    remote: Endpoint,
    workload: Workload,
    *,
    fabric: Fabric | None = None,
    constants: Constants = DEFAULTS,
) -> tuple[Stage, ...]:
    """Return the stages of one message on an idle path, without jitter, in the order of their start."""
    setup = build(local, remote, workload.op, workload.path, fabric, constants)
    return profile(setup, workload).stages


def flow(
    local: Endpoint,
    remote: Endpoint,
    workload: Workload,
    *,
    fabric: Fabric | None = None,
    constants: Constants = DEFAULTS,
    seed: int = 1,
) -> Flow:
    """Return a running transfer, to take messages from."""
    setup = build(local, remote, workload.op, workload.path, fabric, constants)
    shape = profile(setup, workload)
    return Flow(shape, answer(shape, constants, 2000, seed), constants, seed)


def sweep(
    local: Endpoint,
    remote: Endpoint,
    *,
    op: Op = Op.WRITE,
    paths: Sequence[DataPath] = (DataPath.DIRECT, DataPath.STAGED),
    sizes: Sequence[int] = SIZES,
    depth: int = 128,
    qps: int = 1,
    fabric: Fabric | None = None,
    constants: Constants = DEFAULTS,
    messages: int = 2000,
    seed: int = 1,
) -> dict[DataPath, tuple[Prediction, ...]]:
    """Return predictions for many sizes, by path."""
    answers: dict[DataPath, tuple[Prediction, ...]] = {}
    for path in paths:
        setup = build(local, remote, op, path, fabric, constants)
        answers[path] = tuple(
            _predict(setup, Workload(op, path, size, depth, qps), messages, seed) for size in sizes
        )
    return answers


def _predict(setup: Setup, workload: Workload, messages: int, seed: int) -> Prediction:
    return answer(profile(setup, workload), setup.constants, messages, seed)


def answer(shape: Profile, constants: Constants, messages: int, seed: int) -> Prediction:
    """Return the prediction of one workload, its latency drawn from so many messages."""
    visits, tail = draw(shape, np.random.default_rng(seed), max(1, messages), constants)
    among = tail + sum(visit.delay_s for visit in visits)
    times = among + shape.idle_s
    p50, p99, p999 = np.percentile(times, (50, 99, 99.9))
    latency = LatencySummary(float(p50), float(p99), float(p999), float(times.mean()), float(times.max()))
    ceilings = shape.ceilings(float(among.mean()))
    bandwidth = ceilings[0].bytes_per_s
    rate = bandwidth / shape.workload.size_bytes
    return Prediction(
        shape.workload,
        bandwidth,
        rate,
        latency,
        rate * shape.cpu_s,
        ceilings[0],
        ceilings,
        shape.stages,
        shape.loads(bandwidth),
        shape.capacities(),
    )
