"""Each rule of the reader on the smallest file that shows it: GPUs, NICs, NVLink and xGMI."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from snippets import NIC, gpu_with, net, texts

from gdviz.machine import Machine, PcieLink, PeerKind

Read = Callable[[str], Machine]


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
