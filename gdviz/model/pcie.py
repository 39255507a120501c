"""PCIe: what a message costs on a link, in bytes.

After Neugebauer et al., "Understanding PCIe performance for end host networking", SIGCOMM 2018
(doi 10.1145/3230543.3230560): payload travels in packets of at most MPS bytes, each with framing, link
and transaction headers; the data link layer takes its share for acknowledgements and flow control.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from gdviz.machine import PcieLink
from gdviz.machine.links import lane_bytes_per_s

Bytes = TypeVar("Bytes", int, npt.NDArray[np.int64])

#: Framing and link layer 8 B, generic header 4 B, then 12 B of 64-bit address (requests) ...
REQUEST_HEADER_BYTES = 24
#: ... or 8 B of completer and requester (completions).
COMPLETION_HEADER_BYTES = 20
#: The optional end-to-end checksum at a packet's end.
ECRC_BYTES = 4

_DLLP_BYTES = 8
_SKIP_BYTES, _SKIP_INTERVAL_BYTES = 4, 1538

#: Bytes after which a receiver acknowledges (PCIe Base Specification, gen 3), by MPS.
_ACK_LIMIT_X16 = {128: 144, 256: 168, 512: 182}
_ACK_LIMIT_NARROW = {128: 163, 256: 203, 512: 182}

#: What NCCL takes a link of unknown generation or width for.
ASSUMED_GEN, ASSUMED_WIDTH = 3, 16


def known_link(link: PcieLink) -> tuple[PcieLink, bool]:
    """Return a link with NCCL's assumptions (Gen3, x16) in place of what is unknown, and whether any were.

    A width of 0, as virtual machines report it, counts as unknown.
    """
    gen = link.gen if link.gen in range(1, 7) else None
    assumed = gen is None or not link.width
    return PcieLink(gen or ASSUMED_GEN, link.width or ASSUMED_WIDTH), assumed


def link_layer_share(width: int, mps_bytes: int) -> float:
    """Return the share of a link that the data link layer leaves to packets.

    Each `ack limit` of bytes is matched by one acknowledgement and one flow control packet of 8 B, and
    every 1538 bytes carry a skip of 4 B.
    """
    table = _ACK_LIMIT_X16 if width >= 16 else _ACK_LIMIT_NARROW
    limit = table[max(128, min(512, 1 << (int(mps_bytes).bit_length() - 1)))]
    return 1 - 2 * _DLLP_BYTES / limit - _SKIP_BYTES / _SKIP_INTERVAL_BYTES


def packet_bytes_per_s(link: PcieLink, mps_bytes: int) -> float:
    """Return bytes a second, headers included, that a link of known generation and width carries one way."""
    assert link.gen is not None and link.width is not None
    return lane_bytes_per_s(link.gen) * link.width * link_layer_share(link.width, mps_bytes)


def write_bytes(size_bytes: Bytes, payload_bytes: int, *, ecrc: bool = False) -> Bytes:
    """Return bytes on the link for a write, in packets of at most `payload_bytes`."""
    return size_bytes + -(-size_bytes // payload_bytes) * (REQUEST_HEADER_BYTES + ECRC_BYTES * ecrc)


def completion_bytes(size_bytes: Bytes, payload_bytes: int, *, ecrc: bool = False) -> Bytes:
    """Return bytes on the link for the data that answer a read."""
    return size_bytes + -(-size_bytes // payload_bytes) * (COMPLETION_HEADER_BYTES + ECRC_BYTES * ecrc)


def read_request_bytes(size_bytes: Bytes, mrrs_bytes: int, *, ecrc: bool = False) -> Bytes:
    """Return bytes on the link, against the data, that ask for a read."""
    return -(-size_bytes // mrrs_bytes) * (REQUEST_HEADER_BYTES + ECRC_BYTES * ecrc)


def effective_bytes_per_s(
    link: PcieLink,
    size_bytes: int,
    *,
    reads: bool = False,
    writes: bool = False,
    mps_bytes: int = 256,
    mrrs_bytes: int = 512,
) -> float:
    """Return payload bytes a second one way for transfers of one size.

    With `reads` and `writes` both, a device does both at once at the same rate, and the link's direction
    towards the host carries the writes and the read requests.
    """
    towards_host = 0
    if writes:
        towards_host += write_bytes(size_bytes, mps_bytes)
    if reads:
        towards_host += read_request_bytes(size_bytes, mrrs_bytes)
    towards_device = completion_bytes(size_bytes, mps_bytes) if reads else 0
    return size_bytes * packet_bytes_per_s(link, mps_bytes) / max(towards_host, towards_device)
