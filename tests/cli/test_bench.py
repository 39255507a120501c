"""``gdviz bench`` takes perftest's options and prints its columns; gdviz's own reader reads them again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gdviz import cli
from gdviz.cli import perftest_tables as tables
from gdviz.readers.results import perftest
from gdviz.session.bench import BandwidthRow, LatencyRow


def bench(*arguments: str, provider: str = "simulated") -> Result:
    return CliRunner().invoke(cli.main, ["bench", *arguments, "--provider", provider])


def printed(*arguments: str) -> str:
    result = bench(*arguments)
    assert result.exit_code == 0, result.output
    return result.output


def as_json(*arguments: str) -> Any:
    return json.loads(printed(*arguments, "--json"))


def refused(*arguments: str, provider: str = "simulated") -> str:
    result = bench(*arguments, provider=provider)
    assert (result.exit_code, result.stdout) == (2, "")
    return result.stderr


def test_text_is_read_again_by_our_reader() -> None:
    text = printed("ib_write_bw", "pcie-a30", "-n", "200", "-q", "2", "--use_cuda", "0")
    assert perftest.looks_like(text)
    (table,) = perftest.read(text).facts.tables
    assert (table.operation, table.setup["qps"], table.setup["device"]) == ("write bw", "2", "mlx5_0")
    (row,) = table.rows
    assert row.size_bytes == 65536
    # Printed with two digits.
    figure = as_json("write_bw", "pcie-a30", "-n", "200", "-q", "2", "--use_cuda", "0")["results"]
    assert row.bandwidth_bytes_per_s == pytest.approx(figure["BW_average"] * 2**20, rel=1e-4)
    assert figure["n_iterations"] == 400


@pytest.mark.parametrize(
    ("short", "long"),
    [
        (("write",), ("ib_write_bw",)),
        (("read", "pcie-a30", "--lat"), ("read_lat", "pcie-a30")),
        (("send_lat", "pcie-a30", "--lat"), ("ib_send_lat", "pcie-a30")),
        (
            ("write", "pcie-a30", "--gpu", "0", "--nic", "mlx5_0"),
            ("write_bw", "pcie-a30", "--use_cuda", "0", "-d", "mlx5_0"),
        ),
        (("write", "pcie-a30", "--gpu", "host"), ("write_bw", "pcie-a30")),
    ],
)
def test_short_names(short: tuple[str, ...], long: tuple[str, ...]) -> None:
    assert as_json(*short, "-n", "50") == as_json(*long, "-n", "50")


def test_without_a_test_it_is_write_bw() -> None:
    assert as_json("-n", "50")["test_info"]["test"] == as_json("write_bw", "-n", "50")["test_info"]["test"]


def test_the_gpus_memory_is_named_and_the_mtu() -> None:
    info = as_json("write", "pcie-a30", "--gpu", "0", "-n", "5")["test_info"]
    assert (info["Buffers"], info["Mtu"]) == ("GPU 0", 4096)


def test_without_a_nic_it_is_the_nearest() -> None:
    assert as_json("write", "hgx-h100", "--gpu", "3", "-n", "5")["test_info"]["Device"] == "mlx5_3"
    assert as_json("write", "hgx-h100", "-n", "5")["test_info"]["Device"] == "mlx5_0"


def test_what_is_simulated_says_so() -> None:
    assert "simulated" in printed("write_bw", "pcie-a30", "-n", "5")
    assert as_json("write_bw", "pcie-a30", "-n", "5")["test_info"]["simulated"] is True


def test_units_are_perftests() -> None:
    mega = as_json("read_bw", "pcie-a30", "-n", "100")["results"]
    giga = as_json("read_bw", "pcie-a30", "-n", "100", "--report_gbits")["results"]
    assert (mega["BW_unit"], giga["BW_unit"]) == ("MB/sec", "Gb/sec")
    # Factor = 10^9 / (2^20 * 8), as perftest's help has it.
    assert mega["BW_average"] / giga["BW_average"] == pytest.approx(1e9 / (2**20 * 8), rel=1e-4)
    (table,) = perftest.read(
        json.dumps(as_json("read_bw", "pcie-a30", "-n", "100", "--report_gbits"))
    ).facts.tables
    assert table.rows[0].bandwidth_bytes_per_s == pytest.approx(giga["BW_average"] * 1e9 / 8)


def test_all_sizes() -> None:
    (table,) = perftest.read(printed("send_bw", "pcie-a30", "-a", "-n", "5")).facts.tables
    assert [row.size_bytes for row in table.rows] == [2**power for power in range(1, 24)]
    assert len(as_json("send_bw", "pcie-a30", "-a", "-n", "5")["results"]) == 23


def test_latency_has_its_own_columns_and_defaults() -> None:
    text = printed("write_lat", "pcie-a30")
    head, row = text.splitlines()[-3:-1]
    assert head.split()[:4] == ["#bytes", "#iterations", "t_min[usec]", "t_max[usec]"]
    size, count, *times = row.split()
    assert (size, count, len(times)) == ("2", "1000", 7)
    (table,) = perftest.read(text).facts.tables
    assert table.operation == "write lat"
    found = as_json("write_lat", "pcie-a30")
    assert table.rows[0].latency_s == pytest.approx(found["results"]["t_typical"] * 1e-6, abs=1e-8)
    assert table.rows[0].p99_s == pytest.approx(found["results"]["percentile_99"] * 1e-6, abs=1e-8)
    assert perftest.read(json.dumps(found)).facts.tables[0].rows[0].p99_s == pytest.approx(
        found["results"]["percentile_99"] * 1e-6
    )


def test_by_duration() -> None:
    row = printed("write_bw", "pcie-a30", "-D", "1").splitlines()[-2].split()
    assert float(row[2]) == 0
    lines = printed("read_lat", "pcie-a30", "-D", "1").splitlines()
    assert lines[-3].split() == ["#bytes", "#iterations", "t_avg[usec]", "tps", "average"]
    assert set(as_json("read_lat", "pcie-a30", "-D", "1")["results"]) == {
        "MsgSize", "n_iterations", "t_avg", "tps_average",
    }  # fmt: skip


def test_a_smaller_mtu_is_slower_and_is_named() -> None:
    small, large = (as_json("write_bw", "pcie-a30", "-n", "500", "-m", mtu) for mtu in ("256", "4096"))
    assert (small["test_info"]["Mtu"], large["test_info"]["Mtu"]) == (256, 4096)
    assert small["results"]["BW_average"] < large["results"]["BW_average"]


def test_the_report_goes_to_a_file_as_well(tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    result = bench("write_bw", "pcie-a30", "-n", "5", "--out_json_file", str(file))
    assert result.exit_code == 0
    assert "BW average[MB/sec]" in result.output
    assert json.loads(file.read_text())["results"]["n_iterations"] == 5


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("atomic_bw",), "none of write_bw, read_bw"),
        (("write_bw", "-n", "10", "-D", "1"), "Either -n or -D"),
        (("write_bw", "-a", "-D", "1"), "-a goes with a number"),
        (("write_bw", "-D", "0"), "less than a day"),
        (("write_lat", "-q", "2"), "for bandwidth"),
        (("write", "--lat", "-b"), "for bandwidth"),
        (("write_bw", "--lat"), "Either write_bw or --lat"),
        (("atomic",), "none of write_bw, read_bw"),
        (("write_bw", "-n", "4"), "not in the range"),
        (("write_bw", "-s", "much"), "much"),
        (("write_bw", "pcie-a30", "-d", "mlx5_9"), "mlx5_9"),
        (("write_bw", "pcie-a30", "--use_cuda", "7"), "7"),
        (("write_bw", "no-such-file"), "no-such-file"),
    ],
)
def test_mistakes_are_one_line(arguments: tuple[str, ...], words: str) -> None:
    said = refused(*arguments)
    assert words in said
    assert len(said.splitlines()) == 1


def test_real_nodes_take_no_machine() -> None:
    assert "no PATH" in refused("write_bw", "hgx-h100", provider="verbs")


def test_small_figures_in_gigabits_have_more_digits() -> None:
    row = BandwidthRow(2, 5000, 6e6, 5.6e6, 2.8e6)
    assert tables.bandwidth_line(row, "Gb/sec").split() == ["2", "5000", "0.048000", "0.044800", "2.800000"]
    assert tables.bandwidth_line(row, "MB/sec").split() == ["2", "5000", "5.72", "5.34", "2.800000"]


def test_rows_lie_below_their_heads() -> None:
    row = BandwidthRow(65536, 5000, 24e9, 23e9, 350000.0)
    for unit in tables.UNITS:
        head, line = tables.bandwidth_head(unit), tables.bandwidth_line(row, unit)
        for name, cell in (("#bytes", "65536"), ("#iterations", "5000"), ("MsgRate", "0.35")):
            assert abs(head.index(name) - line.index(cell)) <= 4
    times = LatencyRow(2, 1000, *(n * 1e-6 for n in (1, 2, 3, 4, 5, 6, 7)), per_s=1.0)
    head, line = tables.latency_head(False), tables.latency_line(times, False)
    names = ("t_min", "t_max", "t_typical", "t_avg", "t_stdev", "99% ", "99.9%")
    for name, cell in zip(names, ("1.00", "2.00", "3.00", "4.00", "5.00", "6.00", "7.00"), strict=True):
        assert abs(head.index(name) - line.index(cell)) <= 4, name


@pytest.mark.parametrize(("machine", "layer"), [("dgx-a100", "IB"), ("hgx-h100", "Ethernet")])
def test_the_link_is_the_one_that_is_simulated(machine: str, layer: str) -> None:
    assert f"Link type       : {layer}" in printed("write", machine, "-n", "200")


def test_a_machine_without_a_test_is_told_where_it_stands() -> None:
    assert "gdviz bench write hgx-h100" in refused("hgx-h100")
