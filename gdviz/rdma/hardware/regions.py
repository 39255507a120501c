"""Memory regions on real NICs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gdviz.rdma.flags import AccessFlags
from gdviz.rdma.hardware.buffers import HardwareBuffer
from gdviz.rdma.translation import Translation

if TYPE_CHECKING:
    from gdviz.rdma.hardware.devices import HardwareDomain


class HardwareRegion:
    """Memory that a NIC may use, or (with `number` None) memory that is only named for the staged path."""

    def __init__(
        self,
        domain: HardwareDomain,
        buffer: HardwareBuffer,
        access: AccessFlags,
        offset: int,
        length: int,
        keys: tuple[int, int],
        translation: Translation,
        number: int | None,
    ) -> None:
        self.domain = domain
        self.buffer = buffer
        self.access = access
        self.offset = offset
        self.length = length
        self.lkey, self.rkey = keys
        self.translation = translation
        self.number = number
        self.deregistered = False
        buffer.regions += 1
        domain.regions.add(self)

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
        """Virtual address of its first byte, in the worker process."""
        address: int = self.buffer.address + self.offset
        return address

    @property
    def page_bytes(self) -> int:
        """Bytes of a page."""
        return self.translation.page_bytes

    @property
    def pages(self) -> int:
        """Pages that are pinned."""
        return self.translation.pages

    def deregister(self) -> None:
        """Unpin it; its keys are void from now on. Doing it twice is fine."""
        if self.deregistered:
            return
        provider = self.domain.device.provider
        provider.tell_region_gone(self)
        if self.number is not None:
            provider.worker.call("give_back", self.number, what="ibv_dereg_mr")
        self.discard()

    def discard(self) -> None:
        """Give it back on this side alone."""
        self.deregistered = True
        self.buffer.regions -= 1
        self.domain.regions.discard(self)

    def __repr__(self) -> str:
        kind = "staged" if self.number is None else f"{self.lkey:#x}"
        return f"<region {kind} of {self.buffer!r}, {self.access.text}>"
