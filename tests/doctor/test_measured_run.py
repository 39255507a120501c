from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gdviz.doctor.calibrate import calibrate
from gdviz.doctor.measured_run import measured_in
from gdviz.errors import GdvizError
from gdviz.machine import LinkLayer, reference_machine
from gdviz.model import DEFAULTS, DataPath, Endpoint, Fabric, Op, Workload, predict, timeline

SIZES = [2**power for power in range(1, 23)]
BANDWIDTH = " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
LATENCY = (
    " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]"
    "   99% percentile[usec]   99.9% percentile[usec]\n"
)
Write = Callable[..., Path]


@pytest.fixture
def end() -> Endpoint:
    machine = reference_machine("hgx-h100")
    return Endpoint(machine, machine.nics[0].id, machine.gpus[0].id)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(*tables: str) -> Path:
        file = tmp_path / "measured.txt"
        file.write_text("\n".join(tables))
        return file

    return write


def table(title: str, rows: dict[int, float], **setup: str) -> str:
    names = {"mtu": "Mtu", "link": "Link type", "order": "PCIe relax order", "connection": "Connection type"}
    head = "".join(f" {names[name]:16}: {value}\n" for name, value in setup.items())
    if "Latency" in title:
        body = [f" {size} 1000 {us} {us} {us} {us} 0.0 {us} {us}\n" for size, us in rows.items()]
        return f"                    {title} Test\n{head}{LATENCY}{''.join(body)} ------\n"
    body = [f" {size}  5000   {rate:.6f}  {rate:.6f}  1.0\n" for size, rate in rows.items()]
    return f"                    {title} Test\n{head}{BANDWIDTH}{''.join(body)} ------\n"


def test_points_of_all_tables(write: Write) -> None:
    file = write(
        table("RDMA_Write BW", {64: 1.0, 128: 2.0}, mtu="1024[B]", link="IB", order="OFF"),
        table("RDMA_Read Latency", {64: 3.0}, mtu="1024[B]"),
        table("Send Latency", {64: 1.5}),
    )
    run = measured_in(file)
    assert [(p.workload.op, p.workload.size_bytes) for p in run.points] == [
        (Op.WRITE, 64),
        (Op.WRITE, 128),
        (Op.READ, 64),
        (Op.SEND, 64),
    ]
    assert [p.bandwidth_bytes_per_s for p in run.points] == pytest.approx([1.25e8, 2.5e8, None, None])
    read, send = run.points[2:]
    assert (read.latency_s, read.one_way_s) == (pytest.approx(3e-6), None)
    assert (send.latency_s, send.one_way_s) == (None, pytest.approx(1.5e-6))
    assert (run.mtu_bytes, run.link_layer, run.strict_ordering) == (1024, LinkLayer.INFINIBAND, True)


def test_the_wire_is_the_runs_own(write: Write, end: Endpoint) -> None:
    """A sweep with another MTU is no reason to change a constant."""
    work = Workload(Op.WRITE, DataPath.DIRECT, 8, 128, 1)
    rates = {
        size: predict(
            end, end, replace(work, size_bytes=size), fabric=Fabric(mtu_bytes=1024), messages=20
        ).bandwidth_bytes_per_s
        * 8e-9
        for size in SIZES
    }
    found = calibrate(write(table("RDMA_Write BW", rates, mtu="1024[B]", link="Ethernet")), end, end)
    assert found.before.largest < 1e-3
    assert found.held_out.largest < 1e-3
    other = calibrate(
        write(table("RDMA_Write BW", rates, mtu="1024[B]")), end, end, fabric=Fabric(mtu_bytes=4096)
    )
    assert other.before.largest > 0.05


def test_strict_ordering_is_taken_over(write: Write, end: Endpoint) -> None:
    host = replace(end, gpu=None)
    strict = replace(DEFAULTS, relaxed_ordering=False)
    rates = {
        size: predict(
            host, host, Workload(size_bytes=size), constants=strict, messages=20
        ).bandwidth_bytes_per_s
        * 8e-9
        for size in SIZES
    }
    found = calibrate(write(table("RDMA_Write BW", rates, order="OFF")), host, host, fit=("qp_message_s",))
    assert not found.constants.relaxed_ordering
    assert found.held_out.largest < 1e-3


@pytest.mark.parametrize("op", [Op.WRITE, Op.SEND])
def test_half_a_round_trip_ends_where_the_far_side_knows(write: Write, end: Endpoint, op: Op) -> None:
    """Sizes up to 4 MiB: half of a large message's way there and back is once its time, not twice."""
    slow = replace(DEFAULTS, program_s=0.9e-6)
    rows = {}
    for size in SIZES:
        stages = timeline(end, end, Workload(op, DataPath.DIRECT, size, 1, 1), constants=slow)
        arrived = next(
            stage.end_s for stage in stages if stage.key == "dma_write" and stage.side.value == "remote"
        )
        there = [stage.end_s for stage in stages if stage.side.value == "remote"]
        assert max(there) >= arrived
        rows[size] = round((max(there) + (DEFAULTS.poll_s if op is Op.WRITE else 0)) * 1e6, 6)
    title = "RDMA_Write Latency" if op is Op.WRITE else "Send Latency"
    found = calibrate(write(table(title, rows)), end, end, fit=("program_s",))
    assert found.constants.program_s == pytest.approx(0.9e-6, rel=0.01)
    assert found.held_out.largest < 0.01


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ([table("RDMA_Write BW", {64: 1.0, 256: 2.0, 128: 2.0})], "line 5: the sizes do not ascend, 128"),
        (
            [
                table("RDMA_Write BW", {64: 1.0}, mtu="1024[B]"),
                table("RDMA_Read BW", {64: 1.0}, mtu="4096[B]"),
            ],
            r"differ in mtu: 1024 \(line 1\), 4096 \(line \d+\)",
        ),
        ([table("RDMA_Write Bidirectional BW", {64: 1.0})], "one direction"),
        ([table("Send BW", {64: 1.0}, connection="UD")], "one direction"),
        ([table("RDMA_Write BW", {})], "no reader knows|no table of perftest"),
        ([table("RDMA_Write BW", dict.fromkeys(SIZES, 900.0))], "port carries 50.0 GB/s"),
        ([table("RDMA_Write BW", dict.fromkeys(SIZES[15:], 0.00001))], "the model expects"),
    ],
)
def test_what_cannot_be_compared(write: Write, end: Endpoint, tables: list[str], said: str) -> None:
    with pytest.raises(GdvizError, match=said) as caught:
        calibrate(write(*tables), end, end)
    assert "\n" not in str(caught.value)


def test_one_direction_is_used_where_both_are_there(write: Write) -> None:
    file = write(table("RDMA_Write Bidirectional BW", {64: 1.0}), table("RDMA_Write BW", {128: 1.0}))
    assert [point.workload.size_bytes for point in measured_in(file).points] == [128]
