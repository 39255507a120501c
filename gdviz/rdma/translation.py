"""How the pages of a memory region are found: virtual address, page, bus address, IOMMU.

A GPU's memory is reached through its BAR1 window; host memory by its physical address. Where the IOMMU
translates, the NIC uses an I/O virtual address instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

How: TypeAlias = Literal["dma-buf", "nvidia-peermem", "host pages"]


@dataclass(frozen=True, slots=True)
class Extent:
    """Pages that lie side by side in every address space.

    Attributes
    ----------
    virtual_address
        In the process; for GPU memory the GPU's virtual address.
    page_address
        In the GPU's or the host's physical memory; None where it cannot be known.
    bus_address
        On PCIe: in BAR1 for GPU memory; None where it cannot be known.
    iova
        What the NIC uses where the IOMMU translates; None if it uses `bus_address`.
    length
        Bytes, a multiple of the page.
    """

    virtual_address: int
    page_address: int | None
    bus_address: int | None
    iova: int | None
    length: int


@dataclass(frozen=True, slots=True)
class TranslationRow:
    """One page; the attributes are those of `Extent`."""

    virtual_address: int
    page_bytes: int
    page_address: int | None
    bus_address: int | None
    iova: int | None


@dataclass(frozen=True, slots=True)
class Translation:
    """The pages of a memory region.

    Attributes
    ----------
    how
        What pinned them.
    page_bytes
        64 KiB in BAR1, 4 KiB in host memory.
    extents
        In ascending order of virtual address.
    """

    how: How
    page_bytes: int
    extents: tuple[Extent, ...]

    @property
    def pages(self) -> int:
        """Number of pages."""
        return sum(extent.length for extent in self.extents) // self.page_bytes

    def rows(self, first: int = 0, count: int | None = None) -> Iterator[TranslationRow]:
        """Go through pages, from number `first`, `count` of them or all."""
        last = self.pages if count is None else min(self.pages, first + count)
        number = 0
        for extent in self.extents:
            inside = extent.length // self.page_bytes
            for page in range(max(0, first - number), min(inside, last - number)):
                shift = page * self.page_bytes
                yield TranslationRow(
                    extent.virtual_address + shift,
                    self.page_bytes,
                    _moved(extent.page_address, shift),
                    _moved(extent.bus_address, shift),
                    _moved(extent.iova, shift),
                )
            number += inside


def _moved(address: int | None, shift: int) -> int | None:
    return None if address is None else address + shift
