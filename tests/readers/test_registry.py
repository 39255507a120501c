from __future__ import annotations

import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import gdviz.readers
from gdviz.errors import ReaderError
from gdviz.readers import FORMATS, open_machine, open_path, open_text

SMALL = '<system version="1"><cpu numaid="0"/></system>'


@pytest.mark.parametrize("name", [item.name for item in pkgutil.iter_modules(gdviz.readers.__path__)])
def test_examples_in_docstrings(name: str) -> None:
    module = importlib.import_module(f"gdviz.readers.{name}")
    assert not doctest.testmod(module).failed


def test_kinds_are_unique() -> None:
    assert len({known.kind for known in FORMATS}) == len(FORMATS)


def test_content_decides_and_not_the_name(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(SMALL)
    assert open_path(path).kind == "nccl_topo_xml"
    (machine,) = open_machine(str(path))
    assert machine.name == "notes"


def test_text_and_bytes() -> None:
    for data in (SMALL, SMALL.encode()):
        opened = open_text(data, name="n")
        assert [machine.name for machine in opened.machines] == ["n"]
    with pytest.raises(ReaderError, match="gdviz reads: NCCL topology XML"):
        open_text("hello")


def test_home_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "t.xml").write_text(SMALL)
    assert open_path("~/t.xml").machines[0].source == str(tmp_path / "t.xml")


@pytest.mark.slow
def test_readers_load_nothing_heavy() -> None:
    heavy = ("bokeh", "ipywidgets", "networkx")
    code = f"import sys, gdviz.readers; print([m for m in {heavy} if m in sys.modules])"
    root = Path(gdviz.readers.__file__).parents[2]
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=60, check=True
    )
    assert result.stdout.strip() == "[]"
