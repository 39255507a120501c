"""``gdviz machines``: the reference machines of the catalogue."""

from __future__ import annotations

import click

from gdviz.cli.opening import CATALOGUE_PREFIX
from gdviz.cli.output import print_json, print_table
from gdviz.messages import _


@click.command("machines")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(as_json: bool) -> None:
    """List the reference machines of the catalogue."""
    from gdviz.machine import CATALOGUE, reference_machine

    machines = {key: reference_machine(key) for key in CATALOGUE}
    if as_json:
        print_json({key: len(machine.gpus) for key, machine in machines.items()})
        return
    print_table(
        (_("machine"), "GPUs", "NICs", "GPU", "NIC"),
        [
            (
                CATALOGUE_PREFIX + key,
                str(len(machine.gpus)),
                str(len(machine.nics)),
                machine.gpus[0].name,
                machine.nics[0].model,
            )
            for key, machine in machines.items()
        ],
    )
