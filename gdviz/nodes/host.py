"""The host at hand as a node: its hardware as the live reader finds it, and its verbs."""

from __future__ import annotations

from typing import Any

from gdviz.errors import UnknownDeviceError
from gdviz.machine import Machine
from gdviz.messages import _
from gdviz.rdma.hardware import HardwareProvider
from gdviz.readers.live import read_live


def host_machine(name: str | None = None) -> Machine:
    """Return this host's machine, under a name or its own."""
    hostname, readings = read_live(commands=False)
    found = next((machine for reading in readings for machine in reading.machines), Machine(hostname))
    return found.renamed(name or hostname)


def open_host(name: str | None = None, **options: Any) -> HardwareProvider:
    """Open this host's verbs.

    Parameters
    ----------
    name
        For the node; the host's own if none is given.
    options
        Those of `HardwareProvider`.

    Raises
    ------
    UnknownDeviceError
        There is no RDMA device; the remedy says how to have soft-RoCE.
    MissingDependencyError
        There is no Python binding of libibverbs.
    """
    machine = host_machine(name)
    if not machine.nics:
        raise UnknownDeviceError(
            _("{machine} has no RDMA device: there is none in /sys/class/infiniband.").format(
                machine=machine.name
            ),
            _(
                "Without a NIC for RDMA, soft-RoCE makes one of a network card: "
                "sudo rdma link add rxe0 type rxe netdev eth0 (put your card's name for eth0)."
            ),
        )
    return HardwareProvider(machine, **options)
