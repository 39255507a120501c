from __future__ import annotations

import ast
import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from gdviz import cli, model
from gdviz.model import DEFAULTS, FITTED
from gdviz.model.validation import TABLES, Compared, Point, Row, Table, compare


@pytest.fixture(scope="module")
def rows() -> tuple[Row, ...]:
    return compare(TABLES)


def test_every_judged_table_is_within_tolerance(rows: tuple[Row, ...]) -> None:
    assert [row.table.key for row in rows if row.within is False] == []
    assert sum(row.within is True for row in rows) >= 15


def test_every_check_of_the_set_has_a_row() -> None:
    keys = {table.key.split()[0] for table in TABLES}
    assert keys >= {f"V{number}" for number in range(1, 14)}


def test_at_least_two_tables_are_predicted_with_nothing_fitted(rows: tuple[Row, ...]) -> None:
    free = [row.table.key for row in rows if row.within and not row.fitted]
    assert {"V4", "V5", "V9", "V11", "V13"} <= set(free)


def test_every_fitted_constant_is_owned_by_a_table() -> None:
    assert set(FITTED.values()) <= {table.source for table in TABLES}


def test_the_staged_path_by_size_is_not_counted(rows: tuple[Row, ...]) -> None:
    row = next(row for row in rows if row.table.key == "staged")
    assert (row.points, row.within, row.table.unjudged) == ((), None, "no public measurement")


def test_another_constant_gives_another_verdict() -> None:
    (table,) = (table for table in TABLES if table.key == "V2")
    (row,) = compare([table], replace(DEFAULTS, qp_message_s=2 * DEFAULTS.qp_message_s))
    assert row.within is False
    assert row.fitted == ("qp_message_s",)


@pytest.mark.parametrize(
    ("predicted", "error"), [(8.0, -0.2), (10.0, 0.0), (11.0, 0.0), (12.0, 0.0), (15.0, 0.25)]
)
def test_an_error_counts_from_the_nearer_end_of_a_range(predicted: float, error: float) -> None:
    compared = Compared(Point("x", 10.0, 12.0, lambda _c: predicted, 0.2), predicted)
    assert compared.error == pytest.approx(error)
    assert compared.within is (abs(error) <= 0.2)


def test_a_row_reports_median_and_worst() -> None:
    points = tuple(Compared(Point("x", 1.0, 1.0, lambda _c: 1.0, 0.1), value) for value in (0.8, 1.05, 1.1))
    row = Row(Table("K", "", "", "", ""), points, ())
    assert row.median_error == pytest.approx(0.1)
    assert row.largest_error == pytest.approx(-0.2)
    assert row.within is False


def test_a_table_that_leans_on_anothers_fit_is_not_free(rows: tuple[Row, ...]) -> None:
    fitted = {row.table.key: row.fitted for row in rows}
    # Both were measured on the server with the A30.
    assert fitted["V7"] == fitted["V10"] == ("peer.skylake_across",)


def test_the_model_does_not_know_the_tables() -> None:
    folder = Path(model.__file__).parent
    for file in folder.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            assert not any("validation" in name for name in names), file.name


def test_the_command_prints_every_table() -> None:
    result = CliRunner().invoke(cli.main, ["validate", "--json"])
    assert result.exit_code == 0
    told = json.loads(result.stdout)
    assert [row["check"] for row in told["tables"]] == [table.key for table in TABLES]
    assert told["within"] == told["judged"]
    for row in told["tables"]:
        assert row["points"] == len(row["values"])
        assert all(value["predicted"] > 0 for value in row["values"])
    plain = CliRunner().invoke(cli.main, ["validate", "--points"]).stdout
    assert "no public measurement" in plain
    for row in compare(TABLES):
        assert not row.points or row.table.source in plain
        assert all(name in plain for name in row.fitted)
        assert row.table.assumed in plain
    assert "OUTSIDE" not in plain
