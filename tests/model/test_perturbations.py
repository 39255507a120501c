"""Other hardware moves the prediction the right way, by the right factor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from gdviz.machine import Machine, PcieLink, reference_machine
from gdviz.model import DEFAULTS, Constants, DataPath, Endpoint, Fabric, Op, Prediction, Workload, predict
from gdviz.model.inside import host_copy_s, host_staged_bytes_per_s
from gdviz.model.pcie import effective_bytes_per_s

MIB = 2**20
LARGE = Workload(Op.WRITE, DataPath.DIRECT, MIB, 128, 4)
SMALL = Workload(Op.WRITE, DataPath.DIRECT, 8, 1, 1)


def changed(machine: Machine, change: Callable[[PcieLink], PcieLink]) -> Machine:
    parts = machine.parts
    return Machine(
        machine.name,
        replace(
            parts,
            bridges=tuple(replace(part, link=change(part.link)) for part in parts.bridges),
            gpus=tuple(replace(part, link=change(part.link)) for part in parts.gpus),
            nics=tuple(replace(part, link=change(part.link)) for part in parts.nics),
        ),
    )


def ask(
    machine: Machine,
    work: Workload = LARGE,
    fabric: Fabric | None = None,
    constants: Constants = DEFAULTS,
    *,
    gpu: int = 0,
    host: bool = False,
) -> Prediction:
    end = Endpoint(machine, machine.nics[0].id, None if host else machine.gpus[gpu].id)
    return predict(end, end, work, fabric=fabric, constants=constants, messages=200)


def test_half_the_lanes_carry_half(h100: Machine) -> None:
    narrow = changed(h100, lambda link: replace(link, width=link.width and link.width // 2))
    full = effective_bytes_per_s(PcieLink(5, 16), MIB, writes=True)
    half = effective_bytes_per_s(PcieLink(5, 8), MIB, writes=True)
    found = ask(narrow)
    assert "PCIe Gen5 x8" in found.bottleneck.name
    assert found.bandwidth_bytes_per_s == pytest.approx(half, rel=1e-6)
    assert half / full == pytest.approx(0.5, rel=0.03)


@pytest.mark.parametrize("gen", [1, 2, 3, 4])
def test_a_slower_generation_is_the_bottleneck_at_its_own_rate(h100: Machine, gen: int) -> None:
    slower = changed(h100, lambda link: replace(link, gen=link.gen and gen))
    found = ask(slower)
    expected = effective_bytes_per_s(PcieLink(gen, 16), MIB, writes=True)
    assert found.bandwidth_bytes_per_s == pytest.approx(expected, rel=1e-6)


def test_smaller_packets_on_pcie_cost_their_headers() -> None:
    machine = changed(reference_machine("hgx-h100"), lambda link: replace(link, width=link.width and 8))
    usual, small = (ask(machine, constants=replace(DEFAULTS, mps_bytes=mps)) for mps in (256, 128))
    expected = effective_bytes_per_s(PcieLink(5, 8), MIB, writes=True, mps_bytes=128)
    assert small.bandwidth_bytes_per_s == pytest.approx(expected, rel=1e-6)
    assert small.bandwidth_bytes_per_s < 0.95 * usual.bandwidth_bytes_per_s


def test_a_checksum_costs_four_bytes_a_packet() -> None:
    machine = changed(reference_machine("hgx-h100"), lambda link: replace(link, width=link.width and 8))
    plain, checked = (ask(machine, constants=replace(DEFAULTS, ecrc=ecrc)) for ecrc in (False, True))
    ratio = checked.bandwidth_bytes_per_s / plain.bandwidth_bytes_per_s
    assert ratio == pytest.approx((256 + 24) / (256 + 24 + 4), rel=1e-6)


def test_the_other_socket_is_slower_and_later() -> None:
    machine = reference_machine("pcie-a30")
    near, far = ask(machine, gpu=0), ask(machine, gpu=1)
    assert far.bandwidth_bytes_per_s < 0.75 * near.bandwidth_bytes_per_s
    assert "peer-to-peer" in far.bottleneck.name
    small_near, small_far = ask(machine, SMALL, gpu=0), ask(machine, SMALL, gpu=1)
    # The NIC reads GPU memory there and back at one end, and writes it at the other.
    assert small_far.latency.p50 - small_near.latency.p50 >= 2 * DEFAULTS.socket_s


def test_a_small_mtu_costs_its_headers(h100: Machine) -> None:
    usual, small = ask(h100), ask(h100, fabric=Fabric(mtu_bytes=1024))
    ratio = small.bandwidth_bytes_per_s / usual.bandwidth_bytes_per_s
    assert ratio == pytest.approx((1024 / 1106) / (4096 / 4178), rel=1e-3)


def test_a_longer_cable_delays_both_ways(h100: Machine) -> None:
    short, long = (ask(h100, SMALL, Fabric(cable_m=metres)) for metres in (100.0, 200.0))
    assert long.latency.p50 - short.latency.p50 == pytest.approx(2 * 100 * 5e-9, rel=0.02)
    assert ask(h100, fabric=Fabric(cable_m=200)).bandwidth_bytes_per_s == ask(h100).bandwidth_bytes_per_s


def test_a_slower_port_carries_its_share(h100: Machine) -> None:
    nics = tuple(replace(nic, speed_bytes_per_s=12.5e9) for nic in h100.nics)
    slow = Machine("slow", replace(h100.parts, nics=nics))
    ratio = ask(slow).bandwidth_bytes_per_s / ask(h100).bandwidth_bytes_per_s
    assert ratio == pytest.approx(0.25, rel=0.01)


def test_inline_spares_the_read_of_host_memory_only(h100: Machine) -> None:
    inline = replace(DEFAULTS, inline_bytes=64)
    plain, quick = (ask(h100, SMALL, constants=c, host=True) for c in (DEFAULTS, inline))
    keys = [{stage.key for stage in each.stages} for each in (plain, quick)]
    assert keys[0] - keys[1] == {"dma_read"}
    assert quick.latency.p50 < plain.latency.p50
    assert ask(h100, SMALL, constants=inline) == ask(h100, SMALL)
    assert ask(h100, replace(SMALL, size_bytes=65), constants=inline, host=True) == ask(
        h100, replace(SMALL, size_bytes=65), host=True
    )


def test_blueflame_spares_the_fetch(h100: Machine) -> None:
    plain, quick = (ask(h100, SMALL, constants=replace(DEFAULTS, blueflame=on)) for on in (False, True))
    fetch = next(stage for stage in plain.stages if stage.key == "wqe_fetch")
    assert plain.latency.p50 - quick.latency.p50 == pytest.approx(fetch.duration_s, rel=0.05)


def test_gdrcopy_helps_small_staged_messages_and_spoils_large_ones(h100: Machine) -> None:
    gdrcopy = replace(DEFAULTS, gdrcopy_bytes=MIB)

    def p50(size: int, constants: Constants) -> float:
        work = Workload(Op.WRITE, DataPath.STAGED, size, 1, 1)
        return ask(h100, work, constants=constants).latency.p50

    assert p50(8, gdrcopy) < 0.6 * p50(8, DEFAULTS)
    # Reading GPU memory through the BAR is slow: the trap of the other direction.
    assert p50(256 * 1024, gdrcopy) > 5 * p50(256 * 1024, DEFAULTS)


def test_a_virtual_function_lowers_the_rate(h100: Machine) -> None:
    nics = tuple(replace(nic, pci=replace(nic.pci, device=0x101E)) for nic in h100.nics)
    virtual = Machine("vm", replace(h100.parts, nics=nics))
    tiny = Workload(Op.WRITE, DataPath.DIRECT, 8, 128, 16)
    assert ask(virtual, tiny).messages_per_s == pytest.approx(1 / DEFAULTS.vf_message_s, rel=0.01)
    assert ask(h100, tiny).messages_per_s > 3 / DEFAULTS.vf_message_s


def test_strict_ordering_is_a_ceiling_of_the_root_complex_only(h100: Machine) -> None:
    strict = replace(DEFAULTS, relaxed_ordering=False)
    assert ask(h100, constants=strict).bandwidth_bytes_per_s == ask(h100).bandwidth_bytes_per_s
    assert (
        ask(h100, constants=strict, host=True).bandwidth_bytes_per_s < 0.5 * ask(h100).bandwidth_bytes_per_s
    )


def test_copies_inside_a_node_go_at_the_rate_of_the_link(h100: Machine) -> None:
    size = 256 * MIB
    for to_gpu in (True, False):
        seconds = host_copy_s(h100, h100.gpus[0], size, to_gpu=to_gpu)
        expected = effective_bytes_per_s(PcieLink(5, 16), size, reads=to_gpu, writes=not to_gpu)
        assert size / seconds == pytest.approx(expected, rel=1e-3)
    staged = host_staged_bytes_per_s(h100, *h100.gpus[:2])
    larger = host_staged_bytes_per_s(h100, *h100.gpus[:2], constants=replace(DEFAULTS, chunk_bytes=64 * MIB))
    assert staged < 0.8 * larger < expected


def test_a_receiver_works_for_each_message_it_is_sent(h100: Machine) -> None:
    write, send = (ask(h100, replace(LARGE, op=op)) for op in (Op.WRITE, Op.SEND))
    assert send.cpu_share == pytest.approx(2 * write.cpu_share, rel=0.01)


def test_a_program_in_python_is_late_once_a_message(h100: Machine) -> None:
    python = replace(DEFAULTS, program_s=DEFAULTS.python_program_s)
    late_s = DEFAULTS.python_program_s - DEFAULTS.program_s
    plain, slow = (ask(h100, SMALL, constants=c).latency.p50 for c in (DEFAULTS, python))
    assert slow - plain == pytest.approx(late_s, rel=0.1)
    assert ask(h100, constants=python).bandwidth_bytes_per_s == ask(h100).bandwidth_bytes_per_s
