"""The state of a simulated host: everything that its tools would show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gdviz.machine import Machine, PcieLink
from gdviz.rdma.simulated import SimulatedHost


@dataclass(frozen=True)
class HostState:
    """A simulated host as its tools show it.

    Attributes
    ----------
    machine
        Its hardware.
    settings
        What its kernel and driver offer.
    acs_redirects
        Whether the downstream ports of its switches redirect peer-to-peer traffic.
    links
        Links trained otherwise than the machine says, by id of the part below; the ``max_`` values are
        what both ends can.
    mtu_bytes
        Active MTU of its ports.
    ports_down
        Names of NICs whose port is down.
    gid_index
        NCCL_IB_GID_INDEX; None: not set.
    env
        More of its environment.
    open_driver
        Whether the driver's kernel modules are the open ones.
    address
        Last byte of its addresses.
    """

    machine: Machine
    settings: SimulatedHost = SimulatedHost()
    acs_redirects: bool = False
    links: Mapping[str, PcieLink] = field(default_factory=dict)
    mtu_bytes: int = 4096
    ports_down: frozenset[str] = frozenset()
    gid_index: int | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    open_driver: bool = True
    address: int = 11

    @property
    def registers(self) -> bool:
        """Whether GPU memory can be registered."""
        return self.settings.dma_buf or self.settings.peermem
