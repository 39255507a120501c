"""Each rule of the reader on the smallest file that shows it: CPUs, PCI functions, links, and oddities."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from snippets import GPU, NIC, gpu_with, texts

from gdviz.machine import BridgeKind, LinkLayer, Machine, PcieLink
from gdviz.readers import nccl_topology

Read = Callable[[str], Machine]


# ------------------------------------------------------------------ CPUs


@pytest.mark.parametrize(
    ("mask", "cpus"),
    [
        ("ff", set(range(8))),
        ("0fffffff", set(range(28))),
        ("fffffff", set(range(28))),
        ("00000001,80000000", {31, 32}),
        ("0003ff,f0003fff", set(range(14)) | set(range(28, 42))),
        ("0x3", {0, 1}),
        ("f" * 40, set(range(160))),
        ("", set()),
    ],
)
def test_affinity_masks_of_any_length(read_one: Read, mask: str, cpus: set[int]) -> None:
    machine = read_one(f'<system version="1"><cpu numaid="0" affinity="{mask}"/></system>')
    assert machine.cpus[0].affinity == cpus
    assert not machine.notices


@pytest.mark.parametrize("mask", ["0-31", "ff,,ff", "fffffffff,0", "xyz"])
def test_bad_masks_are_told(read_one: Read, mask: str) -> None:
    machine = read_one(f'<system version="1"><cpu numaid="0" affinity="{mask}"/></system>')
    assert machine.cpus[0].affinity == frozenset()
    assert "affinity" in texts(machine)


def test_cpu_facts(read_one: Read) -> None:
    machine = read_one(
        '<system version="2"><cpu numaid="3" arch="x86_64" vendor="AuthenticAMD" familyid="175" modelid="1"/>'
        "</system>"
    )
    (cpu,) = machine.cpus
    assert (cpu.id, cpu.numa, cpu.arch, cpu.vendor, cpu.family, cpu.model) == (
        *("cpu3", 3, "x86_64", "AuthenticAMD", 175, 1),
    )


def test_the_same_mask_on_all_cpus_is_odd(read_one: Read) -> None:
    cpus = "\n".join(f'<cpu numaid="{n}" affinity="ff,00000000"/>' for n in range(2))
    machine = read_one(f'<system version="1">\n{cpus}\n</system>')
    assert [notice.line for notice in machine.notices] == [2]
    assert "same affinity" in texts(machine)


def test_a_cpu_without_or_with_a_taken_number(read_one: Read) -> None:
    machine = read_one('<system version="1"><cpu/><cpu numaid="1"/><cpu numaid="1"/></system>')
    assert [cpu.id for cpu in machine.cpus] == ["cpu", "cpu1", "cpu1#2"]
    assert [cpu.numa for cpu in machine.cpus] == [-1, 1, 1]
    assert "no numaid" in texts(machine)
    assert "more than once" in texts(machine)


def test_several_hosts_become_several_machines() -> None:
    text = (
        f'<system version="1"><cpu numaid="0" host_hash="0xa">{GPU.format("0000:01:00.0")}</cpu>'
        f'<cpu numaid="0" host_hash="0xb">{GPU.format("0000:01:00.0")}{GPU.format("0000:02:00.0")}</cpu>'
        "</system>"
    )
    first, second = nccl_topology.read(text, name="rack").machines
    assert (first.name, second.name) == ("rack-0", "rack-1")
    assert (len(first.gpus), len(second.gpus)) == (1, 2)
    assert not first.notices


# ------------------------------------------------------------------ PCI functions


@pytest.mark.parametrize("digits", ["0x030200", "0x030000", "0x038000", "0x120000", "030200", "0x0302"])
def test_gpu_classes(below_cpu: Read, digits: str) -> None:
    machine = below_cpu(f'<pci busid="0000:01:00.0" class="{digits}" link_speed="8 GT/s" link_width="8"/>')
    (gpu,) = machine.gpus
    assert (gpu.id, gpu.busid, gpu.parent, gpu.numa) == ("0000:01:00.0", "0000:01:00.0", "cpu0", 0)
    assert gpu.link == PcieLink(3, 8)
    assert gpu.gdr is None


@pytest.mark.parametrize(
    ("digits", "layer"), [("0x020000", LinkLayer.ETHERNET), ("0x020700", LinkLayer.INFINIBAND)]
)
def test_nic_classes(below_cpu: Read, digits: str, layer: LinkLayer) -> None:
    machine = below_cpu(f'<pci busid="0001:01:00.0" class="{digits}" link_speed="8 GT/s" link_width="8"/>')
    (nic,) = machine.nics
    assert (nic.id, nic.name, nic.busid, nic.link_layer) == ("0001:01:00.0", "nic0", "0001:01:00.0", layer)


@pytest.mark.parametrize("digits", ["0x060400", "0x080100", "0x0604"])
def test_bridge_classes(below_cpu: Read, digits: str) -> None:
    machine = below_cpu(f'<pci busid="0000:01:00.0" class="{digits}" link_speed="8 GT/s" link_width="8"/>')
    assert [bridge.kind for bridge in machine.bridges] == [BridgeKind.SWITCH]


def test_a_pci_with_pci_below_is_a_bridge_and_a_leaf_without_class_is_unknown(below_cpu: Read) -> None:
    machine = below_cpu(
        '<pci busid="0000:01:00.0" link_speed="8 GT/s" link_width="8">\n'
        '<pci busid="0000:02:00.0" link_speed="8 GT/s" link_width="8"/>\n'
        '<pci busid="0000:03:00.0" link_speed="8 GT/s" link_width="8"/></pci>'
    )
    assert [bridge.id for bridge in machine.bridges] == ["0000:01:00.0"]
    assert [(device.id, device.parent) for device in machine.devices] == [
        ("0000:02:00.0", "0000:01:00.0"),
        ("0000:03:00.0", "0000:01:00.0"),
    ]
    (notice,) = machine.notices
    assert notice.line == 4
    assert "'0000:02:00.0' has no class" in notice.text
    assert "1 more" in notice.text


def test_other_classes_are_devices_without_a_word(below_cpu: Read) -> None:
    machine = below_cpu('<pci busid="0000:01:00.0" class="0x010802" link_speed="8 GT/s" link_width="4"/>')
    assert machine.devices[0].pci_class == 0x010802
    assert not machine.notices


def test_nesting_of_any_depth(below_cpu: Read) -> None:
    depth = 5
    opening = "".join(
        f'<pci busid="0000:{n:02x}:00.0" class="0x060400" link_speed="8 GT/s" link_width="8">'
        for n in range(depth)
    )
    machine = below_cpu(opening + GPU.format("0000:f0:00.0") + "</pci>" * depth)
    assert [part.id for part in machine.ancestors("0000:f0:00.0")] == [
        *("0000:f0:00.0", *(f"0000:{n:02x}:00.0" for n in reversed(range(depth))), "cpu0"),
    ]


def test_made_up_bridges(below_cpu: Read) -> None:
    machine = below_cpu(
        '<pci busid="ffff:ff:01.0" class="0x060400" link_speed="8 GT/s" link_width="16" vendor="0xffff" '
        f'device="0xffff">{GPU.format("0001:00:00.0")}</pci>'
    )
    (bridge,) = machine.bridges
    assert bridge.virtual
    assert bridge.pci.vendor is None
    assert machine.gpus[0].parent == bridge.id


def test_bus_ids_are_normal_and_unique(below_cpu: Read) -> None:
    machine = below_cpu(GPU.format("00000000:0A:00.0") + "\n" + GPU.format("0a:00.0"))
    assert [gpu.id for gpu in machine.gpus] == ["0000:0a:00.0", "0000:0a:00.0#2"]
    assert [gpu.busid for gpu in machine.gpus] == ["0000:0a:00.0"] * 2


def test_twice_the_same_bridge_is_told(below_cpu: Read) -> None:
    bridge = '<pci busid="0000:01:00.0" class="0x060400" link_speed="8 GT/s" link_width="8"/>'
    machine = below_cpu(f"{bridge}\n{bridge}")
    assert [part.id for part in machine.bridges] == ["0000:01:00.0", "0000:01:00.0#2"]
    assert "4: '0000:01:00.0' occurs more than once" in texts(machine)


@pytest.mark.parametrize(("attribute", "kept"), [('busid="here"', "here"), ("", "")])
def test_what_is_no_bus_id(below_cpu: Read, attribute: str, kept: str) -> None:
    machine = below_cpu(f'<pci {attribute} class="0x030200" link_speed="8 GT/s" link_width="8"/>')
    assert machine.gpus[0].busid == kept
    assert machine.gpus[0].id
    assert "bus id" in texts(machine)


def test_pci_in_a_gpu_is_put_beside_it(below_cpu: Read) -> None:
    machine = below_cpu(
        '<pci busid="0000:01:00.0" class="0x030200" link_speed="8 GT/s" link_width="8">'
        + NIC.format("0000:02:00.0", "")
        + "</pci>"
    )
    assert machine.nics[0].parent == machine.gpus[0].parent == "cpu0"
    assert "no bridge but holds <pci>" in texts(machine)


# ------------------------------------------------------------------ links


@pytest.mark.parametrize(
    ("speed", "gen", "word"),
    [
        ("2.5 GT/s", 1, ""),
        ("5 GT/s", 2, ""),
        ("5.0 GT/s PCIe", 2, ""),
        ("8 GT/s", 3, ""),
        ("16 GT/s", 4, ""),
        ("16.0 GT/s PCIe", 4, ""),
        ("32 GT/s PCIe/s", 5, ""),
        ("32.0 GT/s PCIe", 5, ""),
        ("64.0 GT/s PCIe", 6, ""),
        ("64 GT/s", 6, "not spelled"),
        ("16.0 GT/s", 4, "not spelled"),
        ("Unknown", None, "would take Gen3"),
        ("", None, "would take Gen3"),
        ("12 GT/s", None, "would take Gen3"),
        ("16", None, "would take Gen3"),
    ],
)
def test_link_speeds(below_cpu: Read, speed: str, gen: int | None, word: str) -> None:
    machine = below_cpu(f'<pci busid="0000:01:00.0" class="0x030200" link_speed="{speed}" link_width="16"/>')
    assert machine.gpus[0].link.gen == gen
    assert bool(machine.notices) == bool(word)
    assert word in texts(machine)


def test_no_link_speed_at_all(below_cpu: Read) -> None:
    machine = below_cpu('<pci busid="0000:01:00.0" class="0x030200"/>')
    assert machine.gpus[0].link == PcieLink()
    assert "3: <pci> '0000:01:00.0' gives no link_speed" in texts(machine)


@pytest.mark.parametrize(
    ("width", "lanes", "word"),
    [
        ("16", 16, ""),
        ("1", 1, ""),
        ("0", 16, "counts it as 16"),
        ("-1", None, "no width"),
        ("99", None, "no width"),
        ("x8", None, "not a number"),
    ],
)
def test_link_widths(below_cpu: Read, width: str, lanes: int | None, word: str) -> None:
    machine = below_cpu(
        f'<pci busid="0000:01:00.0" class="0x030200" link_speed="8 GT/s" link_width="{width}"/>'
    )
    assert machine.gpus[0].link.width == lanes
    assert bool(machine.notices) == bool(word)
    assert word in texts(machine)


# ------------------------------------------------------------------ what does not belong there


def test_versions(read_one: Read) -> None:
    assert "version='3'" in texts(read_one('<system version="3"><cpu numaid="0"/></system>'))
    assert not read_one('<system version="2"><cpu numaid="0"/></system>').notices


def test_invented_elements_are_skipped_and_the_rest_is_read(below_cpu: Read) -> None:
    machine = below_cpu(
        '<switch name="PEX0"><gpu pci="0000:1b:00.0"/><nic name="mlx5_9"/></switch>\n'
        + gpu_with('<cpu affinity="0-31"/>')
        + "\n<switch/>"
    )
    assert len(machine.gpus) == 1
    assert not machine.nics
    assert [notice.line for notice in machine.notices] == [3, 4]
    first, second = (notice.text for notice in machine.notices)
    assert "<switch> in <cpu>" in first
    assert "(<gpu>, <nic>)" in first
    assert "1 more" in first
    assert "<cpu> in <gpu>" in second


def test_pci_outside_a_cpu(read_one: Read) -> None:
    machine = read_one(f'<system version="1">{GPU.format("0000:01:00.0")}</system>')
    assert not machine.gpus
    assert "<pci> in <system>" in texts(machine)
    assert "no CPU, GPU or NIC" in texts(machine)


def test_what_nccl_knows_and_gdviz_does_not_need_is_skipped_in_silence(below_cpu: Read) -> None:
    machine = below_cpu(
        '<pci busid="0000:01:00.0" class="0x060400" link_speed="8 GT/s" link_width="8">'
        '<pcilink target="0000:02:00.0"/></pci>'
        + NIC.format(
            "0000:02:00.0", '<nic><net name="mlx5_0" speed="1000" net="1"/><gin dev="0"/><rma dev="0"/></nic>'
        )
    )
    assert not machine.notices
    assert len(machine.nics) == 1


def test_numbers_that_are_none(below_cpu: Read) -> None:
    machine = below_cpu(gpu_with("", attributes='dev="first" sm="9o" gdr="yes"'))
    assert machine.gpus[0].compute_capability is None
    assert machine.gpus[0].gdr is None
    assert texts(machine).count("is not a number") == 3


def test_pci_ids_that_are_none(below_cpu: Read) -> None:
    machine = below_cpu(
        '<pci busid="0000:01:00.0" class="graphics" vendor="NVIDIA" device="0x123456789" '
        'link_speed="8 GT/s" link_width="8"/>'
    )
    assert machine.devices[0].pci_class is None
    assert machine.devices[0].pci.vendor is None
    assert "no PCI class" in texts(machine)
    assert "no PCI id" in texts(machine)
