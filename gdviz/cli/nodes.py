"""``gdviz nodes``: which verbs this host offers, and what is missing for more."""

from __future__ import annotations

import click

from gdviz.cli.output import print_json, printable


@click.command("nodes")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(as_json: bool) -> None:
    """Say which provider this host will use, why not a better one, and what helps."""
    from gdviz.nodes.discovery import nodes

    found = nodes()
    if as_json:
        print_json(found.as_dict())
        return
    for line in str(found).splitlines():
        click.echo(printable(line))
