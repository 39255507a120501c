"""The real listings: what is in them, counted a second time, and how fast they are read."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from gdviz.readers import lspci, open_path
from gdviz.readers.lspci import PciListing, PciTree, degraded, ports_in
from gdviz.readers.reading import Reading

PAIRS = {
    "19:00.0": "1a:00.0",
    "3b:00.0": "3c:00.0",
    "4c:00.0": "4d:00.0",
    "5d:00.0": "5e:00.0",
    "9b:00.0": "9c:00.0",
    "bb:00.0": "bc:00.0",
    "cb:00.0": "cc:00.0",
    "db:00.0": "dc:00.0",
}
_HEAD = re.compile(r"^[0-9a-f]{2}:[0-9a-f]{2}\.[0-7] ", re.MULTILINE)


@pytest.fixture(scope="module")
def path(shared: Path) -> Path:
    return shared / "corpus" / "lspci" / "gpud-8xH100-8xCX7-lspci-vvv.txt"


@pytest.fixture(scope="module")
def reading(path: Path) -> Reading:
    opened = open_path(path)
    assert opened.kind == "lspci"
    return next(found for found in opened.readings if found.kind == "lspci")


@pytest.fixture(scope="module")
def listing(reading: Reading) -> PciListing:
    assert isinstance(reading.facts, PciListing)
    return reading.facts


def test_every_file_is_pinned(path: Path) -> None:
    names = sorted(found.name for found in path.parent.iterdir())
    assert names == ["gpud-8xH100-8xCX7-lspci-vvv.txt", "gpud-a10-lspci-nn.txt"]


def test_counts(path: Path, reading: Reading, listing: PciListing) -> None:
    text = path.read_text()
    assert len(listing.functions) == len(_HEAD.findall(text)) == 517
    assert len(listing.bridges) == text.count(" PCI bridge: ") == 59
    (machine,) = reading.machines
    assert len(machine.gpus) == text.count(" 3D controller: NVIDIA") == 8
    assert len(machine.nics) == text.count(" Ethernet controller: Mellanox") == 12
    assert [nic.model for nic in machine.nics].count("ConnectX-7") == 8
    assert {gpu.name for gpu in machine.gpus} == {"H100-SXM5-80GB"}
    assert [cpu.numa for cpu in machine.cpus] == [0, 1]
    assert reading.notices == ()
    assert not reading.truncated
    assert listing.hypervisor == ()


def test_each_gpu_shares_a_switch_with_one_nic(reading: Reading) -> None:
    (machine,) = reading.machines
    for gpu in machine.gpus:
        near = [
            nic.busid
            for nic in machine.nics
            if nic.model == "ConnectX-7" and machine.path(gpu, nic).distance == "PIX"
        ]
        assert near == ["0000:" + PAIRS[gpu.busid[5:]]]
    # Buses 1b and 9d hold the two ports each of a ConnectX-6 Dx, below the first and the fifth switch.
    assert machine.path("19:00.0", "1b:00.1").distance == "PIX"
    assert machine.path("19:00.0", "3c:00.0").distance == "NODE"
    assert machine.path("19:00.0", "9c:00.0").distance == "SYS"


def test_acs_is_off_on_all_paths_although_it_is_on_elsewhere(listing: PciListing) -> None:
    tree = PciTree(listing)
    for gpu, nic in PAIRS.items():
        ports = ports_in(tree, gpu, nic)
        assert len(ports) == 2
        assert {tree.port_type(port) for port in ports} == {"Downstream Port"}
        assert all(port.acs is not None and port.acs.mask == 0 for port in ports)
    redirecting = [port.busid for port in listing.bridges if port.acs is not None and port.acs.redirects]
    assert redirecting == [f"0000:82:0{number}.0" for number in range(4)]
    assert sum(port.acs is not None and port.acs.src_valid for port in listing.bridges) == 6


def test_downgraded_links_are_none_of_the_pairs(path: Path, listing: PciListing) -> None:
    downgraded = [function for function in listing.functions if function.link.downgraded]
    lines = [line for line in path.read_text().splitlines() if "LnkSta:" in line and "downgraded" in line]
    assert len(downgraded) == len(lines) == 16
    tree = PciTree(listing)
    for gpu, nic in PAIRS.items():
        ends = [tree.by_busid["0000:" + busid] for busid in (gpu, nic)]
        assert [degraded(tree, end) for end in (*ends, *ports_in(tree, gpu, nic))] == [False] * 4
    assert [function.busid for function in downgraded if degraded(tree, function)] == []


def test_lines(path: Path, listing: PciListing) -> None:
    lines = path.read_text().splitlines()
    for function in listing.functions:
        assert lines[function.line - 1].startswith(function.busid[5:])
        if function.link.line is not None:
            assert "LnkSta:" in lines[function.link.line - 1]
        if function.acs is not None:
            assert "ACSCtl:" in lines[function.acs.line - 1]


def test_read_in_300_ms(path: Path) -> None:
    data = path.read_bytes()
    best = 9.0
    for _attempt in range(3):
        start = time.perf_counter()
        lspci.read(data)
        best = min(best, time.perf_counter() - start)
    assert best < 0.3


def test_a10_in_a_virtual_machine(path: Path) -> None:
    opened = open_path(path.parent / "gpud-a10-lspci-nn.txt")
    (machine,) = opened.machines
    assert [(gpu.busid, gpu.name) for gpu in machine.gpus] == [("0000:06:00.0", "A10")]
    assert [(nic.busid, nic.model) for nic in machine.nics] == [("0000:05:00.0", "ConnectX virtual function")]
    facts = opened.readings[0].facts
    assert isinstance(facts, PciListing)
    assert [hint.name for hint in facts.hypervisor] == ["KVM/QEMU"]
    assert len(facts.functions) == 20
