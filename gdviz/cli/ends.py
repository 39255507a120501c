"""The two ends of a transfer that a command's options name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from gdviz.cli.opening import open_path_or_catalogue, pick_node
from gdviz.errors import GdvizError, UnknownDeviceError
from gdviz.messages import _

if TYPE_CHECKING:
    from gdviz.machine import Machine
    from gdviz.model import Endpoint

#: What ``--gpu`` takes for host memory.
HOST = "host"

_OPTIONS = (
    click.option(
        "--gpu", help="Index, bus id or name of the GPU whose memory it is; 'host' for host memory."
    ),
    click.option("--nic", help="Index, bus id or name of the NIC; without it, the nearest one."),
    click.option("--node", help="Name or index of the node, where the file has several."),
    click.option("--remote", metavar="PATH", help="The other node; without it, one like the first."),
    click.option("--remote-gpu", help="As --gpu, of the other node; without it, the same."),
    click.option("--remote-nic", help="As --nic, of the other node; without it, the same."),
    click.option("--remote-node", help="As --node, of the other file."),
)


def end_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that `two_ends` takes."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def two_ends(
    path: str,
    *,
    gpu: str | None,
    nic: str | None,
    node: str | None,
    remote: str | None,
    remote_gpu: str | None,
    remote_nic: str | None,
    remote_node: str | None,
) -> tuple[Endpoint, Endpoint]:
    """Return the two ends that PATH and the options name.

    Raises
    ------
    GdvizError
        A file cannot be read, or a node, a device or the memory is not there.
    """
    near = endpoint(open_node(path, node), gpu, nic)
    other = near.machine if remote is None else open_node(remote, remote_node)
    return near, endpoint(other, remote_gpu or gpu, remote_nic or nic, which="remote-")


def open_node(path: str, node: str | None) -> Machine:
    """Return a node of a file that can be an end of a transfer.

    Raises
    ------
    ReaderError
        The file cannot be read.
    UnknownDeviceError
        There is no such node, or it has no NIC.
    """
    machine = pick_node(open_path_or_catalogue(path).machines, node)
    if not machine.nics:
        raise UnknownDeviceError(
            _("{machine} has no NIC.").format(machine=machine.name),
            _("Open a file that names its NICs, or a reference machine (see gdviz machines)."),
        )
    return machine


def endpoint(machine: Machine, gpu: str | None, nic: str | None, *, which: str = "") -> Endpoint:
    """Return an end; without a NIC the GPU's nearest one.

    Parameters
    ----------
    gpu
        Index, bus id or name of a GPU, or `HOST` for host memory.
    nic
        Index, bus id or name of a NIC.
    which
        What the options' names begin with: ``remote-`` for the far end.

    Raises
    ------
    UnknownDeviceError
        There is no such device.
    GdvizError
        No memory is named.
    """
    from gdviz.model import Endpoint

    if gpu is None:
        raise GdvizError(
            _("No GPU is named."), _("Say which with --{which}gpu, or --{which}gpu host.").format(which=which)
        )
    part = None if gpu == HOST else machine.gpu(gpu)
    if nic is not None:
        return Endpoint(machine, machine.nic(nic).id, part.id if part else None)
    nearest = machine.nearest_nic(part) if part else machine.nics[0]
    assert nearest is not None
    return Endpoint(machine, nearest.id, part.id if part else None)
