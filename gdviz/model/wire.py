"""The wire: what a message costs on RoCEv2 or InfiniBand, in bytes and in time."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from gdviz.machine import LinkLayer
from gdviz.model.constants import Constants
from gdviz.model.workload import Fabric, Op

Bytes = TypeVar("Bytes", int, npt.NDArray[np.int64])

#: RoCEv2 over IPv4, untagged: preamble and gap 20, Ethernet 14, IP 20, UDP 8, BTH 12, ICRC 4, FCS 4.
ROCE_HEADER_BYTES = 82
#: InfiniBand: LRH 8, BTH 12, ICRC 4, VCRC 2.
INFINIBAND_HEADER_BYTES = 26

#: Once a message: RETH (address, key, length) of a WRITE, AETH of a READ's response, nothing for SEND.
_ONCE_BYTES = {Op.WRITE: 16, Op.READ: 4, Op.SEND: 0}


def header_bytes(fabric: Fabric) -> int:
    """Return what every packet carries beside its payload."""
    return INFINIBAND_HEADER_BYTES if fabric.link_layer is LinkLayer.INFINIBAND else ROCE_HEADER_BYTES


def efficiency(fabric: Fabric) -> float:
    """Return the share of the port speed that full packets leave to payload: MTU / (MTU + headers)."""
    return fabric.mtu_bytes / (fabric.mtu_bytes + header_bytes(fabric))


def message_bytes(size_bytes: Bytes, fabric: Fabric, op: Op) -> Bytes:
    """Return bytes on the wire for one message; the last packet may be partial."""
    packets = -(-size_bytes // fabric.mtu_bytes)
    return size_bytes + packets * header_bytes(fabric) + _ONCE_BYTES[op]


def one_way_s(fabric: Fabric, constants: Constants) -> float:
    """Return seconds from one NIC to the other, without the time that the bits take."""
    infiniband = fabric.link_layer is LinkLayer.INFINIBAND
    switch_s = constants.ib_switch_s if infiniband else constants.ethernet_switch_s
    return constants.nic_port_s + fabric.switches * switch_s + fabric.cable_m * constants.cable_s_per_m
