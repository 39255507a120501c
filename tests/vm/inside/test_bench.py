"""``gdviz nodes`` and ``gdviz bench`` on a host with soft-RoCE."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner

import gdviz
from gdviz import cli
from gdviz.readers.results import perftest

pytestmark = pytest.mark.vm


def bench(*arguments: str) -> Any:
    result = CliRunner().invoke(cli.main, ["bench", *arguments, "-x", "1", "--json"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_this_host_uses_its_verbs() -> None:
    found = gdviz.nodes()
    assert found.provider.startswith("verbs (pyverbs ")
    assert found.devices == ("rxe0",)
    assert not found.gpu_memory
    assert not [each for each in found.obstacles if each.blocks]


@pytest.mark.parametrize("arguments", [("-b", "-m", "1024"), ("-q", "2", "--path", "staged")])
def test_bandwidth(arguments: tuple[str, ...]) -> None:
    report = bench("write_bw", "-s", "4096", "-n", "64", *arguments)
    info, results = report["test_info"], report["results"]
    assert (info["simulated"], info["Device"]) == (False, "rxe0")
    assert results["n_iterations"] == (128 if "-q" in arguments else 64)
    assert results["BW_average"] * 2**20 / 4096 == pytest.approx(results["MsgRate"] * 1e6, rel=0.01)
    assert 0 < results["BW_average"] <= results["BW_peak"] * 1.001


@pytest.mark.parametrize("test", ["write_lat", "read_lat"])
def test_latency(test: str) -> None:
    report = bench(test, "-n", "50")
    (table,) = perftest.read(json.dumps(report)).facts.tables
    assert table.operation == test.replace("_", " ")
    results = report["results"]
    assert results["n_iterations"] == 50
    assert 0 < results["t_min"] <= results["t_typical"] <= results["t_max"]
