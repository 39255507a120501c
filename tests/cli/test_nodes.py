"""``gdviz nodes`` says what ``gdviz.nodes()`` says."""

from __future__ import annotations

import json

from click.testing import CliRunner

import gdviz
from gdviz import cli


def test_the_command_says_the_same() -> None:
    result = CliRunner().invoke(cli.main, ["nodes"])
    assert result.exit_code == 0, result.output
    assert result.output.splitlines() == str(gdviz.nodes()).splitlines()
    answer = json.loads(CliRunner().invoke(cli.main, ["nodes", "--json"]).output)
    assert answer == gdviz.nodes().as_dict()
    assert set(answer) == {"host", "provider", "devices", "gpu_memory", "obstacles"}
