"""environment.yml, binder/ and the two pyproject.toml say the same."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]

#: In environment.yml though no distribution needs it.
EXTRA = {"jupyterlab-language-pack-zh-CN"}


def project(path: str) -> dict[str, Any]:
    return dict(tomllib.loads((ROOT / path).read_text(encoding="utf-8"))["project"])


def pip_section() -> list[str]:
    parts = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    return list(next(part for part in parts if isinstance(part, dict))["pip"])


def test_environment_names_what_both_distributions_need() -> None:
    gdviz, lab = project("pyproject.toml"), project("lab/pyproject.toml")
    needed = {*gdviz["dependencies"], *gdviz["optional-dependencies"]["lab"], *lab["dependencies"]}
    assert set(pip_section()) == needed | EXTRA


def test_pip_section_is_sorted_and_says_each_once() -> None:
    names = [re.split(r"[<>=!~]", line)[0].lower() for line in pip_section()]
    assert names == sorted(set(names))


def test_python_and_node_are_new_enough() -> None:
    parts = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    versions = dict(part.split("=", 1) for part in parts if isinstance(part, str) and "=" in part)
    python = tuple(map(int, versions["python"].split(".")))
    assert python >= (3, 11)
    assert int(versions["nodejs"].split(".")[0]) >= 20


def test_binder_reads_the_same_environment() -> None:
    assert (ROOT / "binder/environment.yml").read_bytes() == (ROOT / "environment.yml").read_bytes()


def test_binder_scripts_can_be_run() -> None:
    for name in ("postBuild", "start"):
        assert os.access(ROOT / "binder" / name, os.X_OK), name


def test_both_distributions_have_one_version_and_one_licence() -> None:
    gdviz, lab = project("pyproject.toml"), project("lab/pyproject.toml")
    for key in ("version", "license", "requires-python"):
        assert gdviz[key] == lab[key], key
    assert f'__version__ = "{lab["version"]}"' in (ROOT / "lab/gdviz_lab/__init__.py").read_text(
        encoding="utf-8"
    )
    assert f'"version": "{lab["version"]}"' in (ROOT / "lab/package.json").read_text(encoding="utf-8")


def test_the_version_is_said_once() -> None:
    from gdviz.version import VERSION

    with (ROOT / "pyproject.toml").open("rb") as file:
        assert tomllib.load(file)["project"]["version"] == VERSION
