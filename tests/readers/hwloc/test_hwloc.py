"""The three dialects of hwloc's XML, and the real files."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import gdviz.readers.hwloc
from gdviz.machine import BridgeKind, LinkLayer, PeerKind
from gdviz.readers import hwloc, open_path
from gdviz.readers.hwloc import HwlocTopology
from tests.readers.hwloc.samples import DIALECTS, version2

#: GPUs, NICs, CPUs, NVLinks.
COUNTS = {
    "flux-corona11.xml": (4, 1, 8, 0),
    "flux-sierra2.xml": (4, 4, 2, 0),
    "hwloc-cxlmem+dax.v3.xml": (0, 0, 1, 0),
    "hwloc-devel09-pci.xml": (0, 1, 2, 0),
    "hwloc-fakepcilocalities.xml": (0, 1, 4, 0),
    "hwloc-nvidiaDGX2.xml": (16, 0, 2, 96),
    "hwloc-power8gpudistances.xml": (4, 0, 2, 8),
    "nixl-aws-g6.48xl-hwloc.xml": (8, 1, 2, 0),
    "nixl-aws-p4d.24xl-hwloc.xml": (8, 4, 3, 0),
    "nixl-aws-p5.48xl-hwloc.xml": (8, 32, 2, 0),
    "nixl-aws-p6-b200.48xl-hwloc.xml": (8, 10, 2, 0),
}


@pytest.mark.parametrize("name", [item.name for item in pkgutil.iter_modules(gdviz.readers.hwloc.__path__)])
def test_examples_in_docstrings(name: str) -> None:
    assert not doctest.testmod(importlib.import_module(f"gdviz.readers.hwloc.{name}")).failed


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_is_the_same_machine(dialect: str) -> None:
    text = DIALECTS[dialect]
    assert hwloc.looks_like(text)
    reading = hwloc.read(text)
    (machine,) = reading.machines
    assert reading.notices == ()
    assert not reading.truncated
    assert [(gpu.busid, gpu.name, gpu.numa) for gpu in machine.gpus] == [
        ("0000:18:00.0", "H100-SXM5-80GB", 0),
        ("0000:1b:00.0", "H100-SXM5-80GB", 0),
    ]
    assert [(nic.name, nic.model, nic.numa) for nic in machine.nics] == [
        ("mlx5_0", "ConnectX-7", 0),
        ("nic1", "ConnectX-7", 1),
    ]
    assert [nic.link_layer for nic in machine.nics] == [LinkLayer.INFINIBAND, LinkLayer.ETHERNET]
    assert machine.nics[0].guid == "0c42:a103:0012:3456"
    assert [machine.path(0, nic).distance for nic in machine.nics] == ["PIX", "SYS"]
    assert str(machine.gpus[0].link) == "Gen5 x16"
    kinds = [bridge.kind for bridge in machine.bridges]
    assert kinds == [
        BridgeKind.HOST_BRIDGE,
        BridgeKind.ROOT_PORT,
        BridgeKind.SWITCH,
        BridgeKind.HOST_BRIDGE,
    ]
    assert [(cpu.numa, cpu.vendor, cpu.arch, len(cpu.affinity)) for cpu in machine.cpus] == [
        (0, "GenuineIntel", "x86_64", 8),
        (1, "", "x86_64", 8),
    ]
    # A network card without RDMA is no NIC of the model.
    assert [device.busid for device in machine.devices] == ["0000:98:01.0"]
    facts = reading.facts
    assert isinstance(facts, HwlocTopology)
    lines = text.splitlines()
    assert all(function.busid in lines[function.line - 1] for function in facts.functions)


def test_distances_are_nvlinks() -> None:
    reading = hwloc.read(version2())
    (machine,) = reading.machines
    # Row of the second GPU, column of an object that is not in the file.
    assert [(link.gpu[5:7], link.target, link.count, link.kind) for link in machine.nvlinks] == [
        ("18", "0000:1b:00.0", 4, PeerKind.GPU),
        ("1b", "0000:18:00.0", 4, PeerKind.GPU),
        ("1b", "PCIDev:99", 1, PeerKind.UNKNOWN),
    ]
    assert machine.nvlinks[0].bytes_per_s == 100e9
    assert isinstance(reading.facts, HwlocTopology)
    assert reading.facts.infos["DMIProductName"] == "XE9680"


def test_a_file_without_devices_is_told() -> None:
    reading = hwloc.read('<topology version="2.0"><object type="Machine"/></topology>')
    assert "no PCI functions" in reading.notices[0].text


def test_truncation() -> None:
    text = version2()
    cut = text[: text.index("mlx5_0")]
    reading = hwloc.read(cut)
    assert reading.truncated
    assert "breaks off" in reading.notices[-1].text
    assert len(reading.machines[0].gpus) == 1


@pytest.mark.parametrize("text", ["", "<system/>", "<topology-of-ideas/>", "topology", "<topolog"])
def test_other_texts(text: str) -> None:
    assert not hwloc.looks_like(text)


def test_entities_are_not_expanded() -> None:
    text = '<!DOCTYPE topology [<!ENTITY a "aaaa">]><topology version="2.0"><object type="&a;"/></topology>'
    reading = hwloc.read(text)
    assert any("document type" in notice.text for notice in reading.notices)


# ------------------------------------------------------------------ real files


@pytest.fixture(scope="module")
def corpus(shared: Path) -> Path:
    return shared / "corpus" / "hwloc_xml"


def test_every_file_is_pinned(corpus: Path) -> None:
    assert sorted(path.name for path in corpus.iterdir()) == sorted(COUNTS)


@pytest.mark.parametrize("name", COUNTS)
def test_counts(corpus: Path, name: str) -> None:
    opened = open_path(corpus / name)
    (machine,) = opened.machines
    found = (len(machine.gpus), len(machine.nics), len(machine.cpus), len(machine.nvlinks))
    assert opened.kind == "hwloc_xml"
    assert found == COUNTS[name]
    assert opened.notices == ()
    ids = [part.id for part in machine]
    assert len(ids) == len(set(ids))


def test_p5(corpus: Path) -> None:
    (machine,) = open_path(corpus / "nixl-aws-p5.48xl-hwloc.xml").machines
    for gpu in machine.gpus:
        near = [nic.name for nic in machine.nics if machine.path(gpu, nic).distance == "PIX"]
        assert len(near) == 4
    assert machine.nics[0].name == "rdmap79s0"
    assert {nic.model for nic in machine.nics} == {"EFA"}


def test_sierra(corpus: Path) -> None:
    (machine,) = open_path(corpus / "flux-sierra2.xml").machines
    assert [gpu.numa for gpu in machine.gpus] == [0, 0, 8, 8]
    assert [nic.name for nic in machine.nics] == ["mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"]
    assert machine.path(0, "mlx5_0").distance == "NODE"
    assert machine.path(0, "mlx5_2").distance == "SYS"


def test_power8_links(corpus: Path) -> None:
    (machine,) = open_path(corpus / "hwloc-power8gpudistances.xml").machines
    first = [(link.target, link.count, link.kind) for link in machine.nvlinks if link.gpu == "0002:01:00.0"]
    assert first == [("0003:01:00.0", 2, PeerKind.GPU), ("Package:3", 2, PeerKind.CPU)]


def test_dgx2_links(corpus: Path) -> None:
    (machine,) = open_path(corpus / "hwloc-nvidiaDGX2.xml").machines
    assert {link.kind for link in machine.nvlinks} == {PeerKind.SWITCH}
    assert {sum(link.count for link in machine.nvlinks if link.gpu == gpu.id) for gpu in machine.gpus} == {6}
