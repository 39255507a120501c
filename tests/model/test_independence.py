"""A prediction depends on the hardware and the work, and on nothing that could name a table."""

from __future__ import annotations

import inspect
from dataclasses import fields, replace

from gdviz.machine import Machine, reference_machine
from gdviz.model import (
    Constants,
    DataPath,
    Endpoint,
    Fabric,
    Op,
    Transfer,
    Workload,
    predict,
    predict_together,
)


def renamed(machine: Machine) -> Machine:
    parts = machine.parts
    return Machine(
        "something else",
        replace(
            parts,
            gpus=tuple(replace(gpu, name="a GPU") for gpu in parts.gpus),
            nics=tuple(replace(nic, name=f"nic{nic.index}") for nic in parts.nics),
        ),
    )


def ends(machine: Machine) -> tuple[Endpoint, Endpoint]:
    return (
        Endpoint(machine, machine.nics[0].id, machine.gpus[0].id),
        Endpoint(machine, machine.nics[1].id, machine.gpus[1].id),
    )


def test_names_decide_nothing() -> None:
    machine = reference_machine("hgx-h100")
    for op in Op:
        for path in DataPath:
            work = Workload(op, path, 65536, 64, 16)
            plain, other = (predict(*ends(m), work, messages=200) for m in (machine, renamed(machine)))
            assert plain == other


def test_the_questions_take_hardware_work_and_chance_only() -> None:
    asked = set(inspect.signature(predict).parameters)
    assert asked == {"local", "remote", "workload", "fabric", "constants", "messages", "seed"}
    assert set(inspect.signature(predict_together).parameters) == {
        "transfers",
        "constants",
        "messages",
        "seed",
    }
    assert {field.name for field in fields(Workload)} == {"op", "path", "size_bytes", "depth", "qps"}
    assert {field.name for field in fields(Fabric)} == {"link_layer", "mtu_bytes", "switches", "cable_m"}
    assert {field.name for field in fields(Endpoint)} == {"machine", "nic", "gpu", "numa"}
    assert {field.name for field in fields(Transfer)} == {"local", "remote", "workload", "fabric"}
    # A constant is a number or a switch; no text could name a table.
    assert {str(field.type) for field in fields(Constants)} <= {"int", "float", "bool", "float | None"}


def test_a_seed_decides_the_tail_and_nothing_else() -> None:
    machine = reference_machine("hgx-h100")
    work = Workload(Op.WRITE, DataPath.STAGED, 65536)
    first, again, other = (predict(*ends(machine), work, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first.latency.p999 != other.latency.p999
    assert first.stages == other.stages
    assert first.bottleneck.name == other.bottleneck.name
    assert first.latency.p50 < first.latency.p99 < first.latency.p999 <= first.latency.max
