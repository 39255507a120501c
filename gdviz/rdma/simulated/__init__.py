"""The simulated provider: the rules of the verbs and real bytes, without any hardware."""

from __future__ import annotations

from gdviz.rdma.simulated.host import SimulatedHost
from gdviz.rdma.simulated.network import SimulatedNetwork
from gdviz.rdma.simulated.provider import SimulatedProvider

__all__ = ["SimulatedHost", "SimulatedNetwork", "SimulatedProvider"]
