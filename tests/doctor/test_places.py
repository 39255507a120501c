"""A list of PCI functions without buses says nothing of distances, and the doctor claims none."""

from __future__ import annotations

from pathlib import Path

from gdviz.doctor import diagnose

LIST = (
    "00:00.0 Host bridge [0600]: Intel Corporation 82G33 Express DRAM Controller [8086:29c0]\n"
    "00:02.0 PCI bridge [0604]: Red Hat, Inc. QEMU PCIe Root port [1b36:000c]\n"
    "05:00.0 Infiniband controller [0207]: Mellanox Technologies MT2910 Family [ConnectX-7] [15b3:1021]\n"
    "06:00.0 3D controller [0302]: NVIDIA Corporation GH100 [H100 SXM5 80GB] [10de:2330] (rev a1)\n"
)
MATRIX = "\tGPU0\tNIC0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tPIX\t0-7\t0\nNIC0\tPIX\t X \t\t\n"


def test_nothing_is_claimed_of_a_bare_list(tmp_path: Path) -> None:
    (tmp_path / "lspci.txt").write_text(LIST)
    report = diagnose(tmp_path)
    codes = {finding.code for finding in report.findings}
    assert not codes & {"vm-flat-topology", "no-near-nic", "distance-beyond-level"}
    assert all(pair.distance is None for pair in report.pairs)


def test_a_matrix_beside_it_counts(tmp_path: Path) -> None:
    (tmp_path / "lspci.txt").write_text(LIST)
    (tmp_path / "topo.txt").write_text(MATRIX)
    report = diagnose(tmp_path)
    assert [pair.distance for pair in report.pairs if pair.distance] == ["PIX"]
    assert not {finding.code for finding in report.findings} & {"vm-flat-topology", "no-near-nic"}


def test_the_same_list_on_one_bus_is_flat(tmp_path: Path) -> None:
    (tmp_path / "lspci.txt").write_text(LIST.replace("05:00.0", "00:05.0").replace("06:00.0", "00:06.0"))
    report = diagnose(tmp_path)
    assert "vm-flat-topology" in {finding.code for finding in report.findings}
