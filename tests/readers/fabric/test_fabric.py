"""Readers of the RDMA fabric's tools."""

from __future__ import annotations

import json

import pytest

from gdviz.readers import open_text
from gdviz.readers.fabric import (
    Counters,
    DevInfos,
    GidTable,
    IbStat,
    RdmaLinks,
    RdmaTopo,
    counters,
    ibstat,
    ibv_devinfo,
    rdma_link,
    rdma_topo,
    show_gids,
)

IBSTAT = """\
CA 'mlx5_0'
\tCA type: MT4129
\tNumber of ports: 1
\tFirmware version: 28.39.1
\tNode GUID: 0x00000000000000a1
\tPort 1:
\t\tState: Active
\t\tPhysical state: LinkUp
\t\tRate: 400
\t\tBase lid: 311
\t\tLink layer: InfiniBand
CA 'mlx5_1'
\tCA type: MT4123
\tNumber of ports: 1
\tPort 1:
\t\tState: Down
\t\tPhysical state: Disabled
\t\tRate: 40
\t\tLink layer: Ethernet
"""

DEVINFO = """\
hca_id:\tmlx5_0
\ttransport:\t\t\tInfiniBand (0)
\tfw_ver:\t\t\t\t28.38.1
\tvendor_part_id:\t\t\t4129
\tmax_mr_size:\t\t\t0xffffffffffffffff
\t\tport:\t1
\t\t\tstate:\t\t\tPORT_ACTIVE (4)
\t\t\tmax_mtu:\t\t4096 (5)
\t\t\tactive_mtu:\t\t1024 (3)
\t\t\tlink_layer:\t\tEthernet
\t\t\tactive_width:\t\t4X (2)
\t\t\tactive_speed:\t\t25.0 Gbps (32)
\t\t\tGID[  0]:\t\tfe80:0000:0000:0000:0000:00ff:fe00:0001, RoCE v1
\t\t\tGID[  3]:\t\t::ffff:10.0.0.1, RoCE v2
"""

GIDS = """\
DEV\tPORT\tINDEX\tGID\t\t\t\t\tIPv4  \t\tVER\tDEV
---\t----\t-----\t---\t\t\t\t\t------------  \t---\t---
mlx5_0\t1\t0\tfe80:0000:0000:0000:0000:00ff:fe00:0001\t\t\tv1\tens6np0
mlx5_0\t1\t3\t0000:0000:0000:0000:0000:ffff:0a00:0001\t10.0.0.1  \tv2\tens6np0
n_gids_found=2
"""


def test_ibstat() -> None:
    (reading,) = open_text(IBSTAT).readings
    facts = reading.facts
    assert isinstance(facts, IbStat)
    first, second = facts.adapters
    assert (first.name, first.type, first.firmware, first.line) == ("mlx5_0", "MT4129", "28.39.1", 1)
    (port,) = first.ports
    assert (port.state, port.physical, port.link_layer, port.lid) == ("Active", "LinkUp", "InfiniBand", 311)
    assert port.rate_bytes_per_s == 50e9
    (down,) = second.ports
    assert (down.state, down.rate_bytes_per_s, down.state_line, down.rate_line) == ("Down", 5e9, 16, 18)
    assert reading.cite(down.state_line).text == "State: Down"
    assert not reading.truncated


def test_ibstat_that_gave_up() -> None:
    reading = ibstat.read(IBSTAT + "ibpanic: [7] main: stat of IB device 'mlx5_2' failed: No such file\n")
    assert reading.truncated
    assert [notice.line for notice in reading.notices] == [20]


def test_ibstat_cut_before_a_port() -> None:
    assert ibstat.read(IBSTAT[: IBSTAT.rindex("\tPort 1")]).truncated


def test_ibstat_with_spaces_for_tabs() -> None:
    facts = ibstat.read(IBSTAT.replace("\t", "        ")).facts
    assert isinstance(facts, IbStat)
    assert [adapter.ports[0].state for adapter in facts.adapters] == ["Active", "Down"]


def test_ibv_devinfo() -> None:
    (reading,) = open_text(DEVINFO).readings
    facts = reading.facts
    assert isinstance(facts, DevInfos)
    (device,) = facts.devices
    assert (device.name, device.firmware, device.vendor_part_id) == ("mlx5_0", "28.38.1", 4129)
    (port,) = device.ports
    assert (port.active_mtu_bytes, port.max_mtu_bytes, port.mtu_line) == (1024, 4096, 9)
    assert port.rate_bytes_per_s == 12.5e9
    assert [(gid.index, gid.version) for gid in port.gids] == [(0, "v1"), (3, "v2")]
    assert port.state.startswith("PORT_ACTIVE")
    assert ibv_devinfo.read(DEVINFO[: DEVINFO.index("\t\tport")]).truncated


def test_show_gids() -> None:
    (reading,) = open_text(GIDS).readings
    facts = reading.facts
    assert isinstance(facts, GidTable)
    local, routed = facts.rows
    assert local.link_local
    assert not routed.link_local
    assert (routed.index, routed.ipv4, routed.version, routed.netdev) == (3, "10.0.0.1", "v2", "ens6np0")
    assert routed.line == 4
    assert show_gids.read("\n".join(GIDS.splitlines()[:3]) + "\nn_gids_found=2\n").truncated


def test_rdma_link() -> None:
    text = "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev ens1\n"
    text += "1/1: mlx5_1/1: state DOWN physical_state DISABLED sm_lid 0\n"
    (reading,) = open_text(text).readings
    facts = reading.facts
    assert isinstance(facts, RdmaLinks)
    assert [(link.device, link.state, link.netdev) for link in facts.links] == [
        ("mlx5_0", "ACTIVE", "ens1"),
        ("mlx5_1", "DOWN", ""),
    ]
    assert not rdma_link.looks_like("the state of things/1 is good\n")


@pytest.mark.parametrize(
    "form",
    [
        "FAIL ACS for cx_switch 0009:02:00.0 0011101 != xx110x1, 0x1d != 0x19\n",
        "FAIL\tACS for cx_switch 0009:02:00.0 has incorrect values 0011101 != xx110x1, (0x1d != 0x19)\n",
    ],
)
def test_rdma_topo_check(form: str) -> None:
    text = "OK\tAll ConnectX DMA functions have correct PCI topology\n" + form
    text += "FAIL Kernel iommu_group for DMA 0009:03:00.0 and GPU 0009:06:00.0 are not equal\n"
    (reading,) = open_text(text).readings
    facts = reading.facts
    assert isinstance(facts, RdmaTopo)
    acs, groups = facts.failures
    assert len(facts.checks) == 3
    assert (acs.subject, acs.role, acs.busids) == ("acs", "cx_switch", ("0009:02:00.0",))
    assert (acs.actual, acs.wanted, acs.line) == ("0011101", "xx110x1", 2)
    assert (groups.subject, groups.busids) == ("iommu-group", ("0009:03:00.0", "0009:06:00.0"))


def test_rdma_topo_json_and_listing() -> None:
    item = {
        "rdma_nic_pf_bdf": "0000:07:00.0",
        "rdma_dma_bdf": "0000:03:00.0",
        "gpu_bdf": "0000:06:00.0",
        "subsystems": {"0000:07:00.0": {"infiniband": ["mlx5_0"]}},
        "numa_node": 3,
    }
    (reading,) = open_text(json.dumps([item], indent=4)).readings
    facts = reading.facts
    assert isinstance(facts, RdmaTopo)
    (pair,) = facts.pairs
    assert (pair.nic_busid, pair.nic_name, pair.gpu_busid, pair.numa, pair.line) == (
        "0000:07:00.0", "mlx5_0", "0000:06:00.0", 3, 3,
    )  # fmt: skip
    listing = "RDMA NIC=0000:07:00.0, GPU=0000:06:00.0, RDMA DMA Function=0000:03:00.0\n\tNUMA Node: 3\n"
    again = rdma_topo.read(listing).facts
    assert isinstance(again, RdmaTopo)
    assert again.pairs[0].data_direct_busid == "0000:03:00.0"
    assert again.pairs[0].numa == 3


def test_broken_json_of_rdma_topo_is_read_as_far_as_it_goes() -> None:
    whole = json.dumps([{"rdma_nic_pf_bdf": "0000:07:00.0", "gpu_bdf": "0000:06:00.0"}] * 2)
    reading = rdma_topo.read(whole[:-30])
    assert reading.truncated
    assert isinstance(reading.facts, RdmaTopo)
    assert len(reading.facts.pairs) == 1


@pytest.mark.parametrize(
    ("text", "device", "name", "value"),
    [
        (
            "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence:81\n",
            "mlx5_0",
            "out_of_sequence",
            81,
        ),
        ("$ ethtool -S ens1\nNIC statistics:\n     rx_prio0_pause: 7\n", "ens1", "rx_prio0_pause", 7),
        ("link mlx5_1/1 rx_write_requests 4 out_of_buffer 9\n", "mlx5_1", "out_of_buffer", 9),
        ("out_of_sequence: 5\n", "", "out_of_sequence", 5),
    ],
)
def test_counters(text: str, device: str, name: str, value: int) -> None:
    (reading,) = [reading for reading in open_text(text).readings if reading.kind == "counters"]
    assert isinstance(reading.facts, Counters)
    (counter,) = reading.facts.of(name)
    assert (counter.device, counter.value) == (device, value)


def test_counting_is_linear() -> None:
    assert not counters.looks_like("link a/1 " + "1 " * 4000 + "x\n")
