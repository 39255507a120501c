from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from gdviz.errors import GdvizError, UnknownDeviceError
from gdviz.machine import LinkLayer, Machine, PcieLink, PciIds
from gdviz.model import (
    DEFAULTS,
    SIZES,
    DataPath,
    Endpoint,
    Fabric,
    Op,
    PlaceKind,
    Workload,
    predict,
    sweep,
)

MIB = 1 << 20


def with_links(machine: Machine, link: PcieLink) -> Machine:
    parts = machine.parts
    return Machine(
        "changed",
        replace(
            parts,
            bridges=tuple(
                replace(bridge, link=link) if bridge.link.gen else bridge for bridge in parts.bridges
            ),
            gpus=tuple(replace(gpu, link=link) for gpu in parts.gpus),
            nics=tuple(replace(nic, link=link) for nic in parts.nics),
        ),
    )


def ends(machine: Machine) -> tuple[Endpoint, Endpoint]:
    left, right = (Endpoint(machine, machine.nics[i].id, machine.gpus[i].id) for i in (0, 4))
    return left, right


def bandwidth(machine: Machine, size: int = MIB, **more) -> float:
    return predict(*ends(machine), Workload(size_bytes=size), messages=50, **more).bandwidth_bytes_per_s


def test_halving_the_link_halves_the_ceiling(h100):
    # The link layer's share differs by 2 % between x16 and x8.
    narrow, wide = (with_links(h100, PcieLink(4, width)) for width in (8, 16))
    assert bandwidth(narrow) == pytest.approx(bandwidth(wide) / 2, rel=0.025)
    gen3, gen4 = (with_links(h100, PcieLink(gen, 8)) for gen in (3, 4))
    assert bandwidth(gen3) == pytest.approx(bandwidth(gen4) / 2, rel=1e-9)


def test_bottleneck_moves_to_the_narrowed_link(h100):
    found = predict(*ends(with_links(h100, PcieLink(4, 8))), Workload(size_bytes=MIB))
    assert found.bottleneck.name == "PCIe Gen4 x8"
    assert found.bottleneck.place.kind is PlaceKind.LINK


def test_small_packets_cost(h100):
    gen4 = with_links(h100, PcieLink(4, 16))
    small = bandwidth(gen4, constants=replace(DEFAULTS, mps_bytes=128))
    assert small / bandwidth(gen4) == pytest.approx(23.52 / 25.99, rel=0.01)


def test_mtu(h100):
    thousand, four = (bandwidth(h100, fabric=Fabric(mtu_bytes=mtu)) for mtu in (1024, 4096))
    assert thousand / four == pytest.approx((1024 / 1106) / (4096 / 4178), rel=1e-3)


def test_infiniband_has_smaller_headers(h100):
    assert bandwidth(h100, fabric=Fabric(LinkLayer.INFINIBAND)) > bandwidth(h100)


def test_twice_the_cable_adds_light_both_ways(pair):
    near, far = (
        predict(*pair, Workload(size_bytes=8), fabric=Fabric(cable_m=metres)).latency.p50
        for metres in (100.0, 200.0)
    )
    assert far - near == pytest.approx(2 * 100 * 5e-9, rel=1e-6)


def test_strict_ordering_halves_what_the_host_takes(hosts):
    strict = replace(DEFAULTS, relaxed_ordering=False)
    workload = Workload(size_bytes=MIB)
    slow = predict(*hosts, workload, constants=strict)
    assert slow.bandwidth_bytes_per_s == pytest.approx(16e9)
    assert predict(*hosts, workload).bandwidth_bytes_per_s > 40e9


def test_reads_in_flight_limit_over_a_long_round_trip(pair):
    few = replace(DEFAULTS, read_tags=32)
    found = predict(*pair, Workload(size_bytes=MIB), constants=few)
    assert found.bottleneck.name == "PCIe reads in flight"
    # 32 requests of 512 B every round trip to GPU memory: 2 x (2 links + switch) + memory.
    assert found.bandwidth_bytes_per_s == pytest.approx(32 * 512 / (2 * 205e-9 + 700e-9))


def test_a_shallow_queue_is_named(pair):
    found = predict(*pair, Workload(size_bytes=4096, depth=1))
    assert found.bottleneck.name == "Latency (depth too small)"
    assert found.bandwidth_bytes_per_s == pytest.approx(4096 / found.latency.mean)


def test_small_messages_are_limited_by_their_rate(pair):
    found = predict(*pair, Workload(size_bytes=8, depth=128, qps=16))
    assert found.bottleneck.name == "Message rate"


def test_reads_in_flight_on_a_queue_pair_are_few(pair):
    far = Fabric(cable_m=2000.0)
    read = predict(*pair, Workload(Op.READ, size_bytes=8192, depth=128), fabric=far)
    write = predict(*pair, Workload(Op.WRITE, size_bytes=8192, depth=128), fabric=far)
    assert read.bottleneck.name == "RDMA reads in flight"
    at = {stage.key: stage for stage in read.stages}
    on_the_way_s = at["wire"].end_s - at["request"].start_s
    assert on_the_way_s > 2 * 2000 * DEFAULTS.cable_s_per_m
    assert read.bandwidth_bytes_per_s == pytest.approx(16 * 8192 / on_the_way_s)
    assert write.bandwidth_bytes_per_s > 1.5 * read.bandwidth_bytes_per_s


@pytest.mark.parametrize("op", Op)
def test_sweep_holds_the_rules(pair, op):
    answers = sweep(*pair, op=op, messages=300)
    direct, staged = answers[DataPath.DIRECT], answers[DataPath.STAGED]
    assert [one.workload.size_bytes for one in direct] == list(SIZES)
    for some in (direct, staged):
        times = [one.latency.p50 for one in some]
        assert times == sorted(times)
        rates = [one.bandwidth_bytes_per_s for one in some]
        assert all(later > before * 0.98 for before, later in pairwise(rates))
    for fast, slow in zip(direct, staged, strict=True):
        assert fast.latency.p50 < slow.latency.p50
        assert fast.bandwidth_bytes_per_s > slow.bandwidth_bytes_per_s
        assert slow.cpu_share / slow.messages_per_s > 5 * fast.cpu_share / fast.messages_per_s
    for one in (*direct, *staged):
        assert one.latency.p50 <= one.latency.p99 <= one.latency.p999 <= one.latency.max
        assert one.bottleneck == min(one.ceilings, key=lambda ceiling: ceiling.bytes_per_s)
        assert one.loads.keys() == one.capacities.keys()
        assert all(one.loads[place] <= one.capacities[place] * (1 + 1e-9) for place in one.loads)
        assert one.messages_per_s == pytest.approx(one.bandwidth_bytes_per_s / one.workload.size_bytes)
        assert one.cpu_share <= 2.0 + 1e-9


def test_same_seed_same_answer(pair):
    one, same, other = (predict(*pair, Workload(), seed=seed) for seed in (1, 1, 2))
    assert one == same
    assert one.latency != other.latency


def test_cpu_makes_the_tail(pair):
    direct, staged = (predict(*pair, Workload(path=path, size_bytes=8)).latency for path in DataPath)
    assert staged.p99 - staged.p50 > 3 * (direct.p99 - direct.p50)


def test_crossing_sockets_can_turn_the_tables():
    from gdviz.machine import reference_machine

    machine = reference_machine("pcie-a30")
    far = Endpoint(machine, machine.nics[0].id, machine.gpus[1].id)
    direct, staged = (predict(far, far, Workload(path=path, size_bytes=4 * MIB)) for path in DataPath)
    assert staged.bandwidth_bytes_per_s > 1.5 * direct.bandwidth_bytes_per_s


def test_host_memory_goes_both_ways(hosts):
    direct, staged = (predict(*hosts, Workload(path=path, size_bytes=MIB)) for path in DataPath)
    assert direct.bandwidth_bytes_per_s > 45e9
    assert staged.bottleneck.name == "CPU work of staging"
    assert staged.bandwidth_bytes_per_s < DEFAULTS.memcpy_bytes_per_s


def test_host_memory_of_the_other_socket_is_further(h100):
    nic = h100.nics[0].id
    here, there = (Endpoint(h100, nic, numa=numa) for numa in (0, 1))
    times = [predict(end, here, Workload(size_bytes=8)).latency.p50 for end in (here, there)]
    assert times[1] - times[0] == pytest.approx(2 * (DEFAULTS.socket_s + DEFAULTS.root_complex_s), rel=0.01)


def test_unknown_parts_are_said(h100):
    with pytest.raises(UnknownDeviceError):
        predict(Endpoint(h100, "no such nic"), Endpoint(h100, h100.nics[0].id), Workload())


def test_assumptions_are_named(h100):
    nics = tuple(replace(nic, speed_bytes_per_s=None, link=PcieLink()) for nic in h100.nics)
    bare = Machine("bare", replace(h100.parts, nics=nics))
    names = {ceiling.name for ceiling in predict(*ends(bare), Workload()).ceilings}
    # What a ConnectX-7 has; of a NIC of no known model, what NCCL takes.
    assert {"PCIe Gen5 x16 (assumed)", "NIC port 400 Gb/s (assumed)"} <= names
    nics = tuple(replace(nic, pci=PciIds(), model="NIC") for nic in nics)
    bare = Machine("bare", replace(h100.parts, nics=nics))
    names = {ceiling.name for ceiling in predict(*ends(bare), Workload()).ceilings}
    assert {"PCIe Gen3 x16 (assumed)", "NIC port 100 Gb/s (assumed)"} <= names


@pytest.mark.parametrize("path", DataPath)
@pytest.mark.parametrize("size", [1, 3, 4095, 4097, 524289, 1 << 30])
def test_odd_sizes(pair, path, size):
    found = predict(*pair, Workload(path=path, size_bytes=size, depth=2), messages=20)
    assert 0 < found.bandwidth_bytes_per_s < 50e9
    assert found.latency.p50 > size / 50e9


@pytest.mark.parametrize("wrong", [{"size_bytes": 0}, {"size_bytes": 2**31 + 1}, {"depth": 0}, {"qps": 5000}])
def test_workloads_that_no_nic_takes(wrong):
    with pytest.raises(GdvizError, match="It goes from"):
        Workload(**wrong)


@pytest.mark.parametrize("wrong", [{"mtu_bytes": 0}, {"switches": -1}, {"cable_m": float("nan")}])
def test_fabrics_that_cannot_be(wrong):
    with pytest.raises(GdvizError, match="It goes from"):
        Fabric(**wrong)


def test_ceilings_are_listed_once(pair):
    for path in DataPath:
        found = predict(*pair, Workload(path=path, size_bytes=MIB), messages=10).ceilings
        assert [one.bytes_per_s for one in found] == sorted(one.bytes_per_s for one in found)
        assert len({(one.name, one.place) for one in found}) == len(found)
        links = [one.bytes_per_s for one in found if one.name.startswith("PCIe Gen5")]
        # A lane that carries requests only is no ceiling of its own.
        assert max(links) < 60e9
