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
    constant = told["constants"]["qp_message_s"]
    low, high = constant["bounds"]
    assert low < constant["after"] < high
    assert not constant["at_bound"]
    assert constant["spread"] < 0.01
    size = ["--size", "64"]
    usual, here = (
        json.loads(run("predict", *options, *size, *more, "--json").stdout)
        for more in ([], ["--constants", str(saved)])
    )
    assert here["bandwidth_gbps"] == pytest.approx(64 * 8e-9 / 260e-9, rel=0.02)
    assert usual["bandwidth_gbps"] == pytest.approx(64 * 8e-9 / DEFAULTS.qp_message_s, rel=0.02)
    assert "points held out" in run("calibrate", *options, "--measured", str(sweep)).stdout


def test_both_ends_and_the_constants_to_start_from_can_be_said(sweep: Path, tmp_path: Path) -> None:
    saved, more = tmp_path / "constants.json", tmp_path / "more.json"
    saved.write_text('{"cable_s_per_m": 4e-9}')
    options = ["--gpu", "0", "--nic", "0", "--measured", str(sweep), "--fit", "qp_message_s"]
    ends = ["--remote", "hgx-h100", "--remote-gpu", "4", "--remote-nic", "4", "--path", "direct"]
    result = run("calibrate", "hgx-h100", *options, *ends, "--constants", str(saved), "--save", str(more))
    assert result.exit_code == 0, result.output
    kept = json.loads(more.read_text())
    assert set(kept) == {"cable_s_per_m", "qp_message_s"}
    assert kept["cable_s_per_m"] == 4e-9


def test_few_points_have_no_spread(tmp_path: Path) -> None:
    """JSON knows no infinity."""
    file = tmp_path / "few.txt"
    head = " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]\n"
    rows = "".join(
        f" {size} 1000 {us} {us} {us}\n" for size, us in ((8, 6.0), (64, 6.1), (512, 6.2), (4096, 6.5))
    )
    file.write_text("                    RDMA_Read Latency Test\n" + head + rows)
    options = ["--gpu", "0", "--nic", "0", "--fit", "program_s", "--fit", "nic_port_s"]
    result = run("calibrate", "hgx-h100", *options, "--measured", str(file), "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout, parse_constant=pytest.fail)
    assert {name: each["spread"] for name, each in told["constants"].items()} == {
        "program_s": None,
        "nic_port_s": None,
    }


def test_constants_that_cannot_be_saved_are_one_line(sweep: Path, tmp_path: Path) -> None:
    there = tmp_path / "no" / "such" / "folder.json"
    options = ["--gpu", "0", "--nic", "0", "--measured", str(sweep), "--fit", "qp_message_s"]
    result = run("calibrate", "hgx-h100", *options, "--save", str(there))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "folder.json' cannot be written: No such file or directory." in result.stderr


def test_the_front_door_takes_a_file(sweep: Path) -> None:
    found = gdviz.calibrate(sweep, end(), end(), fit=("qp_message_s",))
    assert found.constants.qp_message_s == pytest.approx(260e-9, rel=0.02)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nothing of the kind", "no reader knows"),
        (HEAD + " 64 5000 1.0 1.0 1.0\n", "of 1 sizes are too few"),
        (HEAD + "".join(f" {size} 5000 1 900000.0 1.0\n" for size in (64, 128, 256, 512)), "port carries"),
        (HEAD + " 128 5000 1.0 1.0 1.0\n 64 5000 1.0 1.0 1.0\n", "line 3: the sizes do not ascend"),
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
    "text",
    [
        "{",
        "[]",
        '{"nonsense_s": 1}',
        '{"post_s": "x"}',
        '{"post_s": -1}',
        '{"ecrc": 3}',
        '{"batch": 0}',
        "[" * 9999,
    ],
)
def test_bad_constants_are_one_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "constants.json"
    file.write_text(text)
    result = run("predict", "hgx-h100", "--gpu", "0", "--constants", str(file))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1


def test_a_fit_to_another_unit_is_not_kept(sweep: Path, tmp_path: Path) -> None:
    wrong, saved = tmp_path / "wrong.txt", tmp_path / "kept.json"
    wrong.write_text(sweep.read_text().replace("Gb/sec", "MB/sec"))
    options = ["--gpu", "0", "--nic", "0", "--measured", str(wrong), "--fit", "qp_message_s"]
    result = run("calibrate", "hgx-h100", *options, "--save", str(saved))
    assert result.exit_code == 2
    assert "This fit is not usable" in result.stdout
    assert not saved.exists()
