from __future__ import annotations

from pathlib import Path

import pytest

import gdviz
from gdviz.errors import GdvizError, ReaderError
from gdviz.widgets import DoctorPanel

EVIL = "<img src=x onerror=alert(1)>"

TOPOLOGY = """<system version="1"><cpu numaid="0" affinity="ff" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
<pci busid="0000:20:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
<pci busid="0000:22:00.0" class="0x030200" vendor="0x10de" device="0x2330" link_speed="32.0 GT/s PCIe" link_width="16">
<gpu dev="0" sm="90" rank="0" gdr="1"/></pci>
<pci busid="0000:24:00.0" class="0x020700" vendor="0x15b3" device="0x1021" link_speed="32.0 GT/s PCIe" link_width="16">
<nic><net name="NAME" dev="0" speed="400000" port="1" gdr="1"/></nic></pci></pci></cpu></system>
"""

LOG = """NCCL version 2.21.5+cuda12.4
h:1:2 [0] NCCL INFO NCCL_NET_GDR_LEVEL set by environment to LOC
h:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.1<0>
h:1:2 [0] NCCL INFO NET/IB : GPU Direct RDMA Enabled for HCA 0 'mlx5_0'
h:1:2 [0] NCCL INFO GPU Direct RDMA Disabled for GPU 22000 / HCA 0 (distance 3 > 0)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "topo.xml").write_text(TOPOLOGY.replace("NAME", "mlx5_0"))
    (tmp_path / "nccl.log").write_text(LOG)
    return tmp_path


def test_the_worst_finding_stands_open_with_its_evidence(folder: Path) -> None:
    panel = DoctorPanel(folder)
    assert panel.head.value.startswith("<b>1 error")
    first = panel.findings.value.split("</details>")[0]
    assert "gdr-level-forbids" in first
    assert " open>" in first
    assert f"{folder}/nccl.log:2" in first
    assert "gdr-level-forbids" in repr(panel)
    panel.close()


def test_a_cell_shows_its_pair_its_path_and_its_findings(folder: Path) -> None:
    panel = DoctorPanel(folder)
    (pair,) = panel.report.pairs
    assert panel.picture.children == ()
    panel.matrix.select(pair.node, pair.gpu, pair.nic)
    assert panel.pair == pair
    assert "PIX: not used" in panel.about.value
    assert f"{pair.gpu} (0000:22:00.0) – {pair.nic} (0000:24:00.0)" in panel.about.value
    assert "gdr-level-forbids" in panel.findings.value
    assert len(panel.picture.children) == 1
    panel.everything.click()
    assert panel.pair is None
    assert panel.picture.children == ()
    panel.close()


def test_what_is_assumed_changes_the_verdict(folder: Path) -> None:
    panel = DoctorPanel(folder)
    assert panel.report.pairs[0].gdr is False
    panel.level.value = "SYS"
    assert "gdr-level-forbids" not in panel.report.codes
    assert "Computed anew" in panel.message.value
    assert panel.matrix.source.data["verdict"] == [
        {True: "used", None: "cannot be told"}[panel.report.pairs[0].gdr]
    ]
    panel.nccl.value = "nonsense"
    assert "Not done" in panel.message.value
    panel.nccl.value, panel.level.value = "", ""
    assert panel.report.pairs[0].gdr is False
    with pytest.raises(GdvizError):
        panel.what_if(moon=True)
    panel.close()


def test_strings_of_files_are_never_html(tmp_path: Path) -> None:
    name = EVIL.replace("<", "&lt;")
    (tmp_path / "topo.xml").write_text(TOPOLOGY.replace("NAME", name))
    (tmp_path / "nccl.log").write_text(
        LOG.replace("eth0", EVIL) + f"h:1:2 [0] x.cc:1 NCCL WARN Call {EVIL}\n"
    )
    panel = DoctorPanel(tmp_path)
    for pair in panel.report.pairs:
        panel.matrix.select(pair.node, pair.gpu, pair.nic)
        assert "<img" not in panel.about.value + panel.findings.value
    panel.everything.click()
    assert "<img" not in panel.head.value + panel.findings.value
    panel.close()


def test_the_room_is_a_front_door(folder: Path) -> None:
    panel = gdviz.doctor(folder)
    assert isinstance(panel, DoctorPanel)
    assert gdviz.doctor.diagnose(folder).codes == panel.report.codes
    assert isinstance(gdviz.doctor(panel.report), DoctorPanel)
    with pytest.raises(ReaderError):
        gdviz.doctor(folder / "nothing-here")


def test_a_simulated_fault_is_felt_and_found() -> None:
    with gdviz.simulated("peermem-missing") as faulty, gdviz.lab() as sound:
        assert "peermem-missing" in faulty.diagnose().codes
        assert sound.diagnose().codes == ("healthy",)
        with pytest.raises(GdvizError, match="dma-buf"):
            faulty.nodes[0].nic(0).register(faulty.nodes[0].gpu(0).alloc("1 MiB"))
    with pytest.raises(GdvizError, match="There are: peermem-missing"):
        gdviz.simulated("gremlins")


def test_the_labs_doctor_reads_the_file_that_was_opened(folder: Path) -> None:
    with gdviz.lab(str(folder / "topo.xml")) as opened:
        report = opened.diagnose()
        assert {cited.file for found in report.findings for cited in found.evidence} <= {
            str(folder / "topo.xml")
        }


def test_the_step_examines_the_nodes_when_it_is_chosen() -> None:
    with gdviz.simulated("acs-on-path") as faulty:
        view = faulty.view
        step = view.panels[-1]
        assert step.title == "Doctor"
        assert step.panel is None
        view.go(len(view.panels) - 1)
        faulty.session.ask(_turns())
        assert "acs-on-path" in step.panel.report.codes
        assert "ACS redirects" in step.controls.message.value
        shown = step.panel
        view.go(0)
        view.go(len(view.panels) - 1)
        faulty.session.ask(_turns())
        assert step.panel is shown


async def _turns() -> None:
    import asyncio

    for _turn in range(50):
        await asyncio.sleep(0)
