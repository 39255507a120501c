"""The PCIe link to assume where a source does not tell generation or width: virtual machines, short listings.

A GPU or NIC of known model gets its model's own link, a bridge the fastest link below it. Of all others
`gdviz.model.pcie.known_link` takes what NCCL takes: Gen3 x16.
"""

from __future__ import annotations

from gdviz.machine import Bridge, Device, Gpu, Machine, Nic, PcieLink
from gdviz.machine.known import nic_model
from gdviz.model.pcie import known_link

#: Generation by compute capability, from NVIDIA's data sheets: Pascal to Turing 3, Ampere and Ada 4, Hopper
#: and later 5.
_BY_CAPABILITY = ((90, 5), (80, 4), (0, 3))

#: Generation of AMD's Instinct models by the beginning of their names.
_INSTINCT = {"Instinct MI3": 5, "Instinct MI": 4}

#: Generation and lanes by NIC model, from the makers' data sheets.
_BY_NIC = {
    "ConnectX-3": (3, 8), "ConnectX-4 Lx": (3, 8), "ConnectX-4": (3, 16), "ConnectX-5": (3, 16),
    "ConnectX-5 Ex": (4, 16), "ConnectX-6": (4, 16), "ConnectX-6 Dx": (4, 16), "ConnectX-6 Lx": (4, 8),
    "ConnectX-7": (5, 16), "ConnectX-8": (6, 16), "BlueField-2": (4, 16), "BlueField-3": (5, 16),
    "BCM57508 Thor": (4, 16), "BCM57608 Thor 2": (5, 16),
}  # fmt: skip


def link_of(machine: Machine, part: Bridge | Gpu | Nic | Device) -> tuple[PcieLink, bool]:
    """Return the link above a part, and whether anything of it is assumed."""
    gen, width = part.link.gen, part.link.width
    if gen is not None and width:
        return known_link(part.link)
    usual = _below(machine, part) if isinstance(part, Bridge) else _of_model(part)
    if usual is None:
        return known_link(part.link)
    return known_link(PcieLink(gen or usual.gen, width or usual.width))[0], True


def _below(machine: Machine, bridge: Bridge) -> PcieLink | None:
    links = [
        link_of(machine, child)[0]
        for child in machine.children(bridge.id)
        if isinstance(child, Bridge | Gpu | Nic)
    ]
    return max(links, key=lambda link: link.bandwidth_bytes_per_s or 0.0, default=None)


def _of_model(part: Gpu | Nic | Device) -> PcieLink | None:
    if isinstance(part, Nic):
        name = nic_model(part.pci.vendor, part.pci.device) or part.model or ""
        found = _BY_NIC.get(name.removesuffix(" virtual function"))
        return PcieLink(*found) if found else None
    if not isinstance(part, Gpu):
        return None
    for begin, gen in _INSTINCT.items():
        if part.name.startswith(begin):
            return PcieLink(gen, 16)
    capability = part.compute_capability
    if not capability:
        return None
    return PcieLink(next(gen for least, gen in _BY_CAPABILITY if capability >= least), 16)
