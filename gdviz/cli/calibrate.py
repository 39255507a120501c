"""``gdviz calibrate``: fit the model to a measured sweep."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gdviz.cli.ends import endpoint, open_node
from gdviz.cli.output import print_json, printable
from gdviz.errors import GdvizError
from gdviz.messages import _

if TYPE_CHECKING:
    from gdviz.model import Calibration, Constants


@click.command("calibrate")
@click.argument("path")
@click.option("--measured", required=True, metavar="FILE", help="perftest's output, text or JSON.")
@click.option("--gpu", help="Index, bus id or name of the GPU; 'host' for host memory.")
@click.option("--nic", help="Index, bus id or name of the NIC; without it, the nearest one.")
@click.option("--node", help="Name or index of the node, where the file has several.")
@click.option("--fit", multiple=True, help="Name of a constant to fit; may be given several times.")
@click.option("--save", metavar="FILE", help="Write the constants, for gdviz predict --constants.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    path: str,
    measured: str,
    gpu: str | None,
    nic: str | None,
    node: str | None,
    fit: tuple[str, ...],
    save: str | None,
    as_json: bool,
) -> None:
    """Fit the model's uncertain constants to a measured sweep between two nodes like PATH.

    Every other size is held out, and the fit is judged by these.
    """
    from gdviz.doctor.calibrate import calibrate
    from gdviz.model.calibration import UNCERTAIN

    end = endpoint(open_node(path, node), gpu, nic)
    found = calibrate(measured, end, end, fit=fit or UNCERTAIN)
    if save is not None:
        changed = {name: getattr(found.constants, name) for name in found.changed}
        Path(save).write_text(json.dumps(changed, indent=1) + "\n", encoding="utf-8")
    if as_json:
        print_json(calibration_as_dict(found))
        return
    for line in str(found).splitlines():
        click.echo(printable(line))


def calibration_as_dict(found: Calibration) -> dict[str, Any]:
    """Return a calibration as ``gdviz calibrate --json`` prints it."""
    return {
        "constants": {name: {"before": old, "after": new} for name, (old, new) in found.changed.items()},
        "idle": list(found.idle),
        **{name: asdict(getattr(found, name)) for name in ("before", "fitted", "held_out")},
    }


def read_constants(file: str | None) -> Constants:
    """Return the default constants with those of a file that ``--save`` wrote.

    Raises
    ------
    GdvizError
        The file cannot be read, or holds anything but numbers by the names of constants.
    """
    from dataclasses import fields, replace

    from gdviz.model import DEFAULTS, Constants
    from gdviz.readers.source import read_bytes

    if file is None:
        return DEFAULTS
    try:
        values = json.loads(read_bytes(file))
    except ValueError as error:
        if isinstance(error, GdvizError):
            raise
        raise GdvizError(
            _("{file} is no JSON: {error}.").format(file=repr(file)[:200], error=error)
        ) from None
    known = {field.name for field in fields(Constants)}
    odd = [name for name in values if name not in known] if isinstance(values, dict) else [str(values)[:60]]
    wrong = odd or [
        name
        for name, value in values.items()
        if isinstance(value, bool) != isinstance(getattr(DEFAULTS, name), bool)
        or not isinstance(value, int | float)
        or not 0 <= value < 1e18
    ]
    if wrong:
        raise GdvizError(
            _("{file} has no constant that can be used in {name!r}.").format(
                file=repr(file)[:200], name=str(wrong[0])[:60]
            ),
            _("gdviz calibrate --save writes such files."),
        )
    return replace(DEFAULTS, **values)
