"""What is often said of the two paths, beside what the model computes for two usual machines.

The claims are ranges that circulate in introductions to GPUDirect RDMA. Each is computed for a pair of
H100 nodes with ConnectX-7 and a pair of A100 nodes with ConnectX-6; a sentence says what sets the figure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from gdviz.machine import Machine, reference_machine
from gdviz.messages import _
from gdviz.model.breakdown import breakdown
from gdviz.model.constants import DEFAULTS, Constants
from gdviz.model.predict import predict
from gdviz.model.results import Prediction
from gdviz.model.workload import DataPath, Endpoint, Op, Workload
from gdviz.quantities import format_duration, format_rate, format_size

#: Machines of the catalogue that stand for the pairs, GPU and NIC on one switch.
PAIRS: tuple[str, ...] = ("hgx-h100", "dgx-a100")

_SMALL_BYTES, _LARGE_BYTES = 8, 2**20


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim for one path of one pair.

    Attributes
    ----------
    pair
        GPU and NIC.
    what
        The quantity.
    low, high
        What is claimed; None where there is no such end.
    computed
        In `unit`.
    why
        What sets the figure.
    """

    pair: str
    path: DataPath
    what: str
    unit: str
    low: float | None
    high: float | None
    computed: float
    why: str

    @property
    def agrees(self) -> bool:
        """Whether the computed figure lies in the claimed range."""
        return (self.low is None or self.computed >= self.low) and (
            self.high is None or self.computed <= self.high
        )


#: Asks the same with some constants changed.
Again = Callable[..., Prediction]


@dataclass(frozen=True, slots=True)
class _Said:
    """A quantity and what is claimed of it by path: (low, high)."""

    what: str
    unit: str
    size_bytes: int
    staged: tuple[float | None, float | None]
    direct: tuple[float | None, float | None]
    figure: Callable[[Prediction, Machine], float]
    why: Callable[[Prediction, Again], str]


def claims(constants: Constants = DEFAULTS, *, messages: int = 10_000, seed: int = 1) -> tuple[Claim, ...]:
    """Return every claim, computed."""
    return tuple(
        claim
        for key in PAIRS
        for said in _said()
        for claim in _computed(key, said, constants, messages, seed)
    )


def _computed(key: str, said: _Said, constants: Constants, messages: int, seed: int) -> Iterable[Claim]:
    near, far = (reference_machine(key, name) for name in ("a", "b"))
    gpu, nic = near.gpus[0], near.nics[0]
    for path, (low, high) in ((DataPath.STAGED, said.staged), (DataPath.DIRECT, said.direct)):
        ask = partial(
            predict,
            Endpoint(near, nic.id, gpu.id),
            Endpoint(far, nic.id, gpu.id),
            Workload(Op.WRITE, path, said.size_bytes, 128, 4),
            messages=messages,
            seed=seed,
        )
        found = ask(constants=constants)

        def again(ask: partial[Prediction] = ask, **changes: Any) -> Prediction:
            return ask(constants=replace(constants, **changes))

        pair = f"{gpu.name} / {nic.model}"
        yield Claim(
            pair, path, said.what, said.unit, low, high, said.figure(found, near), said.why(found, again)
        )


def _said() -> tuple[_Said, ...]:
    small, large = format_size(_SMALL_BYTES), format_size(_LARGE_BYTES)
    return (
        _Said(
            _("latency, {size}").format(size=small), "us", _SMALL_BYTES, (10.0, 20.0), (3.0, 5.0),
            lambda found, _machine: found.latency.p50 * 1e6, _longest_stages,
        ),
        _Said(
            _("share of the port, {size}").format(size=large), "%", _LARGE_BYTES, (60.0, 70.0), (90.0, None),
            _share_of_port, _narrowest,
        ),
        _Said(
            _("CPU share of a core, {size}").format(size=large), "%", _LARGE_BYTES, (15.0, 25.0), (None, 5.0),
            lambda found, _machine: found.cpu_share * 100, _cpu_work,
        ),
        _Said(
            _("p99 latency, {size}").format(size=small), "us", _SMALL_BYTES, (50.0, None), (None, 10.0),
            lambda found, _machine: found.latency.p99 * 1e6, _tail,
        ),
    )  # fmt: skip


def _share_of_port(found: Prediction, machine: Machine) -> float:
    port = machine.nics[0].speed_bytes_per_s
    assert port is not None
    return found.bandwidth_bytes_per_s / port * 100


def _longest_stages(found: Prediction, _again: Again) -> str:
    parts = sorted(breakdown(found.stages), key=lambda part: -part[1])[:3]
    listed = ", ".join(f"{stage.name} {format_duration(seconds)}" for stage, seconds in parts)
    cpu_s = sum(seconds for stage, seconds in breakdown(found.stages) if stage.cpu)
    return _("longest: {stages}; the CPU works for {cpu} of it").format(
        stages=listed, cpu=format_duration(cpu_s)
    )


def _narrowest(found: Prediction, again: Again) -> str:
    text = _("limited by: {name}").format(name=found.bottleneck.name)
    if found.workload.path is DataPath.STAGED:
        simple: float = again(bounce_buffers=1).bandwidth_bytes_per_s
        text += "; " + _("copies and wire overlap; with one bounce buffer it is {rate}").format(
            rate=format_rate(simple)
        )
    return text


def _cpu_work(found: Prediction, _again: Again) -> str:
    per_message = found.cpu_share / found.messages_per_s
    return _("{time} of CPU for each message of {size}, {rate:.3g} messages a second").format(
        time=format_duration(per_message),
        size=format_size(found.workload.size_bytes),
        rate=found.messages_per_s,
    )


def _tail(found: Prediction, _again: Again) -> str:
    late_s = found.latency.p99 - found.latency.p50
    return _(
        "{late} over the median, from interrupts and scheduling of the CPUs; no congestion is assumed"
    ).format(late=format_duration(late_s))
