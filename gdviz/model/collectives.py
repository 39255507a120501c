"""Rings across nodes: what nccl-tests calls bus bandwidth, from the bandwidth of the node's NICs.

In a ring AllReduce of n ranks every link carries ``2 (n - 1) / n`` times the data, and bus bandwidth is
the algorithm's bandwidth times that factor (nccl-tests, doc/PERFORMANCE.md): it is the rate of the
slowest link. Between nodes the channels' links share all NICs of a node.
"""

from __future__ import annotations

from gdviz.model.constants import DEFAULTS, Constants


def ring_busbw_bytes_per_s(
    nic_bytes_per_s: float, nics: int, inside_bytes_per_s: float = float("inf")
) -> float:
    """Return the bus bandwidth of large messages around a ring over several nodes.

    Parameters
    ----------
    nic_bytes_per_s
        What one NIC moves in one direction.
    nics
        NICs of a node that the ring uses.
    inside_bytes_per_s
        What the ring carries from GPU to GPU inside a node (NVLink).
    """
    return min(nic_bytes_per_s * nics, inside_bytes_per_s)


def socket_bytes_per_s(constants: Constants = DEFAULTS) -> float:
    """Return bytes a second of one TCP connection on one core of the receiver.

    The kernel's stack works for each packet, and the CPU copies each byte once to the user.
    """
    packet = constants.socket_mtu_bytes
    return packet / (constants.socket_packet_s + packet / constants.memcpy_bytes_per_s)
