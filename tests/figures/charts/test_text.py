from __future__ import annotations

import doctest

import pytest

from gdviz.figures.charts import axes, live_columns, percentiles, sweep_columns, text
from gdviz.figures.charts.text import table, width_of


def test_columns_are_aligned() -> None:
    assert table(("stage", "time"), [("post", "50.0 ns"), ("wire", "1.31 µs")]) == (
        "stage     time\n"
        "post   50.0 ns\n"
        "wire   1.31 µs"
    )  # fmt: skip


def test_chinese_takes_two_columns() -> None:
    assert width_of("带宽") == 4
    assert table(("a", "b"), [("带宽", 1), ("xy", 22)]) == "a      b\n带宽   1\nxy    22"


def test_cells_from_files_stay_on_their_line() -> None:
    assert "\n" not in table(("a",), [("x\ny\x1b[31m",)]).split("\n", 1)[1]


@pytest.mark.parametrize("module", [axes, live_columns, percentiles, sweep_columns, text])
def test_examples_in_docstrings(module: object) -> None:
    result = doctest.testmod(module)  # type: ignore[arg-type]
    assert result.attempted > 0
    assert result.failed == 0
