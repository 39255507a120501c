"""What holds for gdviz as a package: quiet imports, arrows between rooms, exports."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted((ROOT / "gdviz").rglob("*.py"))

QUIET = """
import logging, sys, threading, warnings
before = list(logging.getLogger().handlers), logging.getLogger().level, len(warnings.filters)
import gdviz
after = list(logging.getLogger().handlers), logging.getLogger().level, len(warnings.filters)
assert before == after, (before, after)
assert threading.active_count() == 1
loud = {"bokeh", "cupy", "distributed", "hdrh", "ipywidgets", "jupyter_bokeh", "networkx"}
print(*sorted(loud & set(sys.modules)))
"""


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100)


@pytest.mark.slow
def test_import_is_quiet_and_light() -> None:
    answer = run(sys.executable, "-W", "error", "-c", QUIET)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.strip() == "", f"import gdviz also imports {answer.stdout}"
    assert answer.stderr == ""


@pytest.mark.slow
def test_arrows_between_the_rooms_go_down() -> None:
    pytest.importorskip("importlinter", reason="import-linter is not installed: pip install 'gdviz[dev]'")
    answer = run(
        sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()", "--no-cache"
    )
    assert answer.returncode == 0, answer.stdout[-4000:]


def exporting() -> list[str]:
    found = []
    for path in MODULES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        targets = [t for node in tree.body if isinstance(node, ast.Assign) for t in node.targets]
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return found


@pytest.mark.parametrize("name", exporting())
def test_exports_exist_once_and_in_order(name: str) -> None:
    exported = list(importlib.import_module(name).__all__)
    assert [each for each in exported if not hasattr(importlib.import_module(name), each)] == []

    def order(each: str) -> tuple[int, str]:
        kind = 0 if each.isupper() and len(each) > 1 else 1 if each[:1].isupper() else 2
        return kind, each

    assert exported == sorted(set(exported), key=order)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_module_says_what_it_is(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree) or not tree.body, "a module starts with a paragraph on what it does"
