"""Real files: how much is in each, what is odd in each, and the distance of every pair."""

from __future__ import annotations

import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gdviz.machine import Machine, PeerKind
from gdviz.readers import open_path

#: GPUs, NICs, bridges, CPUs, devices of unknown kind, NVLinks or xGMI links, notices.
COUNTS = {
    "aws-g5.48xl-8xA10G-topo.xml": (0, 0, 0, 2, 9, 0, 2),
    "aws-p4d-8xA100-4EFA-topo.xml": (8, 4, 4, 2, 0, 0, 0),
    "aws-p4de-8xA100-80G-topo.xml": (8, 4, 4, 2, 0, 0, 0),
    "aws-p5-8xH100-32EFA-topo-v1.xml": (0, 0, 8, 2, 32, 0, 2),
    "azure-ndv2-8xV100-topo.xml": (8, 1, 0, 2, 0, 0, 0),
    "azure-ndv4-8xA100-topo.xml": (8, 8, 4, 4, 0, 0, 0),
    "azure-ndv4-topo-OLD-numa-swapped.xml": (8, 8, 4, 4, 0, 0, 1),
    "azure-ndv5-8xH100-topo.xml": (8, 8, 8, 2, 0, 0, 0),
    "oci-BM.GPU.H100-8-topo.xml": (8, 16, 24, 2, 0, 32, 0),
    "oci-BM.GPU4.8-A100-flattened.xml": (8, 8, 4, 4, 0, 0, 0),
    "rccl-topo_16p1h.xml": (16, 8, 28, 4, 0, 56, 0),
    "rccl-topo_3p_pcie.xml": (3, 1, 3, 2, 0, 0, 0),
    "rccl-topo_4p1h_1.xml": (4, 2, 4, 2, 0, 8, 0),
    "rccl-topo_4p3l.xml": (4, 2, 6, 1, 0, 12, 0),
    "rccl-topo_8p6l_6nic.xml": (8, 6, 8, 2, 0, 48, 0),
    "rccl-topo_8p_90a_1.xml": (8, 1, 0, 3, 0, 24, 0),
    "rccl-topo_8p_940.xml": (8, 8, 24, 2, 0, 56, 0),
    "rccl-topo_8p_rome_n2_1.xml": (8, 2, 8, 4, 0, 16, 0),
    "rccl-topo_8p_rome_vm1.xml": (8, 1, 0, 4, 0, 24, 0),
    "simai-topo_2A100_1CX6.xml": (2, 2, 5, 1, 0, 12, 0),
    "simai-topo_8A100_4CX6.xml": (8, 5, 20, 2, 0, 48, 0),
    "timez-2xA100PCIe-topo-dump-gdr0.xml": (2, 2, 0, 1, 0, 2, 1),
    "timez-2xA100PCIe-topo-dump-normal.xml": (2, 2, 0, 1, 0, 2, 0),
}

Open = Callable[[str], Machine]


@pytest.fixture(scope="module")
def corpus(shared: Path) -> Path:
    return shared / "corpus" / "nccl_topo_xml"


@pytest.fixture(scope="module")
def opened(corpus: Path) -> Open:
    machines: dict[str, Machine] = {}

    def get(name: str) -> Machine:
        if name not in machines:
            (machines[name],) = open_path(corpus / name).machines
        return machines[name]

    return get


def test_every_file_is_pinned(corpus: Path) -> None:
    assert sorted(path.name for path in corpus.glob("*.xml")) == sorted(COUNTS)


@pytest.mark.parametrize("name", COUNTS)
def test_counts(opened: Open, name: str) -> None:
    machine = opened(name)
    found = (
        *(len(machine.gpus), len(machine.nics), len(machine.bridges), len(machine.cpus)),
        *(len(machine.devices), len(machine.nvlinks), len(machine.notices)),
    )
    assert found == COUNTS[name]


@pytest.mark.parametrize("name", COUNTS)
def test_the_model_is_whole(opened: Open, name: str) -> None:
    machine = opened(name)
    ids = [part.id for part in machine]
    assert len(ids) == len(set(ids))
    assert [gpu.index for gpu in machine.gpus] == list(range(len(machine.gpus)))
    assert [nic.index for nic in machine.nics] == list(range(len(machine.nics)))
    for part in machine:
        cpu = machine.cpu_of(part.id)
        assert cpu is not None
        assert getattr(part, "numa", cpu.numa) == cpu.numa


def test_each_opens_in_less_than_50_ms(corpus: Path) -> None:
    for name in COUNTS:
        best = min(_seconds(corpus / name) for _ in range(3))
        assert best < 0.05, f"{name}: {best:.3f} s"


def _seconds(path: Path) -> float:
    start = time.perf_counter()
    open_path(path)
    return time.perf_counter() - start


# ------------------------------------------------------------------ what is odd in each


def test_azure_ndv5(opened: Open) -> None:
    machine = opened("azure-ndv5-8xH100-topo.xml")
    assert all(bridge.virtual for bridge in machine.bridges)
    assert len({gpu.busid.split(":")[0] for gpu in machine.gpus}) == 8
    assert str(machine.gpus[0].link) == "Gen5 x16"
    assert machine.bridges[0].pci.vendor is None


def test_azure_ndv4_numa_order_and_the_old_masks(opened: Open) -> None:
    assert machine_numa(opened("azure-ndv4-8xA100-topo.xml")) == [0, 0, 1, 1, 2, 2, 3, 3]
    notice = opened("azure-ndv4-topo-OLD-numa-swapped.xml").notices[0]
    assert "All 4 <cpu> have the same affinity" in notice.text


def machine_numa(machine: Machine) -> list[int]:
    return [gpu.numa for gpu in machine.gpus]


def test_oci_h100(opened: Open) -> None:
    machine = opened("oci-BM.GPU.H100-8-topo.xml")
    assert {gpu.name for gpu in machine.gpus} == {"H100-SXM5-80GB"}
    assert [nic.name for nic in machine.nics[:3]] == ["mlx5_0", "mlx5_1", "mlx5_3"]
    assert machine.nics[0].speed_bytes_per_s == 180e9 / 8
    assert machine.part("0000:08:00.0").link.gen == 2
    assert {link.kind for link in machine.nvlinks} == {PeerKind.SWITCH}
    assert sum(link.count for link in machine.nvlinks if link.gpu == machine.gpus[0].id) == 18
    assert machine.nic("0000:0c:00.0").name == "mlx5_0"


def test_oci_a100_numa_order(opened: Open) -> None:
    assert [cpu.numa for cpu in opened("oci-BM.GPU4.8-A100-flattened.xml").cpus] == [3, 1, 7, 5]


def test_aws_p5_odd_unit_and_missing_class(opened: Open) -> None:
    machine = opened("aws-p5-8xH100-32EFA-topo-v1.xml")
    assert {device.link.gen for device in machine.devices} == {5}
    assert any("has no class" in notice.text and notice.line == 18 for notice in machine.notices)


def test_gdr_flags(opened: Open) -> None:
    machine = opened("timez-2xA100PCIe-topo-dump-gdr0.xml")
    assert [nic.gdr for nic in machine.nics] == [False, False]
    assert [gpu.gdr for gpu in machine.gpus] == [True, True]
    assert "counts 1 NVLink links" in machine.notices[0].text
    mixed = opened("rccl-topo_8p_rome_n2_1.xml")
    assert {nic.gdr for nic in mixed.nics} == {True, False}


def test_rccl_masks_and_nics_without_a_function(opened: Open) -> None:
    machine = opened("rccl-topo_4p1h_1.xml")
    assert machine.cpus[0].affinity == {*range(14), *range(28, 42)}
    assert machine.nic("virbr0").busid is None
    assert {gpu.name for gpu in machine.gpus} == {"AMD gfx906"}


def test_rccl_mi300x(opened: Open) -> None:
    machine = opened("rccl-topo_8p_940.xml")
    assert {gpu.name for gpu in machine.gpus} == {"Instinct MI300X"}
    assert {link.technology for link in machine.nvlinks} == {"xGMI"}


def test_merged_nics(opened: Open) -> None:
    assert opened("simai-topo_8A100_4CX6.xml").nic("mlx5_bond_3").id == "mlx5_bond_3"


# ------------------------------------------------------------------ distances, worked out a second time

Tree = dict[ET.Element, ET.Element]


def _parents(root: ET.Element) -> Tree:
    return {child: parent for parent in root.iter() for child in parent}


def _gpus(root: ET.Element) -> Iterator[tuple[str, ET.Element]]:
    for pci in root.iter("pci"):
        if pci.get("class", "")[:4] in ("0x03", "0x12"):
            yield pci.get("busid", ""), pci


def _nics(root: ET.Element, parents: Tree) -> Iterator[tuple[str, ET.Element]]:
    """Each NIC by its name (or its function's bus id), with the function or the <nic> below a CPU."""
    for net in root.iter("net"):
        nic = parents[net]
        yield net.get("name", ""), parents[nic] if parents[nic].tag == "pci" else nic
    for pci in root.iter("pci"):
        if pci.get("class", "")[:4] == "0x02" and pci.find("nic") is None:
            yield pci.get("busid", ""), pci


def _chain(element: ET.Element, parents: Tree) -> list[ET.Element]:
    """Switches above a device, and at the end its CPU."""
    chain = []
    while element.tag != "cpu":
        element = parents[element]
        chain.append(element)
    return chain


def _distance(gpu: list[ET.Element], nic: list[ET.Element]) -> str:
    if gpu[-1] is not nic[-1]:
        return "SYS"
    top = next(element for element in gpu if element in nic)
    if top.tag == "cpu":
        return "PHB"
    return "PIX" if gpu[0] is nic[0] else "PXB"


def _broadcom(pci: ET.Element, level: int) -> int:
    ids = [int(pci.get(key, "0"), 16) for key in ("vendor", "device", "subsystem_vendor", "subsystem_device")]
    word = (ids[0] << 48 | ids[1] << 32 | ids[2] << 16 | ids[3]) & ~0xFFF
    if word == 0x1000C0101000A000:
        return 4
    return 5 if word == 0x1000C03010000000 | level * 0x1000 else 0


def _flatten(root: ET.Element) -> None:
    """Hang the children of a Broadcom switch's second level below its first, as NCCL does."""
    done: set[ET.Element] = set()
    while True:
        switch = next(
            (pci for pci in root.iter("pci") if _broadcom(pci, 0) and pci not in done and _is_bridge(pci)),
            None,
        )
        if switch is None:
            return
        done.add(switch)
        generation = _broadcom(switch, 0)
        for sub in list(switch):
            if sub.tag == "pci" and _is_bridge(sub) and _broadcom(sub, 1) == generation and sub not in done:
                switch.remove(sub)
                switch.extend(list(sub))


def _is_bridge(pci: ET.Element) -> bool:
    return pci.get("class", "").startswith("0x0604")


def _all_pairs(path: Path, flatten: bool) -> dict[tuple[str, str], str]:
    root = ET.parse(path).getroot()
    if flatten:
        _flatten(root)
    parents = _parents(root)
    return {
        (busid, name): _distance(_chain(gpu, parents), _chain(nic, parents))
        for busid, gpu in _gpus(root)
        for name, nic in _nics(root, parents)
    }


@pytest.mark.parametrize("name", [name for name, counts in COUNTS.items() if counts[0] and counts[1]])
def test_distances_of_all_pairs(corpus: Path, opened: Open, name: str) -> None:
    machine = opened(name)
    expected = _all_pairs(corpus / name, flatten=False)
    as_nccl = _all_pairs(corpus / name, flatten=True)
    assert len(expected) == len(machine.gpus) * len(machine.nics)
    for busid, nic in expected:
        path = machine.path(busid, nic)
        assert path.distance == expected[busid, nic], (busid, nic)
        assert path.nccl == as_nccl[busid, nic], (busid, nic)


@pytest.mark.parametrize(
    ("name", "gpu", "nic", "distance", "nccl"),
    [
        ("azure-ndv5-8xH100-topo.xml", 0, 0, "PIX", "PIX"),
        ("azure-ndv5-8xH100-topo.xml", 0, 1, "PHB", "PHB"),
        ("azure-ndv5-8xH100-topo.xml", 0, 4, "SYS", "SYS"),
        ("aws-p4d-8xA100-4EFA-topo.xml", 1, 0, "PIX", "PIX"),
        ("aws-p4d-8xA100-4EFA-topo.xml", 7, 2, "PHB", "PHB"),
        ("oci-BM.GPU.H100-8-topo.xml", 0, "mlx5_0", "PXB", "PIX"),
        ("oci-BM.GPU.H100-8-topo.xml", 0, "mlx5_3", "PHB", "PHB"),
        ("oci-BM.GPU.H100-8-topo.xml", 7, "mlx5_0", "SYS", "SYS"),
        ("rccl-topo_16p1h.xml", 0, "mlx5_0", "PXB", "PXB"),
        ("rccl-topo_4p1h_1.xml", 0, "virbr0", "PHB", "PHB"),
    ],
)
def test_some_pairs_as_a_person_reads_them(
    opened: Open, name: str, gpu: int, nic: int | str, distance: str, nccl: str
) -> None:
    path = opened(name).path(gpu, nic)
    assert (path.distance, path.nccl) == (distance, nccl)
