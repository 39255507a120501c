"""Simulated memory regions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gdviz.rdma.flags import AccessFlags
from gdviz.rdma.simulated.buffers import SimulatedBuffer
from gdviz.rdma.simulated.registration import Pinned
from gdviz.rdma.translation import Translation

if TYPE_CHECKING:
    from gdviz.rdma.simulated.devices import SimulatedDomain


class SimulatedRegion:
    """Memory that a simulated NIC may use.

    As on the NICs that people know best, one number serves as lkey and rkey.
    """

    def __init__(
        self,
        domain: SimulatedDomain,
        buffer: SimulatedBuffer,
        access: AccessFlags,
        offset: int,
        length: int,
        key: int,
        pinned: Pinned,
        shelf: dict[int, SimulatedRegion],
    ) -> None:
        self.domain = domain
        self.buffer = buffer
        self.access = access
        self.offset = offset
        self.length = length
        self.lkey = self.rkey = key
        self.deregistered = False
        self._pinned = pinned
        self._shelf = shelf
        shelf[key] = self
        buffer.regions += 1

    @property
    def node(self) -> str:
        """Name of the node."""
        return self.domain.device.provider.node

    @property
    def nic(self) -> str:
        """Id of the NIC."""
        return self.domain.device.nic.id

    @property
    def address(self) -> int:
        """Virtual address of its first byte."""
        return self.buffer.address + self.offset

    @property
    def translation(self) -> Translation:
        """How its pages are found."""
        return self._pinned.translation

    @property
    def page_bytes(self) -> int:
        """Bytes of a page."""
        return self.translation.page_bytes

    @property
    def pages(self) -> int:
        """Pages that are pinned."""
        return self.translation.pages

    def holds(self, address: int, length: int) -> bool:
        """Whether a range lies inside."""
        return self.address <= address and address + length <= self.address + self.length

    def deregister(self) -> None:
        """Unpin it; its keys are void from now on. Doing it twice is fine."""
        if self.deregistered:
            return
        network = self.domain.device.provider.network
        network.settle()
        self.discard()
        network.changed()

    def discard(self) -> None:
        """Unpin it without telling anyone."""
        self.deregistered = True
        self.buffer.regions -= 1
        self._pinned.release()
        del self._shelf[self.lkey]

    def __repr__(self) -> str:
        return f"<region {self.lkey:#x} of {self.buffer!r}, {self.access.text}>"
