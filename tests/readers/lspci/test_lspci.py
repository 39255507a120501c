"""Functions, links, ACS and places out of small listings."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import gdviz.readers.lspci
from gdviz.machine import BridgeKind, Distance
from gdviz.readers import lspci
from gdviz.readers.lspci import PciListing, PciTree, degraded, ports_between
from gdviz.readers.reading import Reading
from tests.readers.lspci.samples import (
    DOWN_GPU,
    DOWN_NIC,
    ROOT_A,
    SERVER,
    TREE,
    UP_A,
    bridge,
    gpu,
    nic,
)


def listing_of(text: str) -> PciListing:
    facts = lspci.read(text).facts
    assert isinstance(facts, PciListing)
    return facts


def texts(reading: Reading) -> str:
    return "\n".join(notice.text for notice in reading.notices)


@pytest.mark.parametrize("name", [item.name for item in pkgutil.iter_modules(gdviz.readers.lspci.__path__)])
def test_examples_in_docstrings(name: str) -> None:
    assert not doctest.testmod(importlib.import_module(f"gdviz.readers.lspci.{name}")).failed


def test_a_function_with_all_its_facts_and_lines() -> None:
    text = SERVER
    listing = listing_of(text)
    lines = text.splitlines()
    port = listing.function("0000:17:01.0")
    assert port is not None
    assert port.acs is not None
    assert port.acs.redirects
    assert port.acs.mask == 0b0011101
    assert lines[port.acs.line - 1].startswith("\t\tACSCtl:")
    assert (port.primary, port.secondary, port.subordinate) == (0x17, 0x18, 0x18)
    assert (port.port_type, port.iommu_group, port.numa, port.driver) == ("Downstream Port", 7, 0, "pcieport")
    found = listing.function("0000:18:00.0")
    assert found is not None
    assert (found.vendor, found.device, found.class_code) == (0x10DE, 0x2330, 0x0302)
    assert (found.mps_bytes, found.mrrs_bytes, found.relaxed_ordering) == (256, 4096, True)
    assert str(found.link.link) == "Gen5 x16"
    assert found.link.line is not None
    assert lines[found.link.line - 1].startswith("\t\tLnkSta:")
    assert [bar.size_bytes for bar in found.bars] == [2**24, 2**37]
    assert lines[found.line - 1].startswith("18:00.0 3D controller")
    assert (found.acs, found.acs_capable) == (None, False)


def test_the_machine() -> None:
    (machine,) = lspci.read(SERVER).machines
    assert [gpu.name for gpu in machine.gpus] == ["H100-SXM5-80GB"]
    assert machine.gpus[0].bar1_bytes == 2**37
    assert [nic.model for nic in machine.nics] == ["ConnectX-7"] * 3
    found = [machine.path(0, nic).distance for nic in machine.nics]
    assert found == [Distance.PIX, Distance.NODE, Distance.SYS]
    kinds = [bridge.kind for bridge in machine.bridges]
    # A switch is one part; its downstream ports are in the listing alone.
    assert kinds.count(BridgeKind.SWITCH) == 1
    assert kinds.count(BridgeKind.ROOT_PORT) == 3
    assert len(listing_of(SERVER).bridges) == 6


def test_ports_between() -> None:
    listing = listing_of(SERVER)

    def ids(one: str, other: str) -> list[str]:
        return [port.busid[5:] for port in ports_between(listing, one, other)]

    assert ids("18:00.0", "19:00.0") == ["17:01.0", "17:02.0"]
    assert ids("0000:18:00.0", "38:00.0") == ["17:01.0", "16:00.0", "15:01.0", "37:01.0"]
    assert ids("18:00.0", "98:00.0")[-1] == "97:01.0"
    assert ids("18:00.0", "aa:00.0") == []


def test_port_types_follow_from_the_tree_where_they_are_denied() -> None:
    text = "\n".join(
        line for line in SERVER.splitlines() if not line.startswith(("\t\t", "\tCapabilities: [148"))
    )
    for name in ("Root Port (Slot-)", "Upstream Port", "Downstream Port (Slot+)", "Endpoint"):
        text = text.replace(
            f"\tCapabilities: [60] Express (v2) {name}, MSI 00", "\tCapabilities: <access denied>"
        )
    reading = lspci.read(text)
    (machine,) = reading.machines
    assert "without root" in texts(reading)
    assert [machine.path(0, nic).distance for nic in machine.nics] == ["PIX", "NODE", "SYS"]
    listing = listing_of(text)
    assert listing.denied
    port = listing.function("0000:17:01.0")
    assert port is not None
    assert (port.acs, port.acs_capable) == (None, None)


def test_a_link_is_degraded_only_where_both_ends_can_more() -> None:
    slow, half = "16GT/s (downgraded), Width x16 (ok)", "32GT/s (ok), Width x8 (downgraded)"
    card = "16GT/s, Width x16"
    text = (
        bridge("15:01.0", ("15", "16", "16"), "Root Port (Slot+)", sta=slow)
        + gpu("16:00.0", cap=card, sta="16GT/s (ok), Width x16 (ok)")
        + bridge("25:01.0", ("25", "26", "26"), "Root Port (Slot+)", sta=half)
        + nic("26:00.0", sta=half)
        + nic("36:00.0", sta=half)
    )
    listing = listing_of(text)
    tree = PciTree(listing)
    answers = {function.busid[5:]: degraded(tree, function) for function in listing.functions}
    assert answers == {
        "15:01.0": False,
        "16:00.0": False,
        "25:01.0": True,
        "26:00.0": True,
        "36:00.0": None,
    }
    assert tree.by_busid["0000:15:01.0"].link.downgraded
    (machine,) = lspci.read(text).machines
    assert not machine.gpus[0].link.degraded
    assert machine.nic("26:00.0").link.degraded


def test_numbers_in_every_spelling() -> None:
    for line in (
        "06:00.0 3D controller [0302]: NVIDIA Corporation GA102GL [A10] [10de:2236] (rev a1)",
        "0000:06:00.0 0302: 10de:2236 (rev a1)",
        "06:00.0 Class 0302: Device 10de:2236 (rev a1)",
        '06:00.0 "3D controller [0302]" "NVIDIA Corporation [10de]" "GA102GL [A10] [2236]" -ra1 "" ""',
        "00:02.0/06:00.0 3D controller [0302]: NVIDIA Corporation GA102GL [A10] [10de:2236] (rev a1)",
    ):
        assert lspci.looks_like(line)
        (machine,) = lspci.read(line).machines
        assert [(gpu.name, gpu.busid) for gpu in machine.gpus] == [("A10", "0000:06:00.0")], line


def test_without_buses_distances_are_said_to_be_unknown() -> None:
    text = (
        "21:00.0 VGA compatible controller [0300]: NVIDIA Corporation AD102 [GeForce RTX 4090] [10de:2684]\n"
        "22:00.0 VGA compatible controller [0300]: ASPEED Technology, Inc. Graphics Family [1a03:2000]\n"
        "61:00.0 Infiniband controller [0207]: Mellanox Technologies [ConnectX-5] [15b3:1017]\n"
    )
    reading = lspci.read(text)
    assert "how far GPUs and NICs are" in texts(reading)
    assert len(reading.machines[0].gpus) == 1
    listing = listing_of(text)
    assert not listing.shows_places
    assert ports_between(listing, "21:00.0", "61:00.0") == ()
    assert PciTree(listing).root_of(listing.functions[0]) is None


def test_a_tree() -> None:
    assert lspci.looks_like(TREE)
    reading = lspci.read(TREE)
    (machine,) = reading.machines
    listing = listing_of(TREE)
    assert listing.tree
    assert len(listing.functions) == 13
    assert [gpu.name for gpu in machine.gpus] == ["H100-SXM5-80GB"]
    assert [machine.path(0, nic).distance for nic in machine.nics] == ["NODE", "PIX", "PIX"]
    assert "NODE may be SYS" in texts(reading)
    ports = ports_between(listing, "18:00.0", "19:00.1")
    assert [port.busid for port in ports] == ["0000:17:01.0", "0000:17:02.0"]


def test_listing_and_tree_in_one_text_are_one() -> None:
    flat = "\n".join(
        line for line in SERVER.splitlines() if not line.startswith(("\tBus:", "\t\t", "\tCapabilities"))
    )
    (before,) = lspci.read(flat).machines
    assert before.path(0, 0).distance != "PIX"
    listing = listing_of(flat + "\n\n" + TREE)
    assert [port.busid[5:] for port in ports_between(listing, "18:00.0", "19:00.0")] == ["17:01.0", "17:02.0"]
    found = listing.function("0000:18:00.0")
    assert found is not None
    assert found.driver == "nvidia"


# ------------------------------------------------------------------ through grep


def grepped(*words: str) -> str:
    return "\n".join(line for line in SERVER.splitlines() if any(word in line for word in words))


def test_heads_and_acs_lines() -> None:
    text = grepped(".0 ", "ACSCtl")
    assert lspci.looks_like(text)
    port = listing_of(text).function("0000:17:01.0")
    assert port is not None
    assert port.acs is not None
    assert port.acs.req_redir


def test_acs_lines_alone_belong_to_nobody() -> None:
    text = grepped("ACSCtl")
    assert lspci.looks_like(text)
    reading = lspci.read(text)
    listing = listing_of(text)
    assert reading.machines == ()
    assert [control.req_redir for control in listing.loose_acs] == [False, False, True, True, False, False]
    assert "without the function" in texts(reading)


def test_acs_lines_below_a_filtered_head_are_not_believed() -> None:
    text = grepped("NVIDIA", "ACSCtl")
    listing = listing_of(text)
    assert all(function.acs is None for function in listing.functions)
    assert len(listing.loose_acs) == 6


def test_pieces_of_grep_with_context() -> None:
    lines = SERVER.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("17:02.0"))
    acs = next(number for number, line in enumerate(lines) if number > at and "ACSCtl" in line)
    text = "\n".join([lines[0], "--", *lines[acs - 1 : acs + 2]])
    listing = listing_of(text)
    assert listing.functions[0].acs is None
    assert [control.req_redir for control in listing.loose_acs] == [True]


def test_registers_of_setpci() -> None:
    text = TREE + "0000:17:01.0 (ecap 000d @148) @14e 001d\n17:02.0 (ecap 000d @148) @14e 0000\n"
    assert lspci.looks_like("0000:17:01.0 (ecap 000d @148) @14e 001d\n")
    ports = ports_between(listing_of(text), "18:00.0", "19:00.0")
    assert [port.acs.redirects if port.acs else None for port in ports] == [True, False]
    assert [port.acs.line if port.acs else None for port in ports] == [9, 10]


# ------------------------------------------------------------------ around and amid


def test_foreign_lines_and_quotes() -> None:
    quoted = "\n".join(f"> {line}" for line in ("Here it is:", *SERVER.splitlines(), "Thanks!"))
    assert lspci.looks_like(quoted)
    (machine,) = lspci.read(quoted).machines
    assert len(machine.gpus) == 1
    assert machine.path(0, 0).distance == "PIX"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello world\n",
        "[   12.345678] pci 0000:17:01.0: PCI bridge to [bus 18]\n",
        "nodeA:101:202 [0] NCCL INFO Channel 00/0 : 0[18000] -> 1[19000] via P2P/IPC\n",
        "|   0  NVIDIA A100-SXM4-80GB          On  | 00000000:07:00.0 Off |                    0 |\n",
        "GPU 00000000:3B:00.0\n    Product Name : Tesla T4\n",
        "0000:18:00.0 iommu group 7\n",
    ],
)
def test_other_texts_are_not_lspci(text: str) -> None:
    assert not lspci.looks_like(text)


def test_truncation() -> None:
    assert not lspci.read(SERVER).truncated
    assert not lspci.read(SERVER.rstrip()).truncated
    cut = SERVER[: SERVER.rindex("ACSCtl:") + len("ACSCtl:\tSrcValid- TransB")]
    reading = lspci.read(cut)
    assert reading.truncated
    assert "breaks off" in texts(reading)


@pytest.mark.parametrize(
    ("line", "name", "proof"),
    [
        ("00:01.0 Ethernet controller: Red Hat, Inc. Virtio network device (rev 01)", "KVM/QEMU", True),
        ("00:0f.0 VGA compatible controller: VMware SVGA II Adapter", "VMware", True),
        (
            "0000:00:08.0 VGA compatible controller: Microsoft Corporation Hyper-V virtual VGA",
            "Hyper-V",
            True,
        ),
        ("00:02.0 Class 0100: Device 5853:0001 (rev 01)", "Xen", True),
        ("00:05.0 Ethernet controller: Amazon.com, Inc. Elastic Network Adapter (ENA)", "Amazon EC2", False),
    ],
)
def test_hypervisors(line: str, name: str, proof: bool) -> None:
    (hint,) = listing_of(f"\n{line}\n").hypervisor
    assert (hint.name, hint.proof, hint.line) == (name, proof, 2)


def test_hardware_is_no_hypervisor() -> None:
    assert listing_of(SERVER).hypervisor == ()


def test_ats() -> None:
    listing = listing_of(nic("00:06.0", ats="Enable-") + nic("00:07.0", ats="Enable+") + nic("00:08.0"))
    assert [(found.ats_capable, found.ats) for found in listing.functions] == [
        (True, False),
        (True, True),
        (None, None),
    ]


def test_a_ring_of_bridges_ends() -> None:
    text = bridge("16:00.0", ("16", "17", "17"), "Upstream Port") + bridge(
        "17:00.0", ("17", "16", "16"), "Downstream Port"
    )
    listing = listing_of(text + gpu("16:01.0") + nic("17:01.0"))
    assert len(ports_between(listing, "16:01.0", "17:01.0")) <= 4


def test_a_virtual_machine_without_bridges_is_flat() -> None:
    (machine,) = lspci.read(gpu("00:05.0") + nic("00:06.0")).machines
    assert machine.path(0, 0).distance == "PHB"
    assert len(machine.notices) == 0
    assert listing_of(gpu("00:05.0") + nic("00:06.0")).shows_places


def test_ids_of_switch_parts() -> None:
    listing = listing_of(ROOT_A + UP_A + DOWN_GPU + DOWN_NIC)
    assert [PciTree(listing).port_type(port) for port in listing.functions] == [
        "Root Port",
        "Upstream Port",
        "Downstream Port",
        "Downstream Port",
    ]
