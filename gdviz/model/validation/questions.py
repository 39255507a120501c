"""How the tables ask the model: one small function for each kind of figure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from gdviz.model.constants import Constants
from gdviz.model.predict import SIZES, predict, timeline
from gdviz.model.results import Side
from gdviz.model.sharing import Transfer, predict_together
from gdviz.model.validation.table import Point, Question
from gdviz.model.workload import DataPath, Endpoint, Fabric, Op, Workload

#: Messages drawn where a latency is asked for, and where it is not.
_DRAWN, _FEW = 2000, 50

GIGABYTES, GIGABITS = 1e9, 1e9 / 8


def bandwidth(
    ends: tuple[Endpoint, Endpoint],
    work: Workload,
    unit: float,
    fabric: Fabric | None = None,
    **changes: Any,
) -> Question:
    """Return the question for the bandwidth of a transfer, in `unit`."""

    def ask(constants: Constants) -> float:
        used = replace(constants, **changes)
        found = predict(*ends, work, fabric=fabric, constants=used, messages=_FEW)
        return found.bandwidth_bytes_per_s / unit

    return ask


def latency_us(ends: tuple[Endpoint, Endpoint], work: Workload, which: str) -> Question:
    """Return the question for a percentile of the latency (``p50``, ``p99``), in microseconds."""

    def ask(constants: Constants) -> float:
        found = predict(*ends, work, constants=constants, messages=_DRAWN)
        return float(getattr(found.latency, which)) * 1e6

    return ask


def round_trip_us(ends: tuple[Endpoint, Endpoint], size_bytes: int) -> Question:
    """Return the question for a SEND there and one back, each seen by a polling CPU, in microseconds."""

    def ask(constants: Constants) -> float:
        stages = timeline(*ends, Workload(Op.SEND, DataPath.DIRECT, size_bytes, 1, 1), constants=constants)
        seen_s = next(s.end_s for s in stages if s.key == "poll" and s.side is Side.REMOTE)
        return 2 * seen_s * 1e6

    return ask


def from_python(question: Question) -> Question:
    """Return a question about a transfer that a Python program posts and polls."""
    return lambda constants: question(replace(constants, program_s=constants.python_program_s))


def times(count: int, question: Question) -> Question:
    """Return a question for `count` of the same side by side, which share nothing."""
    return lambda constants: count * question(constants)


def together(
    transfers: Sequence[Transfer], pick: Callable[[Iterable[float]], float], unit: float
) -> Question:
    """Return the question for transfers at the same time: `pick` (sum, min) of their bandwidths."""

    def ask(constants: Constants) -> float:
        found = predict_together(transfers, constants=constants, messages=_FEW)
        return pick(each.bandwidth_bytes_per_s / unit for each in found)

    return ask


def share_in_order(
    ends: tuple[Endpoint, Endpoint], sizes: Sequence[int] = SIZES, *, direct_first: bool
) -> Question:
    """Return the question for the share of sizes at which one path is the faster one.

    With `direct_first`, direct must have the higher bandwidth and the lower latency, else the lower
    bandwidth.
    """

    def ask(constants: Constants) -> float:
        right = 0
        for size in sizes:
            direct, staged = (
                predict(*ends, Workload(Op.WRITE, path, size, 128, 4), constants=constants, messages=_FEW)
                for path in (DataPath.DIRECT, DataPath.STAGED)
            )
            faster = direct.bandwidth_bytes_per_s > staged.bandwidth_bytes_per_s
            sooner = direct.latency.p50 < staged.latency.p50
            right += (faster and sooner) if direct_first else not faster
        return right / len(sizes)

    return ask


def exactly(what: str, value: float, ask: Question, tolerance: float) -> Point:
    """Return a point that was published as one figure."""
    return Point(what, value, value, ask, tolerance)
