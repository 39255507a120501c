from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gdviz import cli
from gdviz.cli.predict import _OPS, _PATHS, check_memory
from gdviz.errors import GdvizError
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


def test_the_object_has_these_keys_and_no_others() -> None:
    told = answer("hgx-h100", "--gpu", "0", "--path", "staged")
    assert list(told) == ["bandwidth_gbps", "latency_us", "cpu_share", "bottleneck", "stages"]
    assert list(told["latency_us"]) == ["p50", "p99", "p999"]
    stage = told["stages"][0]
    assert list(stage) == [
        "key",
        "name",
        "side",
        "start_us",
        "duration_us",
        "cpu",
        "moves_bytes",
        "places",
    ]
    assert all(each["places"] for each in told["stages"])


def test_ceilings_come_where_they_are_asked_for() -> None:
    told = answer("hgx-h100", "--gpu", "0", "--ceilings")
    assert told["ceilings"][0]["name"] == told["bottleneck"]
    assert told["ceilings"][0]["gbps"] == told["bandwidth_gbps"]
    assert told["ceilings"] == sorted(told["ceilings"], key=lambda ceiling: ceiling["gbps"])


def test_latency_is_that_of_one_message_whatever_the_depth() -> None:
    options = ("hgx-h100", "--gpu", "0", "--size", "64KiB", "--path", "direct")
    alone, many = (answer(*options, "--depth", depth) for depth in ("1", "256"))
    assert alone["latency_us"]["p50"] == pytest.approx(many["latency_us"]["p50"], rel=0.01)
    assert many["bandwidth_gbps"] > 3 * alone["bandwidth_gbps"]


def test_the_other_way_at_the_same_time_costs_what_is_shared() -> None:
    options = ("pcie-a30", "--gpu", "0", "--size", "1MiB")
    alone, both = answer(*options), answer(*options, "--bidirectional")
    # Links carry both ways at once; requests and acknowledgements go against the bytes of the other.
    assert 0.9 * alone["bandwidth_gbps"] < both["bandwidth_gbps"] < alone["bandwidth_gbps"]
    assert both["bottleneck"] == "PCIe Gen4 x16, shared"
    assert "The same goes the other way" in run(*options, "--bidirectional").stdout


def test_ordering_is_that_of_the_constants_unless_it_is_said(tmp_path: Any) -> None:
    file = tmp_path / "constants.json"
    file.write_text('{"relaxed_ordering": false}')
    options = ("hgx-h100", "--gpu", "host", "--size", "1MiB", "--constants", str(file))
    strict = answer("hgx-h100", "--gpu", "host", "--size", "1MiB", "--strict-ordering")
    assert answer(*options) == strict
    assert answer(*options, "--relaxed-ordering")["bandwidth_gbps"] > 2 * strict["bandwidth_gbps"]


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
    for word in ("bandwidth", "latency p99.9", "of one core", "Doorbell", "bottleneck", "NIC port 400 Gb/s"):
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
        (["--gpu", "0", "--size", "3GiB"], "message size"),
        (["--gpu", "0", "--size", ""], "not a size"),
        (["--gpu", "9"], "no GPU '9'"),
        (["--gpu", "0", "--nic", "mlx5_77"], "no NIC 'mlx5_77'"),
        ([], "No GPU is named"),
        (["--gpu", "0", "--depth", "0"], "queue depth"),
        (["--gpu", "0", "--depth", "many"], "--depth"),
        (["--gpu", "0", "--depth", "-3"], "queue depth"),
        (["--gpu", "0", "--qps", "0"], "queue pairs"),
        (["--gpu", "0", "--qps", "1.5"], "--qps"),
        (["--gpu", "0", "--op", "atomic"], "--op"),
        (["--gpu", "0", "--path", "magic"], "--path"),
        (["--gpu", "0", "--mtu", "1"], "MTU"),
        (["--gpu", "0", "--cable", "nan"], "cable"),
        (["--gpu", "0", "--messages", "0"], "messages"),
        (["--gpu", "0", "--seed", "-1"], "seed"),
        (["--gpu", "0", "--remote", "no-such-file"], "no-such-file"),
        (["--gpu", "0", "--remote-gpu", "9"], "no GPU '9'"),
        (["--gpu", "0", "--remote-nic", "mlx5_77"], "no NIC 'mlx5_77'"),
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


def test_a_message_larger_than_the_gpu_is_refused() -> None:
    machine = reference_machine("hgx-h100")
    small = replace(machine.gpus[0], memory_bytes=1 << 20)
    with pytest.raises(GdvizError, match=r"2 MiB does not fit in the memory of .*: 1 MiB"):
        check_memory(
            2 << 20,
            Endpoint(
                replace(machine, parts=replace(machine.parts, gpus=(small,))), machine.nics[0].id, small.id
            ),
        )


def test_a_machine_without_a_gpu_has_host_memory(tmp_path: Any) -> None:
    file = tmp_path / "topo.xml"
    file.write_text(
        '<system version="1"><cpu numaid="0"><nic><net name="mlx5_0" dev="0" speed="100000" port="1"/></nic>'
        "</cpu></system>"
    )
    result = run(str(file), "--gpu", "0")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "has no GPU" in result.stderr
    assert answer(str(file), "--gpu", "host")["bandwidth_gbps"] > 50


@pytest.mark.parametrize("mtu", ["1000", "9000", "64k"])
def test_a_path_mtu_is_one_of_five(mtu: str) -> None:
    result = run("hgx-h100", "--gpu", "0", "--nic", "0", "--mtu", mtu)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "256, 512, 1024, 2048, 4096" in result.stderr
