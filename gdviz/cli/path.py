"""``gdviz path``: the way from a GPU to a NIC and its narrowest hop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gdviz.cli.opening import open_path_or_catalogue, pick_node
from gdviz.cli.output import gbps, print_json, print_table, printable
from gdviz.machine import HopKind
from gdviz.messages import _
from gdviz.quantities import format_bits

if TYPE_CHECKING:
    from gdviz.machine import Hop, Machine, Path


@click.command("path")
@click.argument("path")
@click.option("--gpu", required=True, help="Index, bus id or name of a GPU.")
@click.option("--nic", required=True, help="Index, bus id or name of a NIC.")
@click.option("--node", default=None, help="Name or index of a node, where there are several.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(path: str, gpu: str, nic: str, node: str | None, as_json: bool) -> None:
    """Show the way from a GPU to a NIC and its narrowest hop."""
    machine = pick_node(open_path_or_catalogue(path).machines, node)
    found = machine.path(gpu, nic)
    if as_json:
        print_json(path_as_dict(found))
    else:
        _print_path(machine, found)


def path_as_dict(path: Path) -> dict[str, object]:
    """Return a path as ``gdviz path --json`` prints it; None where a value is unknown."""
    bottleneck = path.bottleneck
    return {
        "distance": path.distance.value,
        "nccl": path.nccl.value,
        "hops": [_hop_as_dict(hop) for hop in path.hops],
        "bottleneck": _hop_as_dict(bottleneck) if bottleneck else None,
    }


def _hop_as_dict(hop: Hop) -> dict[str, object]:
    return {
        "from": hop.source,
        "to": hop.target,
        "kind": hop.kind.value,
        "gen": hop.link.gen if hop.link else None,
        "width": hop.link.width if hop.link else None,
        "gbps": gbps(hop.bytes_per_s),
    }


def _print_path(machine: Machine, path: Path) -> None:
    gpu, nic = machine.gpu(path.gpu), machine.nic(path.nic)
    click.echo(printable(f"GPU {gpu.index} ({gpu.name}, {gpu.busid}) → NIC {nic.index} ({nic.name})"))
    click.echo(f"{path.distance}: {path.distance.meaning} (NCCL: {path.nccl})")
    narrowest = path.bottleneck
    rows = [
        (
            hop.source,
            hop.target,
            hop.kind.value,
            str(hop.link) if hop.link else "-",
            _rate(hop),
            _("narrowest") if hop is narrowest else "",
        )
        for hop in path.hops
    ]
    print_table((_("from"), _("to"), _("kind"), _("link"), _("one way"), ""), rows)
    if narrowest is None:
        click.echo(_("No hop's bandwidth is known."))
    else:
        whole = all(hop.bytes_per_s is not None or hop.kind == "internal" for hop in path.hops)
        form = _("Narrowest: {source} → {target}, {rate}")
        if not whole:
            form = _("Narrowest of the known: {source} → {target}, {rate}")
        sentence = form.format(source=narrowest.source, target=narrowest.target, rate=_rate(narrowest))
        click.echo(printable(sentence))
    if any(hop.kind is HopKind.SOCKETS for hop in path.hops):
        click.echo(_("Between sockets it is what NCCL counts with; gdviz predict tells what is reached."))
    port = nic.speed_bytes_per_s
    if port is not None and narrowest is not None and port < (narrowest.bytes_per_s or 0):
        sentence = _("The port of {nic} carries less than any hop: {rate}").format(
            nic=nic.name, rate=format_bits(port)
        )
        click.echo(printable(sentence))


def _rate(hop: Hop) -> str:
    return "-" if hop.bytes_per_s is None else format_bits(hop.bytes_per_s)
