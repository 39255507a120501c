"""The doctor answers whatever a case has become: no exception, no hang.

``GDVIZ_FUZZ=20000`` sets how many mutated cases it is given in all; a few by default.
"""

from __future__ import annotations

import json
import os
import random
import time
from functools import cache
from pathlib import Path

import pytest

from gdviz.doctor import CODES, diagnose
from gdviz.errors import ReaderError
from gdviz.readers.source import to_text
from tests.doctor.case_files import all_cases, unpack
from tests.readers.mutations import mutated

RUNS = int(os.environ.get("GDVIZ_FUZZ", "150"))

#: Seconds of one core.
LIMIT_S = 2.0

Files = dict[str, str]


def _files_below(folder: Path) -> Files:
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    kept = (path for path in paths if path.suffix != ".py" and path.name != "expect.json")
    return {str(path.relative_to(folder)): to_text(path.read_bytes())[0] for path in kept}


@cache
def real_cases() -> tuple[Files, ...]:
    """Return the cases that lie beside the checkout; none where there are none."""
    folder = Path(__file__).parents[2] / ".." / "shared" / "cases"
    return tuple(_files_below(path.parent) for path in sorted(folder.glob("*/expect.json")))


def own_cases(tmp_path: Path) -> tuple[Files, ...]:
    """Return the small cases of this folder."""
    found = []
    for number, case in enumerate(all_cases()):
        unpack(case, tmp_path / str(number))
        found.append(_files_below(tmp_path / str(number)))
    return tuple(found)


def write(files: dict[str, str | bytes], folder: Path) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content)


def refusal_of(folder: Path) -> str:
    """Return why a case has no report, empty where it has one; assert what holds of a report."""
    try:
        report = diagnose(folder)
    except ReaderError as error:
        return str(error)
    json.dumps(report.as_dict(), allow_nan=False)
    assert str(report)
    for found in report.findings:
        assert found.code in CODES
        assert found.title
    return ""


def check(files: dict[str, str | bytes], folder: Path) -> None:
    """Assert that a case has a report, or is refused in one line; in time."""
    write(files, folder)
    begin = time.process_time()
    refusal = refusal_of(folder)
    spent = time.process_time() - begin
    assert "\n" not in refusal
    assert spent < LIMIT_S, f"{spent:.1f} s for {sum(map(len, files.values()))} characters"
    for file in files:
        (folder / file).unlink()


def fuzz(cases: tuple[Files, ...], runs: int, tmp_path: Path) -> None:
    rng = random.Random(29)
    texts = [text for files in cases for text in files.values()]
    for _run in range(runs):
        files: dict[str, str | bytes] = dict(rng.choice(cases))
        for name in list(files):
            chance = rng.random()
            if chance < 0.1 and len(files) > 1:
                del files[name]
            elif chance < 0.15:
                files[name] = rng.choice(texts)
            elif chance < 0.7:
                files[name] = mutated(str(files[name]), rng.choice(texts), rng)
        folder = tmp_path / "case"
        folder.mkdir(exist_ok=True)
        check(files, folder)


@pytest.mark.slow
@pytest.mark.timeout(0 if RUNS > 1000 else 120)
def test_own_cases_mutated(tmp_path: Path) -> None:
    fuzz(own_cases(tmp_path / "own"), RUNS, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(0 if RUNS > 1000 else 120)
def test_real_cases_mutated(shared: Path, tmp_path: Path) -> None:
    del shared  # asked for only so that the test is skipped without the folder
    fuzz(real_cases(), RUNS // 3, tmp_path)
