"""Every notebook of the course runs from top to bottom, as nbclient and VS Code run it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
PATHS = sorted(NOTEBOOKS.rglob("*.ipynb"))

#: BokehJS comes with the notebook here, once; more than that would be a copy a figure.
MOST_BYTES = 4_000_000


def run(path: Path, folder: Path) -> Any:
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}})
    client.execute()
    return notebook


@pytest.mark.notebook
@pytest.mark.parametrize("path", PATHS, ids=lambda path: str(path.relative_to(NOTEBOOKS)))
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    notebook = run(path, tmp_path)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    errors = [output for output in outputs if output.output_type == "error"]
    assert not errors
    complaints = [o.text for o in outputs if o.output_type == "stream" and o.name == "stderr"]
    assert not complaints
    assert len(nbformat.writes(notebook)) < MOST_BYTES


def test_there_is_a_tour() -> None:
    assert NOTEBOOKS / "en" / "00-tour.ipynb" in PATHS
