"""Which nodes a worker holds: what is sent to it so that it can make their providers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from gdviz.clock import RealClock
from gdviz.machine import Machine
from gdviz.model import Fabric
from gdviz.rdma import Provider
from gdviz.rdma.simulated import SimulatedHost, SimulatedNetwork


class Supply(Protocol):
    """Makes the providers of a worker; it is pickled and sent there."""

    def providers(self, worker: str) -> Sequence[Provider]:
        """Return the providers of the worker of that address; none where it holds no node."""


@dataclass(frozen=True)
class SimulatedNodes:
    """Simulated nodes. They share one network, and so they all live on one worker.

    Attributes
    ----------
    worker
        Address of that worker.
    machines, fabric, host, seed
        See `gdviz.session.Session.simulated`.
    """

    worker: str
    machines: tuple[Machine, ...]
    fabric: Fabric | None = None
    host: SimulatedHost | None = None
    seed: int = 1

    def providers(self, worker: str) -> Sequence[Provider]:
        """Return all nodes on the one worker, none on the others."""
        if worker != self.worker:
            return ()
        network = SimulatedNetwork(RealClock(), fabric=self.fabric, seed=self.seed)
        settings = self.host or SimulatedHost()
        return tuple(network.provider(machine, settings=settings) for machine in self.machines)


@dataclass(frozen=True)
class HardwareNodes:
    """The hardware of each worker's host: a worker is a node, named after the host."""

    def providers(self, worker: str) -> Sequence[Provider]:
        """Return the host's provider.

        Raises
        ------
        GdvizError
            The host has no RDMA device that can be used; the message says why.
        """
        from gdviz.nodes.host import open_host

        del worker
        return (open_host(os.uname().nodename),)
