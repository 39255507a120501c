from __future__ import annotations

import math
from dataclasses import replace

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


def test_it_finds_the_constants_of_another_world(pair: tuple[Endpoint, Endpoint]) -> None:
    found = calibrate(world(pair, HERE), *pair, fit=("program_s", "qp_message_s", "copy_launch_s"))
    for name in ("program_s", "qp_message_s", "copy_launch_s"):
        assert getattr(found.constants, name) == pytest.approx(getattr(HERE, name), rel=0.02), name
    assert found.before.largest > 0.2
    assert found.held_out.points > 0
    assert found.held_out.largest < 0.02
    assert found.idle == ()
    assert "held out" in str(found)


def test_noise_shows_in_the_points_held_out(pair: tuple[Endpoint, Endpoint]) -> None:
    found = calibrate(world(pair, HERE, noise=0.05), *pair)
    assert found.held_out.median == pytest.approx(0.05, abs=0.03)
    assert found.constants.program_s == pytest.approx(HERE.program_s, rel=0.3)


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


@pytest.mark.parametrize(
    ("points", "fit", "said"),
    [
        ([], ("program_s",), "too few"),
        ([Measured(Workload(), 1e9)] * 2, ("program_s",), "too few"),
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
