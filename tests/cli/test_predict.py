from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gdviz import cli
from gdviz.cli.predict import _OPS, _PATHS
from gdviz.machine import reference_machine
from gdviz.model import DataPath, Endpoint, Op, Workload, predict


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli.main, ["predict", *arguments])


def answer(*arguments: str) -> Any:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_the_choices_are_those_of_the_model() -> None:
    assert list(DataPath) == _PATHS
    assert list(Op) == _OPS


@pytest.mark.parametrize("path", _PATHS)
@pytest.mark.parametrize("op", _OPS)
def test_json_is_what_the_model_says(path: str, op: str) -> None:
    machine = reference_machine("hgx-h100")
    end = Endpoint(machine, machine.nic(0).id, machine.gpu(0).id)
    expected = predict(end, end, Workload(Op(op), DataPath(path), 4096, 64, 2), messages=500, seed=3)
    options = [
        "--gpu",
        "0",
        "--nic",
        "0",
        "--size",
        "4KiB",
        "--depth",
        "64",
        "--qps",
        "2",
        "--messages",
        "500",
        "--seed",
        "3",
    ]
    told = answer("hgx-h100", *options, "--op", op, "--path", path)
    assert told["bandwidth_gbps"] == pytest.approx(expected.bandwidth_bytes_per_s * 8e-9, rel=1e-6)
    assert told["latency_us"]["p50"] == pytest.approx(expected.latency.p50 * 1e6, abs=1e-5)
    assert told["latency_us"]["p999"] == pytest.approx(expected.latency.p999 * 1e6, abs=1e-5)
    assert told["cpu_share"] == pytest.approx(expected.cpu_share, abs=1e-6)
    assert told["bottleneck"] == expected.bottleneck.name
    assert [stage["key"] for stage in told["stages"]] == [stage.key for stage in expected.stages]


def test_the_other_node_may_be_another_machine() -> None:
    options = ("hgx-h100", "--gpu", "0", "--nic", "0", "--size", "1MiB")
    alike = answer(*options)
    other = answer(*options, "--remote", "pcie-a30", "--remote-gpu", "1", "--remote-nic", "0")
    assert other["bandwidth_gbps"] < alike["bandwidth_gbps"] / 2


def test_the_nearest_nic_is_taken_and_host_memory_can_be_asked_for() -> None:
    assert answer("hgx-h100", "--gpu", "3") == answer("hgx-h100", "--gpu", "3", "--nic", "3")
    host = answer("hgx-h100", "--gpu", "host", "--nic", "0")
    assert not any("0000:18:00.0" in place for stage in host["stages"] for place in stage["places"])


def test_the_wire_can_be_chosen() -> None:
    options = ("hgx-h100", "--gpu", "0", "--nic", "0", "--size", "1MiB")
    usual = answer(*options)
    small = answer(*options, "--mtu", "1024")
    long = answer(*options, "--cable", "2010")
    # RoCEv2 carries 82 bytes round each packet.
    expected = (1024 / 1106) / (4096 / 4178)
    assert small["bandwidth_gbps"] / usual["bandwidth_gbps"] == pytest.approx(expected, rel=1e-3)
    # A write crosses the cable there and back, and a long one once more before its first acknowledgement.
    assert long["latency_us"]["p50"] - usual["latency_us"]["p50"] == pytest.approx(4 * 2000 * 5e-3, rel=0.02)


def test_people_get_tables() -> None:
    told = run("hgx-h100", "--gpu", "0", "--size", "8").stdout
    for word in ("bandwidth", "latency p99.9", "of one core", "Doorbell", "NIC port 400 Gb/s"):
        assert word in told


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--gpu", "0", "--size", "0"], "message size"),
        (["--gpu", "0", "--size", "-1"], "size"),
        (["--gpu", "0", "--size", "abc"], "'abc' is not a size"),
        (["--gpu", "0", "--size", "3.5"], "whole number"),
        (["--gpu", "0", "--size", "nan"], "size"),
        (["--gpu", "0", "--size", "1e30"], "message size"),
        (["--gpu", "9"], "no GPU '9'"),
        (["--gpu", "0", "--nic", "mlx5_77"], "no NIC 'mlx5_77'"),
        ([], "No GPU is named"),
        (["--gpu", "0", "--depth", "0"], "queue depth"),
        (["--gpu", "0", "--depth", "many"], "--depth"),
        (["--gpu", "0", "--qps", "0"], "queue pairs"),
        (["--gpu", "0", "--op", "atomic"], "--op"),
        (["--gpu", "0", "--path", "magic"], "--path"),
        (["--gpu", "0", "--mtu", "1"], "MTU"),
        (["--gpu", "0", "--cable", "nan"], "cable"),
        (["--gpu", "0", "--messages", "0"], "messages"),
        (["--gpu", "0", "--seed", "-1"], "seed"),
        (["--gpu", "0", "--remote", "no-such-file"], "no-such-file"),
        (["--gpu", "0", "--no-such-option"], "--no-such-option"),
    ],
)
def test_a_mistake_is_one_line_and_status_2(options: list[str], said: str) -> None:
    result = run("hgx-h100", *options)
    assert result.exit_code == 2
    assert not result.stdout
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("gdviz: ")
    assert said in result.stderr


def test_a_machine_without_a_nic_is_refused(tmp_path: Any) -> None:
    file = tmp_path / "topo.xml"
    file.write_text(
        '<system version="1"><cpu numaid="0"><pci busid="0000:01:00.0" class="0x030200"/></cpu></system>'
    )
    result = run(str(file), "--gpu", "0")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "has no NIC" in result.stderr
