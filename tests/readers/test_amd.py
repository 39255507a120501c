"""AMD's topology tables and ``amd-smi static``."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gdviz.readers import amd_smi, amd_topology, open_path
from gdviz.readers.amd_smi import AmdStatic
from gdviz.readers.amd_topology import AmdTopology

ROCM = """
============================ ROCm System Management Interface ============================
================================ Weight between two GPUs =================================
       GPU0         GPU1         GPU2
GPU0   0            15           72
GPU1   15           0            72
GPU2   72           72           0

=============================== Link Type between two GPUs ===============================
       GPU0         GPU1         GPU2
GPU0   0            XGMI         PCIE
GPU1   XGMI         0            PCIE
GPU2   PCIE         PCIE         0

======================================= Numa Nodes =======================================
GPU[0]\t\t: (Topology) Numa Node: 0
GPU[0]\t\t: (Topology) Numa Affinity: 0
GPU[1]\t\t: (Topology) Numa Node: 0
GPU[2]\t\t: (Topology) Numa Node: 1
================================== End of ROCm SMI Log ===================================
"""

AMD = """ACCESS TABLE:
             0000:0c:00.0 0000:22:00.0
0000:0c:00.0 ENABLED      ENABLED
0000:22:00.0 ENABLED      ENABLED

LINK TYPE TABLE:
             0000:0c:00.0 0000:22:00.0
0000:0c:00.0 SELF         XGMI
0000:22:00.0 XGMI         SELF

CACHE COHERANCY TABLE:
             0000:0c:00.0 0000:22:00.0
0000:0c:00.0 SELF         NC
0000:22:00.0 NC           SELF
"""

STATIC = """GPU: 0
    ASIC:
        MARKET_NAME: MI300X
        VENDOR_ID: 0x1002
        DEVICE_ID: 0x74a1
    BUS:
        BDF: 0000:0c:00.0
        MAX_PCIE_WIDTH: 16
        MAX_PCIE_SPEED: 32 GT/s
    DRIVER:
        NAME: amdgpu
        VERSION: 6.9.0
    NUMA:
        NODE: 1
        AFFINITY: 1
    VRAM:
        SIZE: 196288 MB
"""


def test_rocm_smi() -> None:
    assert amd_topology.looks_like(ROCM)
    reading = amd_topology.read(ROCM)
    facts = reading.facts
    assert isinstance(facts, AmdTopology)
    assert facts.cell("weight", "GPU0", "GPU2") == "72"
    assert facts.cell("link type", "GPU1", "GPU2") == "PCIE"
    assert facts.cell("hops", "GPU1", "GPU2") is None
    assert ROCM.splitlines()[facts.table_lines["link type"] - 1].count("Link Type") == 1
    (machine,) = reading.machines
    assert [gpu.numa for gpu in machine.gpus] == [0, 0, 1]
    assert {(link.gpu, link.target, link.technology) for link in machine.nvlinks} == {
        ("gpu0", "gpu1", "xGMI"),
        ("gpu1", "gpu0", "xGMI"),
    }
    assert not reading.truncated


def test_amd_smi_topology() -> None:
    assert amd_topology.looks_like(AMD)
    reading = amd_topology.read(AMD)
    (machine,) = reading.machines
    assert [gpu.busid for gpu in machine.gpus] == ["0000:0c:00.0", "0000:22:00.0"]
    assert len(machine.nvlinks) == 2
    facts = reading.facts
    assert isinstance(facts, AmdTopology)
    assert set(facts.tables) == {"access", "link type"}
    cut = AMD[: AMD.index("CACHE")].rstrip()[:-8]
    assert amd_topology.read(cut).truncated


def test_amd_smi_static() -> None:
    text = STATIC + "\n" + STATIC.replace("GPU: 0", "GPU: 1").replace("0c:00", "22:00")
    assert amd_smi.looks_like(text)
    reading = amd_smi.read(text)
    facts = reading.facts
    assert isinstance(facts, AmdStatic)
    first = facts.gpus[0]
    assert (first.vendor, first.device, first.numa, first.driver) == (0x1002, 0x74A1, 1, "6.9.0")
    assert (first.link.max_gen, first.link.max_width, first.memory_bytes) == (5, 16, 196288 * 2**20)
    (machine,) = reading.machines
    assert [(gpu.busid, gpu.name) for gpu in machine.gpus] == [
        ("0000:0c:00.0", "Instinct MI300X"),
        ("0000:22:00.0", "Instinct MI300X"),
    ]


@pytest.mark.parametrize(
    "text", ["", "GPU: 0\n", "GPU0 XGMI\n", "LINK TYPE TABLE\n", "ACCESS TABLE: see below\n"]
)
def test_other_texts(text: str) -> None:
    assert not amd_topology.looks_like(text)
    assert not amd_smi.looks_like(text)


def test_the_manual(shared: Path) -> None:
    """The only real file shows ``amd-smi static`` of four MI300A, amid pages of other commands' help."""
    path = shared / "corpus" / "rocm_smi" / "amdsmi-cli-doc.md"
    assert [found.name for found in path.parent.iterdir()] == [path.name]
    opened = open_path(path)
    assert opened.kind == "amd_smi_static"
    (machine,) = opened.machines
    text = path.read_text()
    assert len(machine.gpus) == len(re.findall(r"^GPU: \d+$", text, re.MULTILINE)) == 4
    assert machine.nics == ()
    assert [gpu.busid for gpu in machine.gpus] == [f"000{number}:01:00.0" for number in range(4)]
    assert {gpu.pci.device for gpu in machine.gpus} == {0x74A0}
    assert [gpu.numa for gpu in machine.gpus] == [0, 1, 2, 3]
