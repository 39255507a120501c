"""What holds for every file of the repository."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = {".css", ".js", ".mjs", ".py", ".ts", ".tsx"}
LONGEST = 400

#: Written in pieces, because this file is searched too.
REGISTRIES = [
    "py" + "pi.org",
    "python" + "hosted.org",
    "npm" + "js.org",
    "npm" + "js.com",
    "yarn" + "pkg.com",
]
REGISTRIES += ["anaconda" + ".org", "cdn." + "bokeh.org", "js" + "delivr.net", "un" + "pkg.com"]
MACHINE_PATHS = re.compile("(?<![\\w.])/(?:" + "work|root" + ")/|/" + "home/\\w+/")


@cache
def files() -> tuple[Path, ...]:
    asked = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    answer = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True)
    if answer.returncode != 0:
        pytest.skip("not a git checkout")
    paths = (ROOT / name for name in answer.stdout.splitlines())
    return tuple(path for path in paths if path.is_file())


@cache
def texts() -> dict[str, str]:
    found = {}
    for path in files():
        try:
            found[str(path.relative_to(ROOT))] = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
    return found


def test_no_source_file_is_longer_than_anyone_reads() -> None:
    long = {
        name: text.count("\n")
        for name, text in texts().items()
        if Path(name).suffix in SOURCES and text.count("\n") > LONGEST
    }
    assert long == {}


def test_no_file_names_a_registry_or_a_cdn() -> None:
    assert [(name, host) for name, text in texts().items() for host in REGISTRIES if host in text] == []


def test_no_file_names_a_path_of_one_machine() -> None:
    found = [(name, hit.group()) for name, text in texts().items() for hit in MACHINE_PATHS.finditer(text)]
    assert found == []


def test_notebooks_are_kept_without_outputs() -> None:
    import json

    kept = [
        name
        for name, text in texts().items()
        if name.endswith(".ipynb") and any(cell.get("outputs") for cell in json.loads(text)["cells"])
    ]
    assert kept == []
