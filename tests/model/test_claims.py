from __future__ import annotations

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from gdviz import cli
from gdviz.machine import reference_machine
from gdviz.model import DEFAULTS, DataPath, Endpoint, Op, Workload, predict
from gdviz.model.claims import PAIRS, Claim, claims


@pytest.fixture(scope="module")
def found() -> tuple[Claim, ...]:
    return claims(messages=1000)


def pick(found: tuple[Claim, ...], pair: str, path: DataPath, what: str) -> Claim:
    (claim,) = (c for c in found if pair in c.pair and c.path is path and c.what.startswith(what))
    return claim


def test_four_claims_by_two_paths_by_two_pairs(found: tuple[Claim, ...]) -> None:
    assert len(found) == 4 * 2 * len(PAIRS)
    assert {claim.pair for claim in found} == {"H100-SXM5-80GB / ConnectX-7", "A100-SXM4-80GB / ConnectX-6"}


def test_figures_are_the_models(found: tuple[Claim, ...]) -> None:
    near, far = reference_machine("hgx-h100", "a"), reference_machine("hgx-h100", "b")
    ends = [Endpoint(machine, machine.nics[0].id, machine.gpus[0].id) for machine in (near, far)]
    model = predict(*ends, Workload(Op.WRITE, DataPath.STAGED, 2**20, 128, 4), messages=1000)
    assert pick(found, "H100", DataPath.STAGED, "CPU").computed == pytest.approx(model.cpu_share * 100)
    share = pick(found, "H100", DataPath.STAGED, "share of the port").computed
    assert share == pytest.approx(model.bandwidth_bytes_per_s / 50e9 * 100)


@pytest.mark.parametrize("pair", ["H100", "A100"])
def test_direct_is_ahead_in_every_quantity(found: tuple[Claim, ...], pair: str) -> None:
    for what, sign in (("latency, 8", -1), ("share of the port", 1), ("CPU share", -1), ("p99", -1)):
        direct, staged = (
            next(c for c in found if pair in c.pair and c.path is path and c.what.startswith(what)).computed
            for path in (DataPath.DIRECT, DataPath.STAGED)
        )
        assert sign * (direct - staged) > 0


def test_the_range_decides_who_agrees() -> None:
    claim = Claim("", DataPath.DIRECT, "", "us", 3.0, 5.0, 4.0, "")
    assert claim.agrees
    assert not replace(claim, computed=5.1).agrees
    assert replace(claim, high=None, computed=99.0).agrees
    assert not replace(claim, low=None, computed=99.0).agrees


def test_slower_copies_change_the_staged_figure_only() -> None:
    slow = claims(replace(DEFAULTS, copy_launch_s=20e-6), messages=200)
    usual = claims(messages=200)
    assert pick(slow, "H100", DataPath.STAGED, "latency, 8").computed > 50
    latency = pick(slow, "H100", DataPath.DIRECT, "share").computed
    assert latency == pick(usual, "H100", DataPath.DIRECT, "share").computed


def test_the_command_prints_claimed_beside_computed() -> None:
    told = json.loads(CliRunner().invoke(cli.main, ["claims", "--json"]).stdout)["claims"]
    assert len(told) == 16
    assert all(claim["why"] for claim in told)
    table = CliRunner().invoke(cli.main, ["claims"]).stdout
    assert "10-20 us" in table
    assert "> 90 %" in table


def test_where_it_differs_it_says_what_would_bring_it_there(found: tuple[Claim, ...]) -> None:
    share = pick(found, "H100", DataPath.STAGED, "share of the port")
    assert not share.agrees
    assert "Copy engine" in share.why
    assert "3 bounce buffers instead of 8" in share.why
    (again,) = (
        c
        for c in claims(replace(DEFAULTS, bounce_buffers=3), messages=200)
        if (c.pair, c.path, c.what) == (share.pair, share.path, share.what)
    )
    assert again.agrees
    assert "would be" not in again.why


def test_the_sentence_follows_the_limit() -> None:
    # A slow wait for copies, and not the engine, then limits; the words change with it.
    slow = claims(replace(DEFAULTS, copy_wait_s=40e-6), messages=200)
    share = pick(slow, "H100", DataPath.STAGED, "share of the port")
    assert "Copy engine" not in share.why
    assert "CPU" in share.why or "Bounce buffers" in share.why
