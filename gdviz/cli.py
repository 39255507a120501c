"""gdviz in a terminal: open a machine, show a path.

Output for people is aligned text, ``--json`` prints one object. Strings of files are escaped before
they reach the terminal. A mistake is one line on standard error and exit status 2.
"""

from __future__ import annotations

import errno
import json
import os
import sys
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from gdviz.errors import GdvizError, UnknownDeviceError
from gdviz.messages import _

if TYPE_CHECKING:
    from gdviz.machine import Hop, Machine, Path
    from gdviz.readers import Opened

#: A path that begins so names a machine of the catalogue.
_CATALOGUE = "catalogue:"

#: GPU-NIC pairs up to which the nearest NIC of each GPU is looked up.
_MAX_PAIRS = 4096


class _Group(click.Group):
    """A group that ends in one line instead of a traceback where a person made a mistake."""

    def invoke(self, ctx: click.Context) -> Any:
        # A terminal that cannot show a letter gets an escape, not a traceback.
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        try:
            return super().invoke(ctx)
        except GdvizError as error:
            click.echo(f"gdviz: {printable(str(error))}", err=True)
            ctx.exit(2)
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise  # the reader of a pipe has left, which click ends quietly
            click.echo(f"gdviz: {printable(error.strerror or str(error))}", err=True)
            # What could not be written is still buffered; it must not be tried once more at the end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(2)


def _version(ctx: click.Context, _option: click.Parameter, asked: bool) -> None:
    if not asked or ctx.resilient_parsing:
        return
    from importlib.metadata import PackageNotFoundError, version

    try:
        click.echo(f"gdviz {version('gdviz')}")
    except PackageNotFoundError:
        click.echo("gdviz, not installed as a package")
    ctx.exit()


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version)
def main() -> None:
    """See how GPUDirect RDMA moves bytes in a machine.

    PATH is an NCCL topology XML, or the name of a reference machine (see gdviz machines).
    """


@main.command("open")
@click.argument("path")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def open_command(path: str, as_json: bool) -> None:
    """Show what a file says of its machines."""
    opened = _open(path)
    if as_json:
        _print_json(opened_as_dict(opened))
        return
    for machine in opened.machines:
        click.echo(printable(str(machine)))
        _print_machine(machine)
        click.echo()
    for notice in opened.notices:
        where = _("line {n}: ").format(n=notice.line) if notice.line is not None else ""
        click.echo(printable(f"{where}{notice.text}"))


@main.command("path")
@click.argument("path")
@click.option("--gpu", required=True, help="Index, bus id or name of a GPU.")
@click.option("--nic", required=True, help="Index, bus id or name of a NIC.")
@click.option("--node", default=None, help="Name or index of a node, where there are several.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def path_command(path: str, gpu: str, nic: str, node: str | None, as_json: bool) -> None:
    """Show the way from a GPU to a NIC and its narrowest hop."""
    machine = _node(_open(path).machines, node)
    found = machine.path(gpu, nic)
    if as_json:
        _print_json(path_as_dict(found))
    else:
        _print_path(machine, found)


@main.command("machines")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def machines_command(as_json: bool) -> None:
    """List the reference machines of the catalogue."""
    from gdviz.machine import CATALOGUE, reference_machine

    machines = {key: reference_machine(key) for key in CATALOGUE}
    if as_json:
        _print_json({key: len(machine.gpus) for key, machine in machines.items()})
        return
    _print_table(
        (_("machine"), "GPUs", "NICs", "GPU", "NIC"),
        [
            (
                _CATALOGUE + key,
                str(len(machine.gpus)),
                str(len(machine.nics)),
                machine.gpus[0].name,
                machine.nics[0].model,
            )
            for key, machine in machines.items()
        ],
    )


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
                    "speed_gbps": _gbps(nic.speed_bytes_per_s),
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
    return {"kind": opened.kind, "nodes": nodes, "warnings": warnings}


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
        "gbps": _gbps(hop.bytes_per_s),
    }


def _gbps(bytes_per_s: float | None) -> float | None:
    return None if bytes_per_s is None else round(bytes_per_s * 8 / 1e9, 3)


def _numa(numa: int) -> int | None:
    return None if numa < 0 else numa


def _open(path: str) -> Opened:
    from gdviz.machine import CATALOGUE, reference_machine
    from gdviz.readers import Opened, open_path

    # A bare name of the catalogue will do where no file has it.
    if path.startswith(_CATALOGUE) or (path in CATALOGUE and not os.path.lexists(path)):
        return Opened("catalogue", (reference_machine(path.removeprefix(_CATALOGUE)),))
    return open_path(path)


def _node(machines: Sequence[Machine], key: str | None) -> Machine:
    if key is None and len(machines) == 1:
        return machines[0]
    for index, machine in enumerate(machines):
        if key in (machine.name, str(index)):
            return machine
    names = ", ".join(machine.name for machine in machines[:16])
    raise UnknownDeviceError(
        _("The file describes {n} nodes.").format(n=len(machines))
        if key is None
        else _("There is no node {key!r}.").format(key=key[:60]),
        _("Say which with --node: {names}.").format(names=names),
    )


def printable(text: str) -> str:
    r"""Return text that is safe on a terminal: what is no printable character becomes an escape.

    Examples
    --------
    >>> print(printable("mlx5\x1b[31m_0"))
    mlx5\x1b[31m_0
    """
    return "".join(ch if ch.isprintable() else ascii(ch)[1:-1] for ch in text)


def _print_json(value: object) -> None:
    # Everything outside ASCII is escaped already; DEL is the one control character in it that is not.
    click.echo(json.dumps(value, indent=2).replace("\x7f", "\\u007f"))


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
        _print_table(("GPU", _("bus id"), _("name"), "NUMA", _("link"), "GDR", _("nearest NIC")), rows)
    rows = []
    for nic in machine.nics:
        speed = "-" if nic.speed_bytes_per_s is None else format_bits(nic.speed_bytes_per_s)
        numa = "-" if nic.numa < 0 else str(nic.numa)
        row = (str(nic.index), nic.busid or "-", nic.name, numa, str(nic.link), _gdr(nic.gdr), speed)
        rows.append(row)
    if rows:
        _print_table(("NIC", _("bus id"), _("name"), "NUMA", _("link"), "GDR", _("speed")), rows)


def _gdr(said: bool | None) -> str:
    """Return what the source says of GPUDirect RDMA."""
    return "-" if said is None else _("yes") if said else _("no")


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
    _print_table((_("from"), _("to"), _("kind"), _("link"), _("one way"), ""), rows)
    if narrowest is None:
        click.echo(_("No hop's bandwidth is known."))
    else:
        whole = all(hop.bytes_per_s is not None or hop.kind == "internal" for hop in path.hops)
        form = _("Narrowest: {source} → {target}, {rate}")
        if not whole:
            form = _("Narrowest of the known: {source} → {target}, {rate}")
        sentence = form.format(source=narrowest.source, target=narrowest.target, rate=_rate(narrowest))
        click.echo(printable(sentence))


def _rate(hop: Hop) -> str:
    from gdviz.quantities import format_bits

    return "-" if hop.bytes_per_s is None else format_bits(hop.bytes_per_s)


def _print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    table = [[printable(cell) for cell in row] for row in (head, *rows)]
    widths = [max(map(_columns, column)) for column in zip(*table, strict=True)]
    for row in table:
        cells = (cell + " " * (width - _columns(cell)) for cell, width in zip(row, widths, strict=True))
        click.echo("  ".join(cells).rstrip())


def _columns(text: str) -> int:
    """Columns on a terminal: East Asian wide characters take two."""
    return sum(2 if unicodedata.east_asian_width(ch) in "WF" else 1 for ch in text)


if __name__ == "__main__":
    main()
