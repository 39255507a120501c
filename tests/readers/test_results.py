from __future__ import annotations

import json
from pathlib import Path

import pytest

from gdviz.readers.results import FORMATS, Results, ResultTable, perftest

BANDWIDTH = """\
$ ib_read_bw -d mlx5_3 --use_cuda=1 -q 2 -s 65536 --report_gbits 10.0.0.9
CUDA device 0: PCIe address is 1B:00
CUDA device 1: PCIe address is 3D:00
[pid = 7, dev = 1] device name = [NVIDIA H100]
---------------------------------------------------------------------------------------
                    RDMA_Read BW Test
 Dual-port       : OFF          Device         : mlx5_3
 Number of qps   : 2            Transport type : IB
 PCIe relax order: ON
 TX depth        : 128
 Mtu             : 4096[B]
 Link type       : Ethernet
 GID index       : 3
---------------------------------------------------------------------------------------
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 65536      10000             200.00             190.50            0.363350
---------------------------------------------------------------------------------------
"""

LATENCY = """\
                    RDMA_Write Latency Test
 #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99%[usec]
 8       1000          2.10           9.80         2.31               2.35           0.20            3.05
"""

COLLECTIVE = """\
# nThread 1 nGpus 1 minBytes 1024 maxBytes 2048 step: 2(factor) warmup iters: 5 iters: 20
# Using devices
#  Rank  0 Group  0 Pid    330 on     left-1 device  0 [0000:30:00] NVIDIA A100
#  Rank  1 Group  0 Pid    331 on     right-1 device  0 [0000:31:00] NVIDIA A100
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
        1024           256     float     sum      -1    20.50    0.05    0.09      0    20.10    0.05    0.10      0
        2048           512     float     sum      -1    21.00    0.10    0.18      0      N/A     N/A     N/A    N/A
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 0.135
"""


def tables(text: str) -> tuple[ResultTable, ...]:
    (known,) = (known for known in FORMATS if known.looks_like(text))
    found = known.read(text).facts
    assert isinstance(found, Results)
    return found.tables


def test_perftest_bandwidth_with_its_setup() -> None:
    (table,) = tables(BANDWIDTH)
    assert (table.tool, table.operation, table.line) == ("perftest", "read bw", 1)
    for name, value in {
        "device": "mlx5_3", "qps": "2", "mtu": "4096", "gid_index": "3", "link_type": "Ethernet",
        "relaxed_ordering": "ON", "tx_depth": "128", "use_cuda": "1", "gpu_busid": "3D:00",
        "gpu_name": "NVIDIA H100", "report_gbits": "1",
    }.items():  # fmt: skip
        assert table.setup[name] == value, name
    (row,) = table.rows
    assert (row.size_bytes, row.line) == (65536, 16)
    assert row.bandwidth_bytes_per_s == pytest.approx(190.5e9 / 8)
    assert row.peak_bytes_per_s == pytest.approx(25e9)
    assert row.messages_per_s == pytest.approx(363350)


def test_perftest_without_gbits_counts_in_mebibytes() -> None:
    text = " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n 8 5000 9.5 8.0 1.05\n"
    (table,) = tables(text)
    assert table.rows[0].bandwidth_bytes_per_s == 8 * 2**20
    assert table.operation == "bw"


def test_perftest_latency() -> None:
    (table,) = tables(LATENCY)
    assert table.operation == "write lat"
    assert table.rows[0].latency_s == pytest.approx(2.31e-6)
    assert table.rows[0].p99_s == pytest.approx(3.05e-6)


def test_a_run_that_failed_is_told() -> None:
    text = (
        "$ ib_write_bw -d mlx5_0 --use_cuda=0 host\nCouldn't allocate MR with error=12\nfailed to create mr\n"
    )
    (table,) = tables(text)
    assert table.rows == ()
    assert [line for line, _text in table.errors] == [2, 3]
    assert table.setup["device"] == "mlx5_0"


def test_a_page_of_two_runs_gives_two_tables() -> None:
    assert [table.line for table in tables(BANDWIDTH + BANDWIDTH.replace("mlx5_3", "mlx5_9"))] == [1, 18]


def test_the_report_of_perftest_6_is_json_without_quotes() -> None:
    text = """ 8        1000
{
test_info: {
test: RDMA_Write_BW_Test,
Device: "rxe0",
Number_of_qps: 2,
PCIe_relax_order: ON,
TX_depth : 128,
Mtu: 4096,
},
results: {
MsgSize: 65536,
n_iterations: 800,
BW_peak: 102.19,
BW_average: 30.83,
MsgRate: 0.000493,
},
}
$ exit
"""
    assert perftest.looks_like(text)
    (table,) = perftest.read(text).facts.tables
    assert table.operation == "write bw"
    assert (table.setup["device"], table.setup["qps"], table.setup["relaxed_ordering"]) == ("rxe0", "2", "ON")
    (row,) = table.rows
    assert row.size_bytes == 65536
    assert row.bandwidth_bytes_per_s == pytest.approx(30.83 * 2**20)
    assert row.messages_per_s == pytest.approx(493)


def test_several_reports_in_a_list() -> None:
    one = {
        "test_info": {"test": "Send_Latency_Test"},
        "results": {"MsgSize": 2, "t_typical": 1.5, "percentile_99": 3},
    }
    tables = perftest.read(json.dumps([one, one])).facts.tables
    assert [table.rows[0].latency_s for table in tables] == pytest.approx([1.5e-6] * 2)
    assert tables[0].rows[0].p99_s == pytest.approx(3e-6)


def test_perftest_json() -> None:
    text = json.dumps(
        {
            "test_info": {"test": "RDMA_Write BW Test", "Device": "mlx5_2", "Number_of_qps": "4", "MTU": "1024[B]"},
            "results": {"MsgSize": 4096, "n_iterations": 5, "BW_peak": 90.0, "BW_average": 80.0, "MsgRate": 2.4,
                        "unit": "Gb/sec", "gbits": True},
        }
    )  # fmt: skip
    (table,) = tables(text)
    assert (table.operation, table.setup["device"], table.setup["qps"]) == ("write bw", "mlx5_2", "4")
    assert table.rows[0].size_bytes == 4096
    assert table.rows[0].bandwidth_bytes_per_s == pytest.approx(10e9)


def test_nccl_tests_with_devices() -> None:
    (table,) = tables(COLLECTIVE)
    assert (table.tool, len(table.rows), table.setup["hosts"]) == ("nccl-tests", 2, "2")
    assert [(d.rank, d.host, d.gpu, d.busid) for d in table.devices] == [
        (0, "left-1", 0, "0000:30:00.0"),
        (1, "right-1", 0, "0000:31:00.0"),
    ]
    first, second = table.rows
    assert (first.size_bytes, first.line) == (1024, 7)
    assert first.busbw_bytes_per_s == pytest.approx(0.09e9)
    assert first.latency_s == pytest.approx(20.5e-6)
    assert second.busbw_bytes_per_s == pytest.approx(0.18e9)


def test_a_row_that_log_lines_tear_apart_is_put_together() -> None:
    row = COLLECTIVE.splitlines()[6]
    torn = (
        row[:48]
        + "left-1:330:330 [0] NCCL INFO AllReduce: opCount 0 count 256\nleft-1:330:331 [0] NCCL INFO more\n"
    )
    text = COLLECTIVE.replace(row, torn + row[48:])
    (table,) = tables(text.replace("NCCL INFO", "NCCL INFO"))
    assert [r.size_bytes for r in table.rows] == [1024, 2048]
    assert table.rows[0].busbw_bytes_per_s == pytest.approx(0.09e9)


def test_old_nccl_tests_without_root() -> None:
    text = (
        "#       size         count      type   redop     time   algbw   busbw  error     time   algbw   busbw  error\n"
        "          64            16     float     sum    55.57    0.01    0.02  1e-07    54.00    0.01    0.02  1e-07\n"
        "         128            32     float     sum    60.00    0.02    0.04    N/A\n"
    )
    (table,) = tables(text)
    assert [(r.size_bytes, r.busbw_bytes_per_s) for r in table.rows] == [(64, 0.02e9), (128, 0.04e9)]


def test_nvbandwidth_matrix() -> None:
    text = (
        "Running device_to_device_memcpy_write_ce.\nmemcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)\n"
        "          0         1\n0      0.00    276.07\n1    276.19      0.00\n\nSUM device_to_device 552.26\n"
    )
    (table,) = tables(text)
    assert [(r.label, r.bandwidth_bytes_per_s) for r in table.rows] == [
        ("0 <- 1", 276.07e9),
        ("1 <- 0", 276.19e9),
    ]


def test_osu_and_gdrcopy() -> None:
    (osu,) = tables(
        "# OSU MPI-CUDA Latency Test v7.3\n# Send Buffer on DEVICE (D) and Receive Buffer on HOST (H)\n"
        "# Size          Latency (us)\n8                 3.50\n"
    )
    assert (osu.operation, osu.setup["send_buffer"], osu.setup["receive_buffer"]) == (
        "latency",
        "device",
        "host",
    )
    assert osu.rows[0].latency_s == pytest.approx(3.5e-6)
    (copies,) = tables("testing size: 131072\nwrite BW: 9638.5MB/s\nread BW: 530.1MB/s\n")
    assert [(r.label, r.size_bytes, r.bandwidth_bytes_per_s) for r in copies.rows] == [
        ("write", 131072, 9638.5e6),
        ("read", 131072, 530.1e6),
    ]


@pytest.mark.parametrize(
    ("file", "rows", "busbw"),
    [("nccl_log/timez-nccl-2.27.7-A100-gdr-disabled.log", 11, 216.6e9)],
)
def test_a_real_table_torn_by_the_log(shared: Path, file: str, rows: int, busbw: float) -> None:
    text = (shared / "corpus" / file).read_text()
    known = next(known for known in FORMATS if known.kind == "nccl_tests")
    (table,) = known.read(text).facts.tables
    assert len(table.rows) == rows
    assert table.rows[-1].busbw_bytes_per_s == busbw


def test_a_prompt_of_root_is_no_comment() -> None:
    (table,) = tables(BANDWIDTH.replace("$ ib_read_bw", "# ib_read_bw"))
    assert (table.operation, table.setup["use_cuda"]) == ("read bw", "1")


def test_a_remark_that_names_a_program_is_no_run() -> None:
    text = "# ib_write_bw of yesterday, over the other switch\n" + BANDWIDTH
    (table,) = tables(text)
    assert table.operation == "read bw"


def test_what_is_said_of_the_gpu_stands_above_the_run_that_it_belongs_to() -> None:
    said = "CUDA device 0: PCIe address is {}:00\n[pid = 7, dev = 0] device name = [NVIDIA {}]\n"
    table = BANDWIDTH[BANDWIDTH.index("-----") :]
    text = said.format("1B", "H100") + table + said.format("9D", "A100") + table
    assert [table.setup["gpu_name"] for table in tables(text)] == ["NVIDIA H100", "NVIDIA A100"]


@pytest.mark.parametrize(
    ("bus", "busid"), [("0x1a", "0000:1a:00.0"), ("0x1", "0000:01:00.0"), ("0x", None), ("0xx1", None)]
)
def test_the_bus_alone_as_old_nccl_tests_print_it(bus: str, busid: str | None) -> None:
    (table,) = tables(COLLECTIVE.replace("[0000:30:00]", f"[{bus}]"))
    assert table.devices[0].busid == busid
