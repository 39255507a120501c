"""The topology matrix in all shapes, and the machine that is rebuilt from it."""

from __future__ import annotations

import doctest
import importlib
import itertools
import pkgutil
import random

import pytest

import gdviz.readers.nvidia_smi
from gdviz.machine import Distance, PeerKind
from gdviz.readers import open_text
from gdviz.readers.nvidia_smi import TopoMatrix, topo_matrix
from gdviz.readers.reading import Reading
from tests.readers.nvidia_smi.matrices import AFFINITY, NUMA, ROWS, SHAPES, amid_prose, spaces, tabs

NAMES = {"NIC0": "mlx5_0", "NIC1": "mlx5_3", "NIC2": "mlx5_bond_0"}


def matrix_of(reading: Reading) -> TopoMatrix:
    assert isinstance(reading.facts, TopoMatrix)
    return reading.facts


def classes_equal_cells(reading: Reading) -> int:
    """Assert that each GPU-NIC pair of the machine has its cell's class; return how many there are."""
    matrix, (machine,) = matrix_of(reading), reading.machines
    pairs = 0
    for gpu, nic in itertools.product(range(len(machine.gpus)), range(len(machine.nics))):
        cell = matrix.cell(matrix.gpus[gpu], matrix.nics[nic])
        if cell is not None:
            assert machine.path(gpu, nic).distance == cell.replace("SOC", "SYS"), (gpu, nic)
            pairs += 1
    return pairs


def classes_of(reading: Reading) -> dict[str, tuple[str, ...]]:
    """Return each GPU's classes to all NICs of the machine."""
    (machine,) = reading.machines
    return {
        gpu.id.upper(): tuple(machine.path(gpu, nic).distance.value for nic in machine.nics)
        for gpu in machine.gpus
    }


@pytest.mark.parametrize(
    "name", [item.name for item in pkgutil.iter_modules(gdviz.readers.nvidia_smi.__path__)]
)
def test_examples_in_docstrings(name: str) -> None:
    assert not doctest.testmod(importlib.import_module(f"gdviz.readers.nvidia_smi.{name}")).failed


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_says_the_same(shape: str) -> None:
    text = SHAPES[shape]
    assert topo_matrix.looks_like(text)
    reading = topo_matrix.read(text)
    matrix = matrix_of(reading)
    (machine,) = reading.machines
    assert [nic.name for nic in machine.nics] == list(NAMES.values())
    assert len(machine.gpus) == 4
    cells = {row.name: tuple(cell.replace("SOC", "SYS") for cell in row.cells) for row in matrix.rows}
    named = {NAMES[name] if shape == "old" and name in NAMES else name: row for name, row in ROWS.items()}
    assert cells == named
    assert classes_equal_cells(reading) == 12
    assert not reading.truncated
    assert reading.notices == ()
    lines = text.splitlines()
    assert all(row.name in lines[row.line - 1] for row in matrix.rows)
    assert "GPU0" in lines[matrix.header_line - 1]
    assert matrix.torn_line is None
    if shape not in ("markdown",):
        assert {row.name: row.cpu_affinity for row in matrix.rows if row.cpu_affinity} == AFFINITY


@pytest.mark.parametrize("shape", ["tabs", "spaces", "amid_prose"])
def test_affinities(shape: str) -> None:
    reading = topo_matrix.read(SHAPES[shape])
    matrix, (machine,) = matrix_of(reading), reading.machines
    assert {row.name: row.numa_affinity for row in matrix.rows if row.numa_affinity} == NUMA
    assert [gpu.numa for gpu in machine.gpus] == [0, 0, 0, 1]
    assert [nic.numa for nic in machine.nics] == [0, 0, 1]
    assert sorted(machine.cpus[0].affinity) == [*range(16), *range(32, 48)]
    if shape == "tabs":
        assert {row.gpu_numa for row in matrix.rows if row.name in NUMA} == {"N/A"}
    assert matrix.nic_names == NAMES
    assert matrix.legend["X"] == "Self"


def test_nvlinks() -> None:
    (machine,) = topo_matrix.read(tabs()).machines
    assert [(link.gpu, link.target, link.count) for link in machine.nvlinks] == [
        ("gpu0", "gpu2", 4),
        ("gpu2", "gpu0", 4),
    ]
    names = [f"GPU{number}" for number in range(4)]
    switched = "\t" + "\t".join(names) + "\n"
    switched += "".join(
        "\t".join([name, *(" X " if name == other else "NV18" for other in names)]) + "\n" for name in names
    )
    (machine,) = topo_matrix.read(switched).machines
    assert {(link.kind, link.count) for link in machine.nvlinks} == {(PeerKind.SWITCH, 18)}
    assert len(machine.nvlinks) == 4


def test_either_row_answers() -> None:
    text = "\n".join(line for line in spaces().splitlines() if not line.startswith("NIC"))
    reading = topo_matrix.read(text)
    assert matrix_of(reading).cell("NIC1", "GPU2") == "PXB"
    assert classes_equal_cells(reading) == 12
    assert not reading.truncated


def test_one_gpu() -> None:
    text = "\tGPU0\tNIC0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tPHB\t0-7\t0\nNIC0\tPHB\t X \t\t\n"
    assert topo_matrix.looks_like(text)
    assert classes_equal_cells(topo_matrix.read(text)) == 1
    alone = "\tGPU0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \t0-7\t0\n"
    assert topo_matrix.looks_like(alone)
    assert len(topo_matrix.read(alone).machines[0].gpus) == 1


@pytest.mark.parametrize("keep", ["PIX\tNO", "PIX", "PIX\t"])
def test_a_torn_row(keep: str) -> None:
    lines = tabs().splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("NIC0"))
    text = "\n".join([*lines[:at], f"NIC0\tPIX\t{keep}"])
    reading = topo_matrix.read(text)
    assert reading.truncated
    assert matrix_of(reading).torn_line == at + 1
    notice = next(notice for notice in reading.notices if notice.line == at + 1)
    assert "breaks off in the row of NIC0" in notice.text
    assert classes_equal_cells(reading) == 12


def test_missing_rows_of_gpus_at_the_end() -> None:
    text = "\n".join(tabs().splitlines()[:3])
    reading = topo_matrix.read(text)
    assert reading.truncated
    (machine,) = reading.machines
    assert ([gpu.id for gpu in machine.gpus], len(machine.nics)) == (["gpu0", "gpu1"], 3)
    assert sum("is left out" in notice.text for notice in reading.notices) == 2
    assert classes_of(reading) == {name: ROWS[name][4:] for name in ("GPU0", "GPU1")}


@pytest.mark.parametrize("keep", ["SYS\tSYS\tSYS\t X \tSY", "SYS\tS", "SYS\tSYS\tSYS\t X \tSYS\tSYS"])
def test_what_a_torn_row_does_not_say_is_not_in_the_machine(keep: str) -> None:
    lines = tabs().splitlines()
    reading = topo_matrix.read("\n".join([*lines[:4], f"GPU3\t{keep}"]))
    assert reading.truncated
    assert classes_of(reading) == {name: ROWS[name][4:] for name in ("GPU0", "GPU1", "GPU2")}
    (notice,) = (notice for notice in reading.notices if "is left out" in notice.text)
    assert (notice.line, notice.text[:4]) == (5, "GPU3")


def test_a_left_out_gpu_keeps_its_number_free_and_columns_that_were_cut_off_are_no_nics() -> None:
    lines = ["\tGPU0\tGPU1\tGPU2\tNIC0\tNIC1", "GPU0\t X \tNV2\tNV2\tPIX", "GPU2\tNV2\tNV2\t X \tSYS"]
    reading = topo_matrix.read("\n".join(lines) + "\n")
    (machine,) = reading.machines
    assert [gpu.index for gpu in machine.gpus] == [0, 2]
    assert [nic.id for nic in machine.nics] == ["NIC0"]
    assert [machine.path(gpu, 0).distance for gpu in (0, 2)] == [Distance.PIX, Distance.SYS]
    assert {(link.gpu, link.target) for link in machine.nvlinks} == {("gpu0", "gpu2"), ("gpu2", "gpu0")}


def test_a_row_that_is_short_in_the_middle_is_a_notice() -> None:
    text = tabs().replace("GPU1\tPIX\t X \t", "GPU1\tPIX\t", 1)
    reading = topo_matrix.read(text)
    assert not reading.truncated
    assert any("The row of GPU1" in notice.text for notice in reading.notices)


def test_cells_that_contradict_each_other() -> None:
    text = tabs().replace("GPU3\tSYS\tSYS\tSYS\t X \tSYS\tSYS", "GPU3\tSYS\tSYS\tSYS\t X \tPIX\tSYS")
    reading = topo_matrix.read(text)
    assert any("contradicts other cells" in notice.text for notice in reading.notices)


def test_gpu_cells_that_contradict_gpu_nic_cells_give_way() -> None:
    text = tabs().replace("GPU0\t X \tPIX", "GPU0\t X \tSYS").replace("GPU1\tPIX\t X ", "GPU1\tSYS\t X ")
    reading = topo_matrix.read(text)
    assert classes_equal_cells(reading) == 12
    assert reading.notices == ()
    text = (
        tabs()
        .replace("NODE\t X \tSYS\t\t", "PIX\t X \tSYS\t\t")
        .replace("X \tNODE\tSYS\t\t", "X \tPIX\tSYS\t\t")
    )
    assert classes_equal_cells(topo_matrix.read(text)) == 12


def test_a_second_matrix_is_told() -> None:
    reading = topo_matrix.read(tabs() + "\n" + spaces())
    assert any("Another matrix begins here" in notice.text for notice in reading.notices)
    assert len(reading.machines[0].gpus) == 4


@pytest.mark.parametrize(
    "text",
    [
        "",
        "GPU0 is near NIC0\n",
        "       GPU0         GPU1\nGPU0   0            XGMI\nGPU1   XGMI         0\n",
        " \tGPU0\tGPU1\t\n GPU0\tX\tGNS\t\n GPU1\tGNS\tX\t\n\nLegend:\n  OK   = Status Ok\n",
        "GPU 0: NVIDIA A100 (UUID: GPU-1)\n",
    ],
)
def test_other_texts_are_no_matrix(text: str) -> None:
    assert not topo_matrix.looks_like(text)


def test_the_page_is_opened_with_its_own_line_numbers() -> None:
    page = "Intro\n\n```\n" + tabs() + "```\n\nThe end\n"
    opened = open_text(page)
    reading = next(found for found in opened.readings if found.kind == "topo_matrix")
    assert matrix_of(reading).header_line == 4
    assert reading.cite(4).text.startswith("\x1b[4mGPU0") or "GPU0" in reading.cite(4).text
    assert (
        amid_prose().splitlines()[matrix_of(topo_matrix.read(amid_prose())).header_line - 1].count("GPU") == 5
    )


def test_any_tree_survives_the_round_trip() -> None:
    """Machines of random groups print a matrix from which the same classes come back."""
    rng = random.Random(7)
    levels = (Distance.PIX, Distance.PXB, Distance.PHB, Distance.NODE)
    for _run in range(60):
        gpus, nics = rng.randint(1, 6), rng.randint(1, 6)
        names = [f"GPU{number}" for number in range(gpus)] + [f"NIC{number}" for number in range(nics)]
        place = {name: [rng.randrange(2) for _level in levels] for name in names}

        def cell(one: str, other: str, place: dict[str, list[int]] = place) -> str:
            for depth, level in enumerate(levels):
                if place[one][depth:] == place[other][depth:]:
                    return level.value
            return "SYS"

        text = "\t" + "\t".join(names) + "\n"
        for name in names:
            row = [" X " if name == other else cell(name, other) for other in names]
            text += "\t".join([name, *row]) + "\n"
        assert classes_equal_cells(topo_matrix.read(text)) == gpus * nics
