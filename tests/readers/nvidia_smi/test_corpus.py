"""Real matrices, queries and link tables: how much is in each, and every cell."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gdviz.readers import open_path
from gdviz.readers.nvidia_smi import NvLinkStatus, SmiQuery, TopoMatrix

#: GPUs and NICs.
MATRICES = {"dranet-azure-gb300-README.md": (4, 4), "dranet-gke-rdma-topo.md": (8, 8)}
OTHERS = {"gpud-a100-nvlink-status.txt": (8, 0), "gpud-nvidia-smi-q-535-8gpu.txt": (8, 0)}


@pytest.fixture(scope="module")
def corpus(shared: Path) -> Path:
    return shared / "corpus"


def test_every_file_is_pinned(corpus: Path) -> None:
    assert sorted(path.name for path in (corpus / "topo_matrix").iterdir()) == sorted(MATRICES)
    assert sorted(path.name for path in (corpus / "nvidia_smi").iterdir()) == sorted(OTHERS)


@pytest.mark.parametrize("name", MATRICES)
def test_matrices(corpus: Path, name: str) -> None:
    path = corpus / "topo_matrix" / name
    opened = open_path(path)
    machine = opened.machines[0]
    assert opened.kind == "topo_matrix"
    assert (len(machine.gpus), len(machine.nics)) == MATRICES[name]
    assert [nic.name for nic in machine.nics] == [f"mlx5_{number}" for number in range(len(machine.nics))]
    reading = next(found for found in opened.readings if found.kind == "topo_matrix")
    assert isinstance(reading.facts, TopoMatrix)
    assert not reading.truncated
    lines = path.read_text().splitlines()
    for row in reading.facts.rows:
        words = re.findall(r"[A-Z]+\d*", lines[row.line - 1])
        assert words[0] == row.name
        assert tuple(words[1 : 1 + len(row.cells)]) == row.cells
        if row.name.startswith("GPU"):
            # The cells read off the page once more, each against the path of the rebuilt machine.
            for column, word in zip(reading.facts.columns, words[1:], strict=False):
                if column.startswith("NIC"):
                    assert machine.path(int(row.name[3:]), int(column[3:])).distance == word


def test_gke_affinities(corpus: Path) -> None:
    machine = open_path(corpus / "topo_matrix" / "dranet-gke-rdma-topo.md").machines[0]
    assert [gpu.numa for gpu in machine.gpus] == [0] * 4 + [1] * 4
    assert min(machine.cpus[1].affinity) == 56
    assert len(machine.cpus[1].affinity) == 112
    assert {link.count for link in machine.nvlinks} == {18}


def test_query(corpus: Path) -> None:
    path = corpus / "nvidia_smi" / "gpud-nvidia-smi-q-535-8gpu.txt"
    opened = open_path(path)
    machine = opened.machines[0]
    text = path.read_text()
    assert len(machine.gpus) == len(re.findall(r"^GPU 0", text, re.MULTILINE)) == 8
    assert machine.nics == ()
    facts = next(found.facts for found in opened.readings if isinstance(found.facts, SmiQuery))
    assert (facts.driver, facts.cuda, facts.attached) == ("535.154.05", "12.2", 8)
    assert {gpu.bar1_total_bytes for gpu in facts.gpus} == {256 * 2**20}
    assert {gpu.name for gpu in machine.gpus} == {"GeForce RTX 4090"}
    assert {gpu.memory_total_bytes for gpu in facts.gpus} == {24564 * 2**20}
    currents = [int(word) for word in re.findall(r"PCIe Generation\n.*\n +Current +: (\d)", text)]
    assert [gpu.link.gen for gpu in facts.gpus] == currents
    assert {gpu.link.max_gen for gpu in facts.gpus} == {4}


def test_links(corpus: Path) -> None:
    opened = open_path(corpus / "nvidia_smi" / "gpud-a100-nvlink-status.txt")
    assert len(opened.machines[0].gpus) == 8
    facts = next(found.facts for found in opened.readings if isinstance(found.facts, NvLinkStatus))
    assert [len(gpu.links) for gpu in facts.gpus] == [12] * 8
    assert all(link.bytes_per_s == 25e9 for gpu in facts.gpus for link in gpu.links)


def test_matrices_of_the_cases(shared: Path) -> None:
    """GPU-NIC cells of each case's matrix, read off the file once more, are the paths' classes."""
    seen = 0
    for path in sorted((shared / "cases").glob("*/nvidia-smi-topo*.txt")):
        (reading,) = (found for found in open_path(path).readings if found.kind == "topo_matrix")
        (machine,) = reading.machines
        text = re.sub(r"\x1b\[\d*m", "", path.read_text())
        header, *rows = [line.split() for line in text.splitlines() if line.strip()]
        columns = [word for word in header if re.match(r"(?:GPU|NIC)\d", word)]
        for row in rows:
            if re.match(r"GPU\d", row[0]):
                for column, word in zip(columns, row[1:], strict=False):
                    if column.startswith("NIC"):
                        assert machine.path(int(row[0][3:]), int(column[3:])).distance == word
                        seen += 1
    assert seen > 100
