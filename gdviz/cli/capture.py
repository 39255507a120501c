"""``gdviz capture``: what matters on this host, in one JSON file."""

from __future__ import annotations

from pathlib import Path

import click

from gdviz.errors import GdvizError
from gdviz.messages import _


@click.command("capture")
@click.option("-o", "--output", default="-", help="File to write; - is standard output.")
@click.option("--anonymise", is_flag=True, help="Replace host names, addresses, GUIDs and serial numbers.")
@click.option("--key", default="", help="Text that makes --anonymise agree between hosts.")
@click.option(
    "--script", is_flag=True, help="Print the script itself: ssh NODE python3 - < SCRIPT > NODE.json"
)
def command(output: str, anonymise: bool, key: str, script: bool) -> None:
    """Write what matters for GPUDirect RDMA on this host into one JSON file.

    Needs no root; says on standard error what it could not have without. Nothing secret is taken: of the
    environment only names that begin with NCCL_, UCX_, CUDA_ or GDR.
    """
    from gdviz.readers import capture_script

    if key and not anonymise:
        raise GdvizError(_("--key is for --anonymise, which is not given."))

    if script:
        text = Path(capture_script.__file__).read_text(encoding="utf-8")
        if output == "-":
            click.echo(text, nl=False)
        else:
            Path(output).write_text(text, encoding="utf-8")
        return
    arguments = ["--output", output, "--key", key]
    capture_script.main([*arguments, "--anonymise"] if anonymise else arguments)
