"""``gdviz open``: what a file says of its machines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gdviz.cli.opening import open_path_or_catalogue
from gdviz.cli.output import gbps, print_json, print_table, printable
from gdviz.messages import _

if TYPE_CHECKING:
    from gdviz.machine import Machine
    from gdviz.readers import Opened

#: GPU-NIC pairs up to which the nearest NIC of each GPU is looked up.
_MAX_PAIRS = 4096


@click.command("open")
@click.argument("path")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(path: str, as_json: bool) -> None:
    """Show what a file, a folder, an archive, a capture or this host (live:) says of its machines."""
    opened = open_path_or_catalogue(path)
    if as_json:
        print_json(opened_as_dict(opened))
        return
    for machine in opened.machines:
        click.echo(printable(str(machine)))
        _print_machine(machine)
        click.echo()
    rows = [(reading.kind, reading.source) for reading in opened.readings if not reading.machines]
    if rows:
        print_table((_("also read"), _("in")), rows)
    for notice in opened.notices:
        where = _("line {n}: ").format(n=notice.line) if notice.line is not None else ""
        click.echo(printable(f"{where}{notice.text}"))


def opened_as_dict(opened: Opened) -> dict[str, object]:
    """Return what a file held, as ``gdviz open --json`` prints it; None where it does not say."""
    nodes = [
        {
            "name": machine.name,
            "gpus": [
                {"id": gpu.id, "busid": gpu.busid or None, "name": gpu.name, "numa": _numa(gpu.numa)}
                for gpu in machine.gpus
            ],
            "nics": [
                {
                    "id": nic.id,
                    "busid": nic.busid,
                    "name": nic.name,
                    "speed_gbps": gbps(nic.speed_bytes_per_s),
                    "numa": _numa(nic.numa),
                }
                for nic in machine.nics
            ],
            "bridges": len(machine.bridges),
            "cpus": len(machine.cpus),
        }
        for machine in opened.machines
    ]
    warnings = [{"line": notice.line, "text": notice.text} for notice in opened.notices]
    found: dict[str, object] = {"kind": opened.kind, "nodes": nodes, "warnings": warnings}
    others = [reading for reading in opened.readings if not reading.machines]
    if others:
        found["also_read"] = [{"kind": reading.kind, "file": reading.source} for reading in others]
    return found


def _numa(numa: int) -> int | None:
    return None if numa < 0 else numa


def _print_machine(machine: Machine) -> None:
    from gdviz.quantities import format_bits

    near = len(machine.gpus) * len(machine.nics) <= _MAX_PAIRS
    rows = []
    for gpu in machine.gpus:
        nic = machine.nearest_nic(gpu) if near else None
        nearest = f"{nic.name} ({machine.path(gpu, nic).distance})" if nic else "-"
        numa = "-" if gpu.numa < 0 else str(gpu.numa)
        rows.append((str(gpu.index), gpu.busid, gpu.name, numa, str(gpu.link), _gdr(gpu.gdr), nearest))
    if rows:
        print_table(("GPU", _("bus id"), _("name"), "NUMA", _("link"), "GDR", _("nearest NIC")), rows)
    rows = []
    for nic in machine.nics:
        speed = "-" if nic.speed_bytes_per_s is None else format_bits(nic.speed_bytes_per_s)
        numa = "-" if nic.numa < 0 else str(nic.numa)
        row = (str(nic.index), nic.busid or "-", nic.name, numa, str(nic.link), _gdr(nic.gdr), speed)
        rows.append(row)
    if rows:
        print_table(("NIC", _("bus id"), _("name"), "NUMA", _("link"), "GDR", _("speed")), rows)


def _gdr(said: bool | None) -> str:
    """Return what the source says of GPUDirect RDMA."""
    return "-" if said is None else _("yes") if said else _("no")
