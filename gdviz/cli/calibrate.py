"""``gdviz calibrate``: fit the model to a measured sweep."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gdviz.cli.ends import end_options, two_ends
from gdviz.cli.output import print_json, printable
from gdviz.errors import GdvizError
from gdviz.messages import _

if TYPE_CHECKING:
    from gdviz.model import Calibration, Constants


@click.command("calibrate")
@click.argument("path")
@click.option("--measured", required=True, metavar="FILE", help="perftest's output, text or JSON.")
@end_options
@click.option(
    "--path",
    "data_path",
    type=click.Choice(["direct", "staged"]),
    default="direct",
    show_default=True,
    help="By which path it was measured.",
)
@click.option("--fit", multiple=True, help="Name of a constant to fit; may be given several times.")
@click.option("--constants", metavar="FILE", help="Constants to start from, as --save writes them.")
@click.option("--save", metavar="FILE", help="Write the constants, for gdviz predict --constants.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    path: str,
    measured: str,
    data_path: str,
    fit: tuple[str, ...],
    constants: str | None,
    save: str | None,
    as_json: bool,
    **ends: str | None,
) -> None:
    """Fit the model's uncertain constants to a measured sweep between two nodes like PATH.

    Every other size is held out, and the fit is judged by these. MTU, link layer and strict ordering are
    taken from what perftest prints.
    """
    from gdviz.doctor.calibrate import calibrate
    from gdviz.model import DataPath
    from gdviz.model.calibration import UNCERTAIN

    found = calibrate(
        measured,
        *two_ends(path, **ends),
        path=DataPath(data_path),
        fit=fit or UNCERTAIN,
        constants=read_constants(constants),
    )
    if save is not None and found.usable:
        _save(save, found.constants)
    if as_json:
        print_json(calibration_as_dict(found))
    else:
        for line in str(found).splitlines():
            click.echo(printable(line))
    if save is not None and not found.usable:
        raise GdvizError(_("{file} is not written.").format(file=repr(save)[:200]))
    if save is not None:
        click.echo(printable(_("Written: {file}").format(file=save)), err=True)


def calibration_as_dict(found: Calibration) -> dict[str, Any]:
    """Return a calibration as ``gdviz calibrate --json`` prints it.

    A spread is null where there are no more points than constants.
    """
    return {
        "constants": {
            name: {
                "before": old,
                "after": new,
                "bounds": found.bounds[name],
                "at_bound": name in found.at_bound,
                "spread": found.spread[name] if math.isfinite(found.spread[name]) else None,
            }
            for name, (old, new) in found.changed.items()
        },
        "idle": list(found.idle),
        "usable": found.usable,
        **{name: asdict(getattr(found, name)) for name in ("before", "fitted", "held_out")},
    }


def _save(file: str, constants: Constants) -> None:
    """Write the constants that are not the default ones."""
    from gdviz.model.calibration import saved_values

    changed = saved_values(constants)
    try:
        Path(file).write_text(json.dumps(changed, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise GdvizError(
            _("{file} cannot be written: {error}.").format(
                file=repr(file)[:200], error=error.strerror or error
            )
        ) from None


def read_constants(file: str | None) -> Constants:
    """Return the default constants with those of a file that ``--save`` wrote.

    Raises
    ------
    GdvizError
        The file cannot be read, or holds anything but values that constants can have, by their names.
    """
    from gdviz.model import DEFAULTS
    from gdviz.model.calibration import constants_of
    from gdviz.readers.source import read_bytes

    if file is None:
        return DEFAULTS
    try:
        values = json.loads(read_bytes(file))
    except GdvizError:
        raise
    except (ValueError, RecursionError) as error:
        raise GdvizError(
            _("{file} is no JSON: {error}.").format(file=repr(file)[:200], error=str(error)[:200])
        ) from None
    if not isinstance(values, dict):
        raise GdvizError(
            _("{file} holds no constants by name.").format(file=repr(file)[:200]),
            _("gdviz calibrate --save writes such files."),
        )
    return constants_of(values)
