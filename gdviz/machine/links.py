"""PCIe links: what a generation and a width carry."""

from __future__ import annotations

from dataclasses import dataclass

#: GT/s of each PCIe generation (PCI Express Base Specification).
GIGATRANSFERS = {1: 2.5, 2: 5.0, 3: 8.0, 4: 16.0, 5: 32.0, 6: 64.0}

#: Share of the transfers that is data: 8b/10b, 128b/130b, and the 242 of 256 bytes of a gen 6 flit.
LINE_CODING = {1: 8 / 10, 2: 8 / 10, 3: 128 / 130, 4: 128 / 130, 5: 128 / 130, 6: 242 / 256}


def lane_bytes_per_s(gen: int) -> float:
    """Return bytes per second of one lane in one direction, after line coding."""
    return GIGATRANSFERS[gen] * 1e9 * LINE_CODING[gen] / 8


@dataclass(frozen=True, slots=True)
class PcieLink:
    """The link from a device to the part above it, one direction.

    Attributes
    ----------
    gen, width
        Generation (1 to 6) and lanes at which the link is trained; None if unknown.
    max_gen, max_width
        What both ends could do; None if unknown.
    """

    gen: int | None = None
    width: int | None = None
    max_gen: int | None = None
    max_width: int | None = None

    @property
    def bandwidth_bytes_per_s(self) -> float | None:
        """Bytes per second one way after line coding, before TLP headers; None if unknown."""
        if self.gen is None or self.width is None:
            return None
        return lane_bytes_per_s(self.gen) * self.width

    @property
    def degraded(self) -> bool:
        """Whether the link is trained below what both ends could do."""
        slower = self.gen is not None and self.max_gen is not None and self.gen < self.max_gen
        narrower = self.width is not None and self.max_width is not None and self.width < self.max_width
        return slower or narrower

    def __str__(self) -> str:
        gen = f"Gen{self.gen}" if self.gen is not None else "Gen?"
        width = f"x{self.width}" if self.width is not None else "x?"
        return f"{gen} {width}"
