"""``gdviz doctor``: why GPUDirect RDMA is off or slow."""

from __future__ import annotations

import click

from gdviz.cli.output import print_json, printable


@click.command("doctor")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(paths: tuple[str, ...], as_json: bool) -> None:
    """Say why GPUDirect RDMA is off or slow.

    PATH is a file or a folder (with its subfolders, one a host) of what you have: logs, lspci, nvidia-smi,
    topology files, ibstat, dmesg, benchmark tables, captures.
    """
    from gdviz.doctor import diagnose

    report = diagnose(*paths)
    if as_json:
        print_json(report.as_dict())
        return
    for line in str(report).splitlines():
        click.echo(printable(line))
