"""The report as a whole: order, JSON, text, questions of 'what if', the command."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parent))

from case_files import FOLDER, texts, unpack

from gdviz.cli.main import main
from gdviz.doctor import CODES, Report, Severity, diagnose
from gdviz.errors import GdvizError, ReaderError


@pytest.fixture
def report(tmp_path: Path) -> Report:
    return examined("acs-on-path/fires", tmp_path)


def examined(name: str, folder: Path) -> Report:
    unpack(FOLDER / f"{name}.case", folder)
    return diagnose(folder)


def test_the_worst_comes_first_and_of_one_severity_the_dearest(tmp_path: Path) -> None:
    report = examined("gdr-off-is-right/near-miss-slow", tmp_path)
    ranks = [(found.severity.rank, found.cost_bytes_per_s) for found in report.findings]
    assert ranks == sorted(ranks, reverse=True)
    assert report.worst is Severity.WARNING


def test_json_has_the_form_that_programs_rely_on(report: Report) -> None:
    data = json.loads(json.dumps(report.as_dict()))
    assert {"findings", "pairs", "measured", "untold", "hints", "nodes", "unread"} == set(data)
    for found in data["findings"]:
        assert {"code", "severity", "title", "evidence", "effect", "check", "fix"} <= set(found)
        assert found["code"] in CODES
        assert all({"file", "line", "text"} == set(piece) for piece in found["evidence"])
    for pair in data["pairs"]:
        assert {"node", "gpu", "nic", "distance", "gdr", "why", "gpu_ids", "nic_ids"} <= set(pair)
        assert set(pair["verdicts"]) == {"nccl", "ucx", "verbs"}


def test_text_quotes_file_and_line(report: Report) -> None:
    text = texts(report)
    assert "ERROR [acs-on-path]" in text
    assert "lspci.txt:" in text
    assert "ReqRedir+" in text
    assert "fix: setpci -s 19:00.0" in text
    assert all(len(line) <= 200 for line in text.splitlines())


def test_the_effect_of_acs_is_told_in_numbers(report: Report) -> None:
    (found,) = report.of("acs-on-path")
    assert "GB/s to" in found.effect
    assert found.cost_bytes_per_s > 1e10


def test_findings_touch_the_pairs_that_they_name(report: Report) -> None:
    assert [pair.findings for pair in report.pairs] == [("acs-on-path",)]


def test_nothing_readable_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty.log").write_bytes(b"")
    with pytest.raises(ReaderError, match="Nothing could be read"):
        diagnose(tmp_path)


# ------------------------------------------------------------------ what if


def test_what_if_with_a_newer_nccl(tmp_path: Path) -> None:
    report = examined("c2c-needs-setting/fires-2.26", tmp_path)
    assert report.pairs[0].gdr is False
    newer = report.what_if(nccl="2.27.7")
    assert "c2c-needs-setting" not in newer.codes
    assert newer.pairs[0].gdr is True
    assert newer.pairs[0].distance == "C2C"
    assert report.what_if(c2c=True).pairs[0].gdr is True


def test_what_if_adds_up_and_leaves_the_first_report_alone(tmp_path: Path) -> None:
    report = examined("gdr-level-forbids/fires", tmp_path)
    changed = report.what_if(gdr_level=None)
    assert changed.pairs[0].gdr is True
    assert changed.what_if(peermem=False, dma_buf=False).pairs[0].gdr is False
    assert report.pairs[0].gdr is False


def test_what_if_with_one_nic_only(tmp_path: Path) -> None:
    report = examined("no-near-nic/near-miss", tmp_path)
    changed = report.what_if(nic="mlx5_1")
    assert {pair.nic for pair in changed.pairs} == {"mlx5_1"}
    with pytest.raises(GdvizError, match="No node has a NIC 'mlx5_9'"):
        report.what_if(nic="mlx5_9")


def test_what_if_memlock(tmp_path: Path) -> None:
    report = examined("memlock-limit/fires", tmp_path)
    assert "memlock-limit" in report.codes
    assert "memlock-limit" not in report.what_if(memlock=None).codes


@pytest.mark.parametrize(
    "change",
    [{"weather": 1}, {"nccl": "new"}, {"gdr_level": "NEAR"}, {"iommu": "maybe"}, {"memlock": "much"}],
)
def test_what_if_refuses_nonsense(change: dict[str, object], report: Report) -> None:
    with pytest.raises(GdvizError):
        report.what_if(**change)


# ------------------------------------------------------------------ the command


def test_command_prints_json(tmp_path: Path) -> None:
    unpack(FOLDER / "healthy/fires.case", tmp_path)
    result = CliRunner().invoke(main, ["doctor", str(tmp_path), "--json"])
    assert result.exit_code == 0
    assert [found["code"] for found in json.loads(result.stdout)["findings"]] == ["healthy"]


def test_command_prints_text(tmp_path: Path) -> None:
    unpack(FOLDER / "unknown-cause/fires-on-status-4.case", tmp_path)
    result = CliRunner().invoke(main, ["doctor", str(tmp_path)])
    assert result.exit_code == 0
    assert "WARNING [unknown-cause]" in result.stdout
    assert "Bring next" in result.stdout


def test_command_refuses_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "empty.log").write_bytes(b"")
    result = CliRunner().invoke(main, ["doctor", str(tmp_path), "--json"])
    assert result.exit_code == 2
    assert len(result.stderr.strip().splitlines()) == 1
    assert not result.stdout


# ------------------------------------------------------------------ what cannot be told


def test_what_is_missing_is_told_with_what_to_run(tmp_path: Path) -> None:
    (tmp_path / "nccl.log").write_text(
        "h:1:2 [0] NCCL INFO NCCL version 2.20.5+cuda12.4\n"
        "h:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.1<0>\n"
        "h:1:2 [0] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'\n"
    )
    report = diagnose(tmp_path)
    assert "unknown-cause" in report.codes
    (untold,) = [each for each in report.untold if each.code == "peermem-missing"]
    assert "lsmod" in untold.run
    assert "lsmod" in str(report)


def test_acs_that_only_root_can_see_is_untold(tmp_path: Path) -> None:
    text = (FOLDER / "acs-on-path/fires.case").read_text().partition("=== lspci.txt\n")[2]
    lines = [line for line in text.splitlines() if "ACS" not in line and "Access Control" not in line]
    (tmp_path / "lspci.txt").write_text("\n".join(lines) + "\n")
    report = diagnose(tmp_path)
    assert "acs-on-path" not in report.codes
    assert "acs-on-path" in [each.code for each in report.untold]


def test_a_far_pair_of_an_nvlink_machine_can_send_through_a_near_gpu(tmp_path: Path) -> None:
    report = examined("nvlink-asymmetric/near-miss", tmp_path)
    far = next(pair for pair in report.pairs if (pair.gpu, pair.nic) == ("GPU0", "mlx5_1"))
    assert far.gdr is False
    assert "PXN" in far.why
    assert "GPU1" in far.why
    without = report.what_if(env={"NCCL_PXN_DISABLE": "1"})
    assert not any("PXN" in pair.why for pair in without.pairs)
