"""What is often said of the two paths, beside what the model computes for two usual machines.

The claims are ranges that circulate in introductions to GPUDirect RDMA. Each is computed for a pair of
H100 nodes with ConnectX-7 and a pair of A100 nodes with ConnectX-6. A sentence says what sets the figure,
and where it lies outside the range, which change of the software or of the load would bring it there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from gdviz.machine import Machine, reference_machine
from gdviz.messages import _, ngettext
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


@dataclass(frozen=True, slots=True)
class _Said:
    """A quantity and what is claimed of it by path: (low, high)."""

    what: str
    unit: str
    size_bytes: int
    staged: tuple[float | None, float | None]
    direct: tuple[float | None, float | None]
    figure: Callable[[Prediction, Machine], float]
    why: Callable[[Prediction], str]


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
        pair = f"{gpu.name} / {nic.model}"
        figure = said.figure(found, near)
        claim = Claim(pair, path, said.what, said.unit, low, high, figure, said.why(found))
        if not claim.agrees:
            more = _what_it_takes(claim, partial(_figure, said, near, ask), constants)
            claim = replace(claim, why=f"{claim.why}; {more}")
        yield claim


def _figure(said: _Said, machine: Machine, ask: partial[Prediction], constants: Constants) -> float:
    return said.figure(ask(constants=constants), machine)


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


def _longest_stages(found: Prediction) -> str:
    parts: dict[str, float] = {}
    for stage, seconds in breakdown(found.stages):
        parts[stage.name] = parts.get(stage.name, 0.0) + seconds
    longest = sorted(parts.items(), key=lambda part: -part[1])[:3]
    listed = ", ".join(f"{name} {format_duration(seconds)}" for name, seconds in longest)
    cpu_s = sum(seconds for stage, seconds in breakdown(found.stages) if stage.cpu)
    return _("longest: {stages}; the CPU works for {cpu} of it").format(
        stages=listed, cpu=format_duration(cpu_s)
    )


def _narrowest(found: Prediction) -> str:
    return _("limited by {name}: {rate}").format(
        name=found.bottleneck.name, rate=format_rate(found.bottleneck.bytes_per_s)
    )


def _cpu_work(found: Prediction) -> str:
    per_message = found.cpu_share / found.messages_per_s
    return _("{time} of CPU for each message of {size}, {rate:.3g} messages a second").format(
        time=format_duration(per_message),
        size=format_size(found.workload.size_bytes),
        rate=found.messages_per_s,
    )


def _tail(found: Prediction) -> str:
    late_s = found.latency.p99 - found.latency.p50
    return _(
        "{late} over the median, from the CPUs' interrupts and scheduling, with no congestion; "
        "the latest of all drawn takes {latest}"
    ).format(late=format_duration(late_s), latest=format_duration(found.latency.max))


def _what_if() -> tuple[tuple[str, tuple[float, ...], Callable[[float], str]], ...]:
    """Return constants that a program or its load decides, values to try, and words for them."""
    return (
        (
            "bounce_buffers", (4, 3, 2, 1),
            lambda n: ngettext("{n} bounce buffer", "{n} bounce buffers", int(n)).format(n=int(n)),
        ),
        (
            "chunk_bytes", tuple(2.0**power for power in (20, 18, 21, 17, 22, 16)),
            lambda size: _("chunks of {size}").format(size=format_size(int(size))),
        ),
        (
            "program_s", (0.5e-6, 1e-6, 2e-6, 4e-6),
            lambda s: _("a program that adds {time} to each call").format(time=format_duration(s)),
        ),
        (
            "preempt_hz", (100.0, 300.0, 1000.0, 3000.0),
            lambda hz: _("other threads taking the CPU {hz:g} times a second").format(hz=hz),
        ),
    )  # fmt: skip


def _what_it_takes(claim: Claim, figure: Callable[[Constants], float], constants: Constants) -> str:
    """Return the first single change that brings a figure into the claimed range, in words."""
    for name, values, words in _what_if():
        for value in values:
            usual = getattr(constants, name)
            change: dict[str, Any] = {name: type(usual)(value)}
            there = replace(claim, computed=figure(replace(constants, **change)))
            if there.agrees:
                return _("it would be {figure:.3g} {unit} with {change} instead of {usual}").format(
                    figure=there.computed, unit=claim.unit, change=words(value), usual=words(usual)
                )
    return _("no single change of bounce buffers, chunks, program or load that was tried brings it there")
