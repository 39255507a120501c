"""``gdviz claims``: what is said of the two paths, beside what the model computes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gdviz.cli.output import print_json, print_table
from gdviz.messages import _

if TYPE_CHECKING:
    from gdviz.model.claims import Claim


@click.command("claims")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(as_json: bool) -> None:
    """Compute what introductions claim of GPUDirect RDMA, for two usual pairs of nodes."""
    from gdviz.model.claims import claims

    found = claims()
    if as_json:
        print_json({"claims": [claim_as_dict(claim) for claim in found]})
        return
    print_table(
        (_("pair"), _("path"), _("what"), _("claimed"), _("computed"), "", _("why")),
        [
            (
                claim.pair,
                claim.path.value,
                claim.what,
                _range(claim),
                f"{claim.computed:.3g} {claim.unit}",
                _("agrees") if claim.agrees else _("differs"),
                claim.why,
            )
            for claim in found
        ],
    )


def claim_as_dict(claim: Claim) -> dict[str, object]:
    """Return a claim as ``gdviz claims --json`` prints it."""
    return {
        "pair": claim.pair,
        "path": claim.path.value,
        "what": claim.what,
        "unit": claim.unit,
        "claimed": [claim.low, claim.high],
        "computed": claim.computed,
        "agrees": claim.agrees,
        "why": claim.why,
    }


def _range(claim: Claim) -> str:
    if claim.low is None:
        return f"< {claim.high:g} {claim.unit}"
    if claim.high is None:
        return f"> {claim.low:g} {claim.unit}"
    return f"{claim.low:g}-{claim.high:g} {claim.unit}"
