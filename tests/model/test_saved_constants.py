from __future__ import annotations

import math
from dataclasses import fields, replace

import pytest

from gdviz.errors import GdvizError
from gdviz.machine import reference_machine
from gdviz.model import DEFAULTS, Constants, DataPath, Endpoint, Op, Workload, predict
from gdviz.model.calibration import constants_of, saved_values


def test_what_is_kept_comes_back() -> None:
    other = replace(DEFAULTS, program_s=3e-6, relaxed_ordering=False, peer_read_bytes_per_s=6e9, batch=1)
    kept = saved_values(other)
    assert set(kept) == {"program_s", "relaxed_ordering", "peer_read_bytes_per_s", "batch"}
    assert constants_of(kept) == other
    assert saved_values(DEFAULTS) == {}
    assert constants_of({}) == DEFAULTS


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("nonsense_s", 1.0, "no constant 'nonsense_s'"),
        ("program_s", "x", "It is a number"),
        ("program_s", None, "It is a number"),
        ("program_s", True, "It is a number"),
        ("program_s", -1e-9, "It goes from 0 to 1000"),
        ("program_s", math.nan, "It goes from 0 to 1000"),
        ("program_s", math.inf, "It goes from 0 to 1000"),
        ("memcpy_bytes_per_s", 0, "It goes from 1 to 1e"),
        ("host_memory_share", 2, "It goes from 0.001 to 1"),
        ("mps_bytes", 0, "It goes from 1 to"),
        ("mps_bytes", 1.5, "It is a whole number"),
        ("chunk_bytes", 1, "It goes from 4096"),
        ("ecrc", 1, "It is true or false"),
    ],
)
def test_what_no_constant_can_be(name: str, value: object, said: str) -> None:
    with pytest.raises(GdvizError, match=said):
        constants_of({name: value})


@pytest.mark.parametrize("field", fields(Constants), ids=lambda field: field.name)
def test_the_model_works_with_all_that_is_let_in(field) -> None:
    machine = reference_machine("pcie-a30")
    end = Endpoint(machine, machine.nics[0].id, machine.gpus[1].id)
    let_in = 0
    for value in (False, True, 0, 1, 3, 4096, 2**31, 1e-3, 1.0, 3.0, 1000.0, 1e15):
        try:
            constants = constants_of({field.name: value})
        except GdvizError:
            continue
        let_in += 1
        for path in DataPath:
            found = predict(end, end, Workload(Op.READ, path, 65536), constants=constants, messages=20)
            assert 0 < found.bandwidth_bytes_per_s < math.inf
            assert 0 < found.latency.p50 <= found.latency.p999 < math.inf
    assert let_in > 1
