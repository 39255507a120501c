from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import gdviz
from gdviz import cli
from gdviz.machine import reference_machine
from gdviz.model import DEFAULTS, DataPath, Endpoint, Op, Workload, predict

HERE = replace(DEFAULTS, qp_message_s=260e-9)
HEAD = " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"


def end() -> Endpoint:
    machine = reference_machine("hgx-h100")
    return Endpoint(machine, machine.nic(0).id, machine.gpu(0).id)


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    """What ib_write_bw -a would print where a queue pair takes longer for a message."""
    rows = []
    for size in (2**power for power in range(1, 21)):
        work = Workload(Op.WRITE, DataPath.DIRECT, size, 128, 1)
        rate = predict(end(), end(), work, constants=HERE, messages=50).bandwidth_bytes_per_s * 8e-9
        rows.append(f" {size}  5000   {rate:.6f}  {rate:.6f}  1.0\n")
    file = tmp_path / "sweep.txt"
    file.write_text("                    RDMA_Write BW Test\n TX depth        : 128\n" + HEAD + "".join(rows))
    return file


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli.main, list(arguments))


def test_a_table_calibrates_the_model_and_predict_uses_it(sweep: Path, tmp_path: Path) -> None:
    saved = tmp_path / "constants.json"
    options = ["hgx-h100", "--gpu", "0", "--nic", "0"]
    result = run("calibrate", *options, "--measured", str(sweep), "--save", str(saved), "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["constants"]["qp_message_s"]["after"] == pytest.approx(260e-9, rel=0.02)
    assert told["before"]["largest"] > 0.3
    assert told["held_out"]["largest"] < 0.03
    assert told["held_out"]["points"] == 10
    size = ["--size", "64"]
    usual, here = (
        json.loads(run("predict", *options, *size, *more, "--json").stdout)
        for more in ([], ["--constants", str(saved)])
    )
    assert here["bandwidth_gbps"] == pytest.approx(64 * 8e-9 / 260e-9, rel=0.02)
    assert usual["bandwidth_gbps"] == pytest.approx(64 * 8e-9 / DEFAULTS.qp_message_s, rel=0.02)
    assert "points held out" in run("calibrate", *options, "--measured", str(sweep)).stdout


def test_the_front_door_takes_a_file(sweep: Path) -> None:
    found = gdviz.calibrate(sweep, end(), end(), fit=("qp_message_s",))
    assert found.constants.qp_message_s == pytest.approx(260e-9, rel=0.02)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nothing of the kind", "no reader knows"),
        (HEAD + " 64 5000 1.0 1.0 1.0\n", "too few"),
        ("", "empty"),
    ],
)
def test_what_cannot_be_fitted_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "x.txt"
    file.write_text(text)
    result = run("calibrate", "hgx-h100", "--gpu", "0", "--measured", str(file))
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert said in result.stderr


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"nonsense_s": 1}', '{"post_s": "x"}', '{"post_s": -1}', '{"ecrc": 3}']
)
def test_bad_constants_are_one_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "constants.json"
    file.write_text(text)
    result = run("predict", "hgx-h100", "--gpu", "0", "--constants", str(file))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
