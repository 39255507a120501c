"""How messages of the staged path are cut, so that copying and sending overlap.

Both ends work this out alone from the same numbers: a bounce buffer is divided among the queue pairs, and
each part into slots; a message larger than a slot goes in pieces.
"""

from __future__ import annotations

from dataclasses import dataclass

from gdviz.rdma.hardware.worker.work import Order

#: Slots that a bounce buffer is divided into where messages are large, and the least that a piece is worth.
SLOTS, LEAST_BYTES = 4, 4096


@dataclass(frozen=True, slots=True)
class Cut:
    """The pieces of one queue pair's messages, numbered through.

    Attributes
    ----------
    slot_bytes, slots
        Of this queue pair's part of the bounce buffers.
    base
        Where this part begins.
    pieces
        Of a message.
    """

    order: Order
    number: int
    lanes: int
    slot_bytes: int
    slots: int
    base: int

    @classmethod
    def of(cls, order: Order, number: int, lanes: int) -> Cut:
        """Return the cut for one of so many queue pairs."""
        assert order.bounce is not None
        share = max(1, min(order.bounce[0][2], order.bounce[1][2]) // lanes)
        slot = min(order.size_bytes, share, max(LEAST_BYTES, share // SLOTS))
        return cls(order, number, lanes, slot, max(1, min(share // slot, order.window)), number * share)

    @property
    def pieces(self) -> int:
        """Pieces of a message."""
        return -(-self.order.size_bytes // self.slot_bytes)

    @property
    def limit(self) -> int | None:
        """Pieces in all; None where nobody knows."""
        if self.order.count is None:
            return None
        return self.pieces * max(0, -(-(self.order.count - self.number) // self.lanes))

    def piece(self, number: int) -> tuple[int, int]:
        """Return where a piece lies, by its number: its offset from where the messages begin, its length."""
        message, part = divmod(number, self.pieces)
        begin = part * self.slot_bytes
        offset = self.order.offset(self.number + message * self.lanes) + begin
        return offset, min(self.slot_bytes, self.order.size_bytes - begin)

    def slot(self, number: int) -> int:
        """Return where a piece's slot begins in the bounce buffers."""
        return self.base + number % self.slots * self.slot_bytes
