from __future__ import annotations

import doctest

import pytest

import gdviz.machine.machine as machine_module
from gdviz.errors import UnknownDeviceError
from gdviz.machine import (
    CATALOGUE,
    Bridge,
    Cpu,
    Gpu,
    Machine,
    Nic,
    Parts,
    normal_bus_id,
    reference_machine,
)


@pytest.fixture(scope="module")
def hgx() -> Machine:
    return reference_machine("hgx-h100")


def test_examples() -> None:
    result = doctest.testmod(machine_module)
    assert result.attempted
    assert not result.failed


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("0000:1B:00.0", "0000:1b:00.0"),
        ("00000001:1b:00.0", "0001:1b:00.0"),
        ("1b:0.1", "0000:1b:00.1"),
        (" 1b:00 ", "0000:1b:00.0"),
        ("10000:01:00.0", "10000:01:00.0"),
        ("mlx5_0", None),
        ("1b:00.8", None),
        ("0", None),
        ("", None),
    ],
)
def test_bus_ids(text: str, normal: str | None) -> None:
    assert normal_bus_id(text) == normal


@pytest.mark.parametrize(
    "key", [3, "3", "gpu3", "GPU 3", "cuda:3", "0000:48:00.0", "48:00.0", "00000000:48:00.0"]
)
def test_a_gpu_is_found(hgx: Machine, key: int | str) -> None:
    assert hgx.gpu(key).index == 3
    assert hgx.gpu(hgx.gpu(key)) is hgx.gpus[3]


@pytest.mark.parametrize("key", [2, "2", "nic2", "mlx5_2", "0000:3a:00.0"])
def test_a_nic_is_found(hgx: Machine, key: int | str) -> None:
    assert hgx.nic(key).index == 2


@pytest.mark.parametrize(
    "key", [8, -1, "8", "gpu99", "mlx5_0", "", "0000:00:00.0", "9" * 30, "²", "x" * 1000]
)
def test_what_is_no_gpu_is_said_with_what_there_is(hgx: Machine, key: int | str) -> None:
    with pytest.raises(UnknownDeviceError, match="There are: 0 ") as caught:
        hgx.gpu(key)
    assert len(str(caught.value)) < 600


def test_a_name_that_many_have(hgx: Machine) -> None:
    with pytest.raises(UnknownDeviceError, match="names 8 GPUs"):
        hgx.gpu("H100-SXM5-80GB")
    with pytest.raises(UnknownDeviceError, match="has no NIC"):
        Machine("empty").nic(0)


def test_ports_of_one_function_answer_to_its_bus_id_but_twins_elsewhere_do_not() -> None:
    cpus = (Cpu("cpu0", 0), Cpu("cpu1", 1))
    ports = (Nic("a", 0, "cpu0", "0000:01:00.0", "a"), Nic("b", 1, "cpu0", "0000:01:00.0", "b"))
    assert Machine("m", Parts(cpus, nics=ports)).nic("01:00.0").id == "a"
    twins = (ports[0], Nic("b", 1, "cpu1", "0000:01:00.0", "b"))
    with pytest.raises(UnknownDeviceError, match="names 2 NICs"):
        Machine("m", Parts(cpus, nics=twins)).nic("01:00.0")


def test_ancestors_and_children(hgx: Machine) -> None:
    chain = [part.id for part in hgx.ancestors(hgx.gpus[0].id)]
    assert chain == ["0000:18:00.0", "0000:16:00.0", "0000:15:01.0", "cpu0"]
    assert {part.id for part in hgx.children("0000:16:00.0")} == {hgx.gpus[0].id, hgx.nics[0].id}
    cpu = hgx.cpu_of(hgx.nics[7].id)
    assert cpu is not None
    assert cpu.id == "cpu1"


def test_a_circle_ends() -> None:
    machine = Machine("odd", Parts(bridges=(Bridge("a", "b"), Bridge("b", "a"))))
    assert [part.id for part in machine.ancestors("a")] == ["a", "b"]
    assert machine.cpu_of("a") is None


def test_no_such_part(hgx: Machine) -> None:
    with pytest.raises(UnknownDeviceError, match="no part 'x'"):
        hgx.part("x")


def test_nearest_nic(hgx: Machine) -> None:
    for gpu in hgx.gpus:
        nic = hgx.nearest_nic(gpu)
        assert nic is not None
        assert nic.index == gpu.index
    gpu = Gpu("g", 0, "cpu0", "0000:01:00.0")
    assert Machine("lonely", Parts((Cpu("cpu0", 0),), gpus=(gpu,))).nearest_nic(0) is None


def test_renamed_and_str(hgx: Machine) -> None:
    other = hgx.renamed("node-b")
    assert (other.name, other.parts) == ("node-b", hgx.parts)
    assert str(other) == "node-b: 8 GPUs, 8 NICs, 16 bridges, 2 CPUs"


@pytest.mark.parametrize("key", CATALOGUE)
def test_the_catalogue_is_whole(key: str) -> None:
    machine = reference_machine(key, "other name")
    assert machine.name == "other name"
    assert machine.source == f"catalogue:{key}"
    ids = [part.id for part in machine]
    assert len(ids) == len(set(ids))
    for part in machine:
        cpu = machine.cpu_of(part.id)
        assert cpu is not None
        assert getattr(part, "numa", cpu.numa) == cpu.numa
    assert [gpu.index for gpu in machine.gpus] == list(range(len(machine.gpus)))
    assert [nic.index for nic in machine.nics] == list(range(len(machine.nics)))
    for link in machine.nvlinks:
        assert link.gpu in ids
        assert link.bytes_per_s
        assert link.count > 0


def test_links_of_the_hgx_board(hgx: Machine) -> None:
    for gpu in hgx.gpus:
        assert sum(link.count for link in hgx.nvlinks if link.gpu == gpu.id) == 18


def test_no_such_reference_machine() -> None:
    with pytest.raises(UnknownDeviceError, match="There are: hgx-h100"):
        reference_machine("dgx-1")


@pytest.mark.parametrize("key", [None, 3, 1.5, [], {}])
def test_what_is_no_name_is_no_machine_of_the_catalogue(key: object) -> None:
    with pytest.raises(UnknownDeviceError, match="hgx-h100"):
        reference_machine(key)
