from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from gdviz.errors import GdvizError
from gdviz.machine import reference_machine
from gdviz.model import DEFAULTS, SIZES, Constants, DataPath, Endpoint, Op, Workload, predict
from gdviz.model.calibration import Measured, calibrate, sweep_points

HERE = replace(DEFAULTS, program_s=3.4e-6, qp_message_s=210e-9, copy_launch_s=6.1e-6)
FEW = SIZES[::3]


def world(
    ends: tuple[Endpoint, Endpoint],
    constants: Constants,
    noise: float = 0.0,
    paths: tuple[DataPath, ...] = tuple(DataPath),
) -> list[Measured]:
    """What would be measured in a world with these constants."""
    points = []
    for number, (size, path) in enumerate((size, path) for size in FEW for path in paths):
        work = Workload(Op.WRITE, path, size, 128, 1)
        found = predict(*ends, work, constants=constants, messages=200)
        off = 1 + noise * (-1) ** number
        points.append(Measured(work, found.bandwidth_bytes_per_s * off, found.latency.p50 * off))
    return points


@pytest.mark.slow
def test_it_finds_the_constants_of_another_world(pair: tuple[Endpoint, Endpoint]) -> None:
    found = calibrate(world(pair, HERE), *pair, fit=("program_s", "qp_message_s", "copy_launch_s"))
    for name in ("program_s", "qp_message_s", "copy_launch_s"):
        assert getattr(found.constants, name) == pytest.approx(getattr(HERE, name), rel=0.02), name
    assert found.before.largest > 0.2
    assert found.held_out.points > 0
    assert found.held_out.largest < 0.02
    assert found.idle == ()
    assert "held out" in str(found)


@pytest.mark.slow
def test_noise_shows_in_the_points_held_out(pair: tuple[Endpoint, Endpoint]) -> None:
    found = calibrate(world(pair, HERE, noise=0.05), *pair)
    assert found.held_out.median == pytest.approx(0.05, abs=0.03)
    assert found.constants.program_s == pytest.approx(HERE.program_s, rel=0.3)


@pytest.mark.slow
def test_what_the_points_do_not_depend_on_keeps_its_value(pair: tuple[Endpoint, Endpoint]) -> None:
    found = calibrate(world(pair, HERE, paths=(DataPath.DIRECT,)), *pair)
    assert {"copy_launch_s", "copy_start_s", "peer_read_bytes_per_s"} <= set(found.idle)
    assert found.constants.copy_launch_s == DEFAULTS.copy_launch_s
    assert set(found.changed) == {"program_s", "qp_message_s"}


def test_a_ceiling_of_the_root_complex_is_found() -> None:
    machine = reference_machine("pcie-a30")
    far = Endpoint(machine, machine.nics[0].id, machine.gpus[1].id)
    measured = replace(DEFAULTS, peer_read_bytes_per_s=8e9, peer_write_bytes_per_s=20e9)
    points = world((far, far), measured, paths=(DataPath.DIRECT,))
    found = calibrate(points, far, far, fit=("peer_read_bytes_per_s",))
    assert found.constants.peer_read_bytes_per_s == pytest.approx(8e9, rel=0.02)
    assert found.changed["peer_read_bytes_per_s"][0] is None


def test_a_plain_sweep_of_bandwidths_will_do(pair: tuple[Endpoint, Endpoint]) -> None:
    work = Workload(Op.WRITE, DataPath.DIRECT, 8, 128, 1)
    rates = [
        predict(*pair, replace(work, size_bytes=size), constants=HERE, messages=50).bandwidth_bytes_per_s
        for size in FEW
    ]
    found = calibrate(sweep_points(FEW, rates, work), *pair, fit=("qp_message_s",))
    assert found.constants.qp_message_s == pytest.approx(210e-9, rel=0.01)


def test_of_two_constants_that_explain_the_same_one_is_kept() -> None:
    machine = reference_machine("pcie-a30")
    far = Endpoint(machine, machine.nics[0].id, machine.gpus[1].id)
    measured = replace(DEFAULTS, peer_read_bytes_per_s=8e9, peer_write_bytes_per_s=20e9)
    # A latency tells both; of bandwidths, only the narrower one shows, whichever it is.
    points = [
        replace(point, latency_s=None) for point in world((far, far), measured, paths=(DataPath.DIRECT,))
    ]
    found = calibrate(points, far, far, fit=("peer_read_bytes_per_s", "peer_write_bytes_per_s"))
    ((kept, (_before, after)),) = found.changed.items()
    (idle,) = found.idle
    assert {kept, idle} == {"peer_read_bytes_per_s", "peer_write_bytes_per_s"}
    assert after == pytest.approx(8e9, rel=0.02)
    assert getattr(found.constants, idle) is None
    assert found.held_out.largest < 0.02


@pytest.mark.slow
def test_bounds_and_spreads_are_told(pair: tuple[Endpoint, Endpoint]) -> None:
    points = world(pair, HERE, paths=(DataPath.DIRECT,))
    exact = calibrate(points, *pair, fit=("program_s", "qp_message_s"))
    random = np.random.default_rng(11)
    scattered = [
        replace(point, latency_s=(point.latency_s or 0.0) * math.exp(random.normal(0, 0.05)))
        for point in points
    ]
    noisy = calibrate(scattered, *pair, fit=("program_s", "qp_message_s"))
    low, high = exact.bounds["program_s"]
    assert (low, high) == pytest.approx((DEFAULTS.program_s / 100, DEFAULTS.program_s * 100))
    assert exact.spread["program_s"] < 1e-3 < 0.01 < noisy.spread["program_s"] < 0.5
    off = abs(noisy.constants.program_s / HERE.program_s - 1)
    assert off < 3 * noisy.spread["program_s"]
    assert exact.at_bound == ()
    assert "at its bound" not in str(exact)


@pytest.mark.slow
def test_a_constant_that_would_have_to_go_further_stops_at_its_bound(pair: tuple[Endpoint, Endpoint]) -> None:
    slow = replace(DEFAULTS, program_s=100 * DEFAULTS.program_s)
    points = world(pair, replace(slow, program_s=2 * slow.program_s), paths=(DataPath.DIRECT,))
    found = calibrate(points, *pair, fit=("program_s",))
    assert found.at_bound == ("program_s",)
    assert found.constants.program_s == pytest.approx(slow.program_s)
    assert "at its bound" in str(found)
    assert found.held_out.largest > 0.2


@pytest.mark.slow
def test_constants_that_cannot_be_told_apart_have_a_wide_spread(pair: tuple[Endpoint, Endpoint]) -> None:
    # Of a latency, the call and the engine's start are one sum.
    points = [
        replace(point, bandwidth_bytes_per_s=None)
        for point in world(pair, HERE, noise=0.02, paths=(DataPath.STAGED,))
        if point.workload.size_bytes < DEFAULTS.chunk_bytes
    ]
    both = calibrate(points, *pair, fit=("copy_start_s", "copy_wait_s"))
    one = calibrate(points, *pair, fit=("copy_wait_s",))
    assert max(both.spread.values()) > 10 * one.spread["copy_wait_s"]


def sweep_of(value: float, count: int = 4) -> tuple[Measured, ...]:
    return sweep_points([2**power for power in range(16, 16 + count)], [value] * count, Workload())


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (49.0, "the model expects"),
        (392.0, "the model expects"),
        (49e3, "the model expects"),
        (392e9, "the NIC's port carries 50.0 GB/s"),
        (49e12, "the NIC's port carries"),
    ],
)
def test_other_units_are_told(pair: tuple[Endpoint, Endpoint], value: float, said: str) -> None:
    """GB/s, Gb/s, MB/s, bits a second, and kilobytes taken for megabytes."""
    with pytest.raises(GdvizError, match=said) as caught:
        calibrate(sweep_of(value), *pair)
    assert "bandwidth at 64 KiB" in str(caught.value)


def test_microseconds_are_no_seconds(pair: tuple[Endpoint, Endpoint]) -> None:
    points = [replace(point, bandwidth_bytes_per_s=None, latency_s=5.4) for point in sweep_of(1e9)]
    with pytest.raises(GdvizError, match=r"latency at 64 KiB is 5\.40 s, and the model expects 5\.\d+ µs"):
        calibrate(points, *pair)


@pytest.mark.parametrize(
    ("sizes", "rates", "said"),
    [
        ((64, 128, 128), (1.0,) * 3, "128 comes after 128"),
        ((64, 256, 128), (1.0,) * 3, "128 comes after 256"),
        ((64, 128), (1.0,) * 3, "2 sizes and 3 bandwidths"),
        ((0, 128), (1.0,) * 2, "message size"),
    ],
)
def test_a_sweep_ascends(sizes: tuple[int, ...], rates: tuple[float, ...], said: str) -> None:
    with pytest.raises(GdvizError, match=said):
        sweep_points(sizes, rates, Workload())


@pytest.mark.parametrize(
    ("points", "fit", "said"),
    [
        ([], ("program_s",), "too few"),
        ([Measured(Workload(), 1e9)] * 9, ("program_s",), "of 1 sizes are too few"),
        (sweep_of(1e9, 3), ("program_s",), "of 3 sizes are too few"),
        (
            [Measured(Workload(size_bytes=size), latency_s=6e-6) for size in (8, 64, 512, 4096)],
            ("program_s", "nic_port_s", "ethernet_switch_s"),
            "2 fitted figures are too few for 3 constants",
        ),
        ([Measured(Workload(), -1.0)] * 4, ("program_s",), "is -1.0"),
        ([Measured(Workload(), math.nan)] * 4, ("program_s",), "is nan"),
        ([Measured(Workload(), 1e9)] * 4, ("mps_bytes",), "cannot be fitted"),
        ([Measured(Workload(), 1e9)] * 4, ("nonsense",), "cannot be fitted"),
        ([Measured(Workload(), 1e9)] * 4, (), "No constant"),
    ],
)
def test_mistakes_are_told(
    pair: tuple[Endpoint, Endpoint], points: list[Measured], fit: tuple[str, ...], said: str
) -> None:
    with pytest.raises(GdvizError, match=said):
        calibrate(points, *pair, fit=fit)
