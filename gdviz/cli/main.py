"""The command ``gdviz``: one module of this package a command, imported when it is used.

Output for people is aligned text, ``--json`` prints one object. A mistake is one line on standard error
and exit status 2.
"""

from __future__ import annotations

import errno
import os
import sys
from importlib import import_module
from typing import Any

import click

from gdviz.cli.output import printable
from gdviz.errors import GdvizError

#: Commands in the order of the help, each the ``command`` of the module of its name.
COMMANDS: tuple[str, ...] = (
    "open",
    "path",
    "doctor",
    "machines",
    "capture",
    "predict",
    "validate",
    "claims",
    "calibrate",
    "nodes",
    "bench",
)


class _Group(click.Group):
    """A group that ends in one line instead of a traceback where a person made a mistake."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        found = import_module(f"gdviz.cli.{name}").command
        assert isinstance(found, click.Command)
        return found

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
        except click.UsageError as error:
            if error.ctx is None or error.ctx is ctx or isinstance(error, click.exceptions.NoArgsIsHelpError):
                raise
            click.echo(
                f"gdviz: {printable(error.format_message())} ({error.ctx.command_path} --help)", err=True
            )
            ctx.exit(2)
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise  # the reader of a pipe has left, which click ends quietly
            where = f"{error.filename}: " if error.filename else ""
            click.echo(f"gdviz: {printable(where + (error.strerror or str(error)))}", err=True)
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

    PATH is whatever tells of a machine: a file, a folder, an archive, this host (live:), or the name of a
    reference machine (see gdviz machines).
    """
