"""Faults for teaching: the simulation behaves so, and the doctor finds each from what the tools show."""

from __future__ import annotations

import pytest

from gdviz.clock import SteppedClock
from gdviz.doctor.effects import pair_rate
from gdviz.doctor.faults import FAULTS, Faulty, apply
from gdviz.errors import GdvizError, RegistrationError
from gdviz.machine import Machine, reference_machine
from gdviz.rdma.status import WcStatus
from gdviz.session import Session


@pytest.fixture(scope="module")
def machines() -> list[Machine]:
    machine = reference_machine("hgx-h100")
    return [machine.renamed("left"), machine.renamed("right")]


@pytest.fixture(scope="module")
def faulty(machines: list[Machine]) -> dict[str, Faulty]:
    return {name: apply(name, machines) for name in FAULTS}


def test_sound_hosts_are_healthy(machines: list[Machine]) -> None:
    report = apply(None, machines).diagnose()
    assert report.codes == ("healthy",)
    assert {pair.gdr for pair in report.pairs if pair.distance == "PIX"} == {True}


@pytest.mark.parametrize("name", list(FAULTS))
def test_the_doctor_finds_each_fault(name: str, faulty: dict[str, Faulty]) -> None:
    report = faulty[name].diagnose()
    assert name in report.codes
    assert "healthy" not in report.codes
    others = {"acs-on-path", "memlock-limit", "bar1-too-small", "iommu-translating", "gid-index-wrong"} - {
        name
    }
    assert not others & set(report.codes)
    assert "unknown-cause" not in report.codes


def test_files_name_what_they_are_and_each_host_has_its_own(faulty: dict[str, Faulty]) -> None:
    files = faulty["acs-on-path"].files
    assert set(files) == {"left", "right"}
    assert "ReqRedir+" in files["left"]["lspci-vvv.txt"]
    assert "nvidia_peermem" not in faulty["peermem-missing"].files["left"]["lsmod.txt"]


def test_acs_bends_the_path_that_is_simulated(machines: list[Machine], faulty: dict[str, Faulty]) -> None:
    gpu, nic = machines[0].gpus[0].id, machines[0].nics[0].id
    straight = pair_rate(machines[0], gpu, nic)
    bent = pair_rate(faulty["acs-on-path"].machines[0], gpu, nic)
    assert straight is not None
    assert bent is not None
    assert bent < 0.9 * straight
    shown = faulty["acs-on-path"].states[0].machine.path(gpu, nic)
    assert shown.distance.value == "PIX", "the tools show the tree as it is"


def test_a_degraded_link_is_slower(machines: list[Machine], faulty: dict[str, Faulty]) -> None:
    slow = pair_rate(faulty["link-degraded"].machines[0], machines[0].gpus[0].id, machines[0].nics[0].id)
    assert slow is not None
    assert slow < 8e9


def test_settings_of_the_simulated_host(faulty: dict[str, Faulty]) -> None:
    assert not faulty["peermem-missing"].host.peermem
    assert not faulty["peermem-missing"].host.dma_buf
    assert faulty["memlock-limit"].host.memlock_bytes == 65536
    assert faulty["bar1-too-small"].host.bar1_bytes == 256 * 2**20
    assert faulty["iommu-translating"].host.iommu == "translate"
    assert faulty["gid-index-wrong"].unreachable
    fabric = faulty["mtu-mismatch"].fabric
    assert fabric is not None
    assert fabric.mtu_bytes == 1024


def test_what_if_undoes_a_fault(faulty: dict[str, Faulty]) -> None:
    acs = faulty["acs-on-path"].diagnose().what_if(acs=False)
    assert "acs-on-path" not in acs.codes
    iommu = faulty["iommu-translating"].diagnose().what_if(iommu="pt")
    assert "iommu-translating" not in iommu.codes
    level = faulty["gdr-level-forbids"].diagnose().what_if(gdr_level="PXB")
    near = next(pair for pair in level.pairs if pair.distance == "PIX")
    assert near.gdr is True
    peermem = faulty["peermem-missing"].diagnose().what_if(peermem=True)
    assert "peermem-missing" not in peermem.codes
    assert next(pair for pair in peermem.pairs if pair.distance == "PIX").gdr is True


def test_an_unknown_fault_is_refused(machines: list[Machine]) -> None:
    with pytest.raises(GdvizError, match="no fault 'moonlight'"):
        apply("moonlight", machines)


def test_acs_needs_a_switch() -> None:
    with pytest.raises(GdvizError, match="ACS changes nothing"):
        apply("acs-on-path", [reference_machine("pcie-a30")])


@pytest.mark.parametrize("key", ["dgx-a100", "pcie-a30"])
def test_other_machines_are_read_back_as_they_are(key: str) -> None:
    machine = reference_machine(key)
    report = apply(None, [machine]).diagnose()
    shown = {(p.gpu, p.nic): p.distance for p in report.pairs}
    for gpu in machine.gpus:
        for nic in machine.nics:
            distance = machine.path(gpu, nic).distance.value
            assert shown[f"GPU{gpu.index}", nic.name] in (distance, "NODE" if distance == "PHB" else distance)


def test_a_session_with_a_fault_behaves_so_and_its_tools_show_it(machines: list[Machine]) -> None:
    with Session.simulated(machines, fault="peermem-missing", clock=SteppedClock(autojump=True)) as session:
        assert session.faulty is not None
        assert "peermem-missing" in session.faulty.diagnose().codes
        node = session.nodes[0]
        with pytest.raises(RegistrationError) as refused:
            node.nics[0].register(node.gpus[0].alloc("1 MiB"))
        assert refused.value.errno == 14


def test_a_session_whose_gid_index_is_wrong_loses_its_messages(machines: list[Machine]) -> None:
    with Session.simulated(machines, fault="gid-index-wrong", clock=SteppedClock(autojump=True)) as session:
        left, right = session.nodes
        sent = left.nics[0].register(left.gpus[0].alloc("64 KiB"))
        received = right.nics[0].register(right.gpus[0].alloc("64 KiB"))
        result = session.transfer(sent, received, count=1).wait()
        assert result.status is WcStatus.RETRY_EXC_ERR
