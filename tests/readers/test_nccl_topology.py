"""Each rule of the reader on the smallest file that shows it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gdviz.machine import BridgeKind, LinkLayer, Machine, PcieLink, PeerKind
from gdviz.readers import nccl_topology

Read = Callable[[str], Machine]

GPU = '<pci busid="{}" class="0x030200" link_speed="16 GT/s" link_width="16"/>'
NIC = '<pci busid="{}" class="0x020700" link_speed="16 GT/s" link_width="16">{}</pci>'


def texts(machine: Machine) -> str:
    return "\n".join(f"{notice.line}: {notice.text}" for notice in machine.notices)


def gpu_with(inside: str, busid: str = "0000:01:00.0", attributes: str = 'dev="0" sm="90" gdr="1"') -> str:
    return (
        f'<pci busid="{busid}" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16">'
        f"<gpu {attributes}>{inside}</gpu></pci>"
    )


def net(name: str, extra: str = "") -> str:
    return f'<nic><net name="{name}" speed="200000" {extra}/></nic>'


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
    first, second = nccl_topology.read(text, name="rack")
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


# ------------------------------------------------------------------ GPUs


def test_gpu_facts_by_pci_id(below_cpu: Read) -> None:
    machine = below_cpu(
        '<pci busid="0000:01:00.0" class="0x030200" vendor="0x10de" device="0x2330" link_speed="32 GT/s" '
        'link_width="16"><gpu dev="0" sm="90" rank="0" gdr="1"/></pci>'
    )
    (gpu,) = machine.gpus
    assert gpu.name == "H100-SXM5-80GB"
    assert gpu.compute_capability == 90
    assert gpu.memory_bytes == 80 * 2**30
    assert gpu.gdr is True


@pytest.mark.parametrize(("gcn", "name"), [("906", "gfx906"), ("910", "gfx90a"), ("gfx942", "gfx942")])
def test_amd_gpus(below_cpu: Read, gcn: str, name: str) -> None:
    machine = below_cpu(gpu_with("", attributes=f'dev="0" sm="120" gcn="{gcn}" gdr="0"'))
    (gpu,) = machine.gpus
    assert gpu.name == f"AMD {name}"
    assert gpu.compute_capability is None
    assert gpu.gdr is False


@pytest.mark.parametrize(
    ("devs", "order"),
    [((1, 0, 2), "bac"), ((5, 9, 7), "acb"), ((0, 0, 1), "abc"), ((2, None, 1), "abc")],
)
def test_indexes_follow_dev_where_it_is_whole(
    below_cpu: Read, devs: tuple[int | None, ...], order: str
) -> None:
    body = "".join(
        gpu_with("", f"0000:0{letter}:00.0", f'dev="{dev}" sm="90"' if dev is not None else 'sm="90"')
        for letter, dev in zip("abc", devs, strict=True)
    )
    gpus = below_cpu(body).gpus
    assert [gpu.index for gpu in gpus] == [0, 1, 2]
    assert "".join(gpu.busid[6] for gpu in gpus) == order


def test_partitions_of_one_gpu(below_cpu: Read) -> None:
    machine = below_cpu(
        '<pci busid="0000:01:00.0" class="0x030200" link_speed="8 GT/s" link_width="8">'
        '<gpu dev="0" sm="90"/><gpu dev="1" sm="90"/></pci>'
    )
    assert [gpu.id for gpu in machine.gpus] == ["0000:01:00.0", "0000:01:00.0#2"]
    assert not machine.notices


def test_c2c_is_megabytes_per_second_times_links(below_cpu: Read) -> None:
    machine = below_cpu(gpu_with('<c2c bw="44712" count="10"/>'))
    assert machine.gpus[0].c2c_bytes_per_s == pytest.approx(447.12e9)


# ------------------------------------------------------------------ NICs


def test_nic_facts(below_cpu: Read) -> None:
    machine = below_cpu(
        '<pci busid="0000:01:00.0" class="0x020700" vendor="0x15b3" device="0x1021" '
        'link_speed="32.0 GT/s PCIe" link_width="16"><nic><net name="mlx5_0" dev="0" speed="400000" port="2" '
        'guid="0xabc" gdr="1"/></nic></pci>'
    )
    (nic,) = machine.nics
    assert (nic.id, nic.name, nic.model, nic.port, nic.guid, nic.gdr) == (
        *("mlx5_0", "mlx5_0", "ConnectX-7", 2, "0xabc", True),
    )
    assert nic.speed_bytes_per_s == 50e9


def test_two_ports_of_one_function_are_two_nics(below_cpu: Read) -> None:
    machine = below_cpu(
        NIC.format("0000:01:00.0", '<nic><net name="mlx5_0" speed="1"/><net name="mlx5_1" port="2"/></nic>')
    )
    assert [(nic.id, nic.busid) for nic in machine.nics] == [
        ("mlx5_0", "0000:01:00.0"),
        ("mlx5_1", "0000:01:00.0"),
    ]
    assert machine.nic("01:00.0").name == "mlx5_0"
    assert machine.nics[1].speed_bytes_per_s is None


def test_a_nic_right_below_the_cpu(below_cpu: Read) -> None:
    machine = below_cpu(NIC.format("0000:01:00.0", net("mlx5_0")) + net("virbr0", 'port="0"'))
    nic = machine.nic("virbr0")
    assert (nic.busid, nic.parent, nic.port, nic.link) == (None, "cpu0", 0, PcieLink())


def test_same_names_and_no_names(below_cpu: Read) -> None:
    machine = below_cpu(
        NIC.format("0000:01:00.0", net("same"))
        + "\n"
        + NIC.format("0000:02:00.0", net("same", 'port="2"'))
        + NIC.format("0000:03:00.0", "<nic/>")
        + "<nic/>"
        + net("nic3")
    )
    assert [(nic.id, nic.name) for nic in machine.nics] == [
        ("0000:01:00.0", "same"),
        ("0000:02:00.0", "same"),
        ("0000:03:00.0", "nic2"),
        ("nic3'", "nic3'"),
        ("nic3", "nic3"),
    ]
    assert "2 NICs are called 'same'" in texts(machine)


def test_a_nic_named_as_another_part(below_cpu: Read) -> None:
    machine = below_cpu(NIC.format("0000:01:00.0", net("cpu0")) + net("cpu0"))
    ids = [part.id for part in machine]
    assert len(ids) == len(set(ids)) == 3


def test_nic_indexes_follow_dev(below_cpu: Read) -> None:
    machine = below_cpu(net("b", 'dev="1"') + net("a", 'dev="0"'))
    assert [nic.name for nic in machine.nics] == ["a", "b"]


def test_merged_nics_keep_their_name(below_cpu: Read) -> None:
    machine = below_cpu(
        NIC.format("0000:01:00.0", net("mlx5_0", 'dev="0" net="0"'))
        + NIC.format("0000:02:00.0", net("mlx5_1", 'dev="1" net="0"'))
        + net("mlx5_0+mlx5_1", 'dev="2"')
    )
    assert [nic.name for nic in machine.nics] == ["mlx5_0", "mlx5_1", "mlx5_0+mlx5_1"]
    assert not machine.notices


@pytest.mark.parametrize("speed", ["-1", "0"])
def test_a_speed_that_says_nothing(below_cpu: Read, speed: str) -> None:
    machine = below_cpu(f'<nic><net name="eth0" speed="{speed}"/></nic>')
    assert machine.nics[0].speed_bytes_per_s is None
    assert "would count 10 Gb/s" in texts(machine)


def test_a_nic_in_a_bridge(below_cpu: Read) -> None:
    machine = below_cpu(
        '<pci busid="0000:01:00.0" class="0x060400" link_speed="8 GT/s" link_width="8">'
        + net("mlx5_0")
        + "</pci>"
    )
    assert (machine.nics[0].parent, machine.nics[0].busid) == ("0000:01:00.0", None)


# ------------------------------------------------------------------ NVLink and xGMI


def link(target: str, count: int | str = 4, tclass: str = "0x030200", tag: str = "nvlink") -> str:
    return f'<{tag} target="{target}" count="{count}" tclass="{tclass}"/>'


def two_gpus(left: str, right: str) -> str:
    return gpu_with(left, "0000:01:00.0") + "\n" + gpu_with(right, "0000:02:00.0", 'dev="1" sm="90"')


def test_nvlink_both_ways(below_cpu: Read) -> None:
    machine = below_cpu(two_gpus(link("0000:02:00.0"), link("0000:01:00.0")))
    assert [(item.gpu, item.target, item.count, item.kind) for item in machine.nvlinks] == [
        ("0000:01:00.0", "0000:02:00.0", 4, PeerKind.GPU),
        ("0000:02:00.0", "0000:01:00.0", 4, PeerKind.GPU),
    ]
    assert machine.nvlinks[0].bytes_per_s == 100e9
    assert not machine.notices


def test_nvlink_one_sided(below_cpu: Read) -> None:
    machine = below_cpu(two_gpus(link("0000:02:00.0"), ""))
    assert "3: NVLink from GPU 0000:01:00.0 to 0000:02:00.0 has no way back" in texts(machine)


def test_nvlink_unequal(below_cpu: Read) -> None:
    machine = below_cpu(two_gpus(link("0000:02:00.0", 1), link("0000:01:00.0", 12)))
    (notice,) = machine.notices
    assert notice.line == 3
    assert "counts 1 NVLink links" in notice.text
    assert "counts 12 back" in notice.text


def test_nvlink_dangling(below_cpu: Read) -> None:
    machine = below_cpu(gpu_with(link("0000:99:00.0")))
    assert machine.nvlinks[0].kind is PeerKind.UNKNOWN
    assert "3: <nvlink> from GPU 0000:01:00.0 leads to '0000:99:00.0', which is not in the file" in texts(
        machine
    )


@pytest.mark.parametrize(
    ("tclass", "kind"),
    [("0x068000", PeerKind.SWITCH), ("0x068001", PeerKind.CPU), ("", PeerKind.UNKNOWN)],
)
def test_nvlink_to_other_things(below_cpu: Read, tclass: str, kind: PeerKind) -> None:
    machine = below_cpu(gpu_with(link("0000:c1:00.0", 5, tclass)))
    assert (machine.nvlinks[0].kind, machine.nvlinks[0].target) == (kind, "0000:c1:00.0")
    assert not machine.notices


def test_nvlink_twice_to_one_peer_adds_up(below_cpu: Read) -> None:
    machine = below_cpu(gpu_with(link("0000:c1:00.0", 2, "0x068000") + link("0000:c1:00.0", 3, "0x068000")))
    assert [item.count for item in machine.nvlinks] == [5]
    assert machine.nvlinks[0].bytes_per_s == 125e9


@pytest.mark.parametrize(("count", "word"), [("many", "not a number"), ("0", "no sensible count")])
def test_nvlink_with_a_bad_count(below_cpu: Read, count: str, word: str) -> None:
    machine = below_cpu(gpu_with(link("0000:c1:00.0", count, "0x068000")))
    assert machine.nvlinks[0].count == 1
    assert word in texts(machine)


def test_nvlink_without_target(below_cpu: Read) -> None:
    machine = below_cpu(gpu_with('<nvlink count="4"/>'))
    assert not machine.nvlinks
    assert "names no target" in texts(machine)


@pytest.mark.parametrize(("gcn", "rate"), [("906", 24e9), ("910", 36e9), ("gfx942", 48e9)])
def test_xgmi(below_cpu: Read, gcn: str, rate: float) -> None:
    def gpu(own: str, other: str, dev: int) -> str:
        return gpu_with(link(other, 2, "0x038000", "xgmi"), own, f'dev="{dev}" sm="104" gcn="{gcn}" gdr="1"')

    machine = below_cpu(gpu("0000:01:00.0", "0000:02:00.0", 0) + gpu("0000:02:00.0", "0000:01:00.0", 1))
    assert {(item.technology, item.count, item.bytes_per_s) for item in machine.nvlinks} == {
        ("xGMI", 2, 2 * rate)
    }
    assert not machine.notices


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
