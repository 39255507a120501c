"""Every code: a small case in which it is found, and one in which it must not be; and the shared cases."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from case_files import FOLDER, RANKS, all_cases, differences, unpack

from gdviz.doctor import CODES, diagnose
from gdviz.errors import ReaderError
from gdviz.machine import normal_bus_id


@pytest.mark.parametrize("case", all_cases(), ids=lambda case: f"{case.parent.name}/{case.stem}")
def test_small_case(case: Path, tmp_path: Path) -> None:
    expected = unpack(case, tmp_path)
    report = diagnose(tmp_path)
    assert differences(expected, report) == []
    json.dumps(report.as_dict())
    for found in report.findings:
        assert found.code in CODES
        assert found.evidence, found.code
        assert found.title
        assert found.check


def test_every_code_has_a_case_for_it_and_one_against_it() -> None:
    for code in CODES:
        names = [path.stem for path in (FOLDER / code).glob("*.case")]
        assert any(name.startswith("fires") for name in names), code
        assert any(name.startswith("near-miss") for name in names), code


def shared_cases() -> list[str]:
    folder = Path(__file__).parents[2] / ".." / "shared" / "cases"
    return sorted(path.parent.name for path in folder.glob("*/expect.json"))


@pytest.mark.slow
@pytest.mark.parametrize("name", shared_cases())
def test_shared_case(name: str, shared: Path, tmp_path: Path) -> None:
    source = shared / "cases" / name
    expect = json.loads((source / "expect.json").read_text(encoding="utf-8"))
    ignored = shutil.ignore_patterns("expect.json", "make.py", "__pycache__")
    folder = tmp_path / name
    shutil.copytree(source, folder, ignore=ignored)
    if (source / "make.py").exists():
        subprocess.run([sys.executable, str(source / "make.py"), str(folder)], check=True, timeout=60)
    if expect.get("exit"):
        with pytest.raises(ReaderError):
            diagnose(folder)
        return
    report = diagnose(folder)
    assert [code for code in expect.get("must", []) if code not in report.codes] == []
    assert [code for code in expect.get("must_not", []) if code in report.codes] == []
    worst = -1 if report.worst is None else report.worst.rank
    assert worst <= RANKS[expect.get("severity_max", "error")]
    for wanted in expect.get("pairs", []):
        rows = [p for p in report.pairs if _is(wanted["gpu"], p.gpu_ids) and _is(wanted["nic"], p.nic_ids)]
        assert any(
            p.distance in wanted.get("distance", p.distance).split("|") and p.gdr is wanted.get("gdr", p.gdr)
            for p in rows
        ), wanted


def _is(name: str, names: tuple[str, ...]) -> bool:
    return name in names or normal_bus_id(name) in names
