"""The speed of a NIC's port, where its source does not tell: what its model has, as far as its link carries.

Most topologies (NCCL's of clouds, hwloc, lspci) name a NIC and its PCIe link, but not the port's speed.
"""

from __future__ import annotations

from gdviz.machine import Nic
from gdviz.machine.known import nic_model
from gdviz.model.pcie import ASSUMED_WIDTH

_GIGABIT = 1e9 / 8

#: Port speeds that are sold, Gb/s.
_STANDARD = (1, 10, 25, 40, 50, 100, 200, 400, 800)

#: The fastest usual port by model, Gb/s: the makers' data sheets, quoted unverified.
_BY_MODEL = {
    "ConnectX-3": 56, "ConnectX-4 Lx": 50, "ConnectX-4": 100, "ConnectX-5": 100, "ConnectX-5 Ex": 100,
    "ConnectX-6": 200, "ConnectX-6 Dx": 100, "ConnectX-6 Lx": 25, "ConnectX-7": 400, "ConnectX-8": 800,
    "BlueField-2": 100, "BlueField-3": 400, "BCM57508 Thor": 200, "BCM57608 Thor 2": 400,
}  # fmt: skip

#: Amazon's devices share a name; their generations are p4d's, p5's, p5en's and p6's.
_EFA = {0xEFA0: 100, 0xEFA1: 100, 0xEFA2: 200, 0xEFA3: 400}
_AMAZON = 0x1D0F


def assumed_port_bytes_per_s(nic: Nic, otherwise: float) -> float:
    """Return the speed to assume for a port, bytes a second.

    The model's fastest usual port, but no more than the fastest that its PCIe link can feed; of an unknown
    model what the link can feed, if it has the 16 lanes of such NICs.

    Parameters
    ----------
    otherwise
        For a NIC of which neither the model nor the link is known.
    """
    model = _of_model(nic)
    feeds = _of_link(nic)
    if model is None:
        wide = (nic.link.width or 0) >= ASSUMED_WIDTH
        return feeds if feeds is not None and wide else otherwise
    return model if feeds is None else min(model, feeds)


def _of_model(nic: Nic) -> float | None:
    if nic.pci.vendor == _AMAZON:
        speed = _EFA.get(nic.pci.device or 0)
    else:
        name = nic_model(nic.pci.vendor, nic.pci.device) or nic.model or ""
        speed = _BY_MODEL.get(name.removesuffix(" virtual function"))
    return None if speed is None else speed * _GIGABIT


def _of_link(nic: Nic) -> float | None:
    carried = nic.link.bandwidth_bytes_per_s
    if not carried:
        return None
    return max((speed for speed in _STANDARD if speed * _GIGABIT <= carried), default=_STANDARD[0]) * _GIGABIT
