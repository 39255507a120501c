"""``gdviz validate``: published measurements beside the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gdviz.cli.output import print_json, print_table
from gdviz.messages import _

if TYPE_CHECKING:
    from gdviz.model.validation import Point, Row


@click.command("validate")
@click.option("--points", is_flag=True, help="Show every point, not only the worst of each table.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(points: bool, as_json: bool) -> None:
    """Compare the model with published measurements.

    An error is predicted over measured, less 1; where a range was published, from its nearer end. Of a
    table that constants were fitted to, being within tolerance shows a fit; of the others, a prediction.
    """
    from gdviz.model.validation import TABLES, compare

    rows = compare(TABLES)
    if as_json:
        print_json({"tables": [row_as_dict(row) for row in rows], **_counts(rows)})
        return
    print_table(
        (
            _("check"),
            _("points"),
            _("median"),
            _("largest"),
            _("allowed"),
            _("verdict"),
            _("fitted"),
            _("setup"),
        ),
        [_cells(row) for row in rows],
    )
    click.echo()
    print_table(
        (_("check"), _("source"), _("constants fitted to it")),
        [
            (row.table.key, row.table.source or "-", ", ".join(row.fitted) or _("nothing fitted"))
            for row in rows
            if row.points
        ],
    )
    if points:
        click.echo()
        _print_points(rows)
    click.echo()
    told = _counts(rows)
    click.echo(
        _(
            "{within} of {judged} judged tables are within tolerance; {free} of them with nothing fitted."
        ).format(**told)
    )
    circular = [row.table.key for row in rows if any(name.startswith("peer.") for name in row.fitted)]
    if circular:
        click.echo(
            _(
                "A constant named peer.* is the measured figure itself, so that the point it comes from "
                "shows nothing: {keys}."
            ).format(keys=", ".join(circular))
        )
    for row in rows:
        if row.table.unjudged:
            click.echo(_("{key}: not judged: {why}.").format(key=row.table.key, why=row.table.unjudged))
        if row.table.assumed:
            click.echo(_("{key}: assumed: {what}.").format(key=row.table.key, what=row.table.assumed))


def row_as_dict(row: Row) -> dict[str, object]:
    """Return a row as ``gdviz validate --json`` prints it."""
    table = row.table
    tolerances = _tolerances(row)
    return {
        "check": table.key,
        "setup": table.setup,
        "source": table.source or None,
        "quantity": table.quantity,
        "unit": table.unit,
        "points": len(row.points),
        "median_error": row.median_error,
        "largest_error": row.largest_error,
        "tolerance": max(tolerances, default=None),
        "tolerances": tolerances,
        "within": row.within,
        "fitted": list(row.fitted),
        "note": table.unjudged or None,
        "assumed": table.assumed or None,
        "values": [
            {
                "what": each.point.what,
                "measured": each.point.low if each.point.low == each.point.high else None,
                "measured_range": [each.point.low, each.point.high],
                "predicted": each.predicted,
                "error": each.error,
                "tolerance": each.point.tolerance,
                "within": each.within,
            }
            for each in row.points
        ],
    }


def _counts(rows: tuple[Row, ...]) -> dict[str, int]:
    judged = [row for row in rows if row.within is not None]
    within = [row for row in judged if row.within]
    return {
        "judged": len(judged),
        "within": len(within),
        "free": sum(not row.fitted for row in within),
    }


def _tolerances(row: Row) -> list[float]:
    """Return the tolerances that a row's points have, ascending: some tables have one by size."""
    return sorted({each.point.tolerance for each in row.points})


def _cells(row: Row) -> tuple[str, ...]:
    within = _("within, fitted") if row.fitted else _("within, predicted")
    verdict = _("not judged") if row.within is None else within if row.within else _("OUTSIDE")
    return (
        row.table.key,
        str(len(row.points)),
        _percent(row.median_error),
        _percent(row.largest_error, signed=True),
        "/".join(_percent(each) for each in _tolerances(row)) or "-",
        verdict,
        str(len(row.fitted)),
        row.table.setup,
    )


def _print_points(rows: tuple[Row, ...]) -> None:
    print_table(
        (_("check"), _("what"), _("measured"), _("predicted"), _("unit"), _("error"), _("verdict")),
        [
            (
                row.table.key,
                each.point.what,
                _measured(each.point),
                f"{each.predicted:.4g}",
                row.table.unit,
                _percent(each.error, signed=True),
                _("within") if each.within else _("outside"),
            )
            for row in rows
            for each in row.points
        ],
    )


def _measured(point: Point) -> str:
    return f"{point.low:g}" if point.low == point.high else f"{point.low:g}-{point.high:g}"


def _percent(value: float | None, *, signed: bool = False) -> str:
    if value is None:
        return "-"
    return f"{value:+.1%}" if signed else f"{value:.1%}"
