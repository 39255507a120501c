"""The two ends of a transfer that a command's options name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gdviz.cli.opening import open_path_or_catalogue, pick_node
from gdviz.errors import GdvizError, UnknownDeviceError
from gdviz.messages import _

if TYPE_CHECKING:
    from gdviz.machine import Machine
    from gdviz.model import Endpoint

#: What ``--gpu`` takes for host memory.
HOST = "host"


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
