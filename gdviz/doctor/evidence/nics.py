"""Which PCI functions are the GPUs and the RDMA NICs of a node."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gdviz.doctor.evidence.grep import grep
from gdviz.doctor.evidence.node import NodeEvidence
from gdviz.doctor.evidence.pci import is_gpu
from gdviz.machine import normal_bus_id
from gdviz.readers import Reading
from gdviz.readers.lspci import PciFunction, PciListing
from gdviz.readers.lspci.facts import INFINIBAND_CLASS, NETWORK

#: Drivers of NICs that do RDMA, and vendors that make little else (Mellanox; Amazon's EFA by device).
_DRIVERS = {
    "mlx5_core",
    "mlx4_core",
    "bnxt_en",
    "bnxt_re",
    "irdma",
    "ice",
    "efa",
    "ionic",
    "hns3",
    "erdma",
    "qedr",
}
_MELLANOX = 0x15B3

_OF_DRIVER = re.compile(
    rf"\b(?:{'|'.join(sorted(_DRIVERS))}) (?P<busid>[0-9a-f]{{4}}:[0-9a-f]{{2}}:[0-9a-f]{{2}}\.[0-7])\b"
)


def is_rdma_nic(function: PciFunction) -> bool:
    """Return whether a function is a NIC that does RDMA."""
    if function.class_code == INFINIBAND_CLASS:
        return True
    if function.class_code is None or function.class_code >> 8 != NETWORK:
        return False
    return (
        function.vendor == _MELLANOX
        or function.driver in _DRIVERS
        or "mellanox" in function.name.lower()
        or "connectx" in function.name.lower()
    )


def rdma_functions(node: NodeEvidence, reading: Reading) -> Iterator[PciFunction]:
    """Go through the RDMA NICs of a listing."""
    del node
    if isinstance(reading.facts, PciListing):
        for function in reading.facts.functions:
            if is_rdma_nic(function):
                yield function


def gpu_functions(reading: Reading) -> Iterator[PciFunction]:
    """Go through the GPUs of a listing (consoles of management controllers are none)."""
    if isinstance(reading.facts, PciListing):
        for function in reading.facts.functions:
            maker = function.vendor in (0x10DE, 0x1002, 0x8086) or any(
                word in function.name for word in ("NVIDIA", "AMD", "Advanced Micro", "Intel")
            )
            if is_gpu(function) and maker:
                yield function


def bus_ids_of_drivers(node: NodeEvidence) -> set[str]:
    """Return bus ids of the NICs that the kernel's log names by an RDMA driver, where all may be in use.

    The log of NCCL names devices only; where it uses as many as there are, these are the ones. Where no log
    tells what is used, all are.
    """
    found = set()
    for cited in grep(node, _OF_DRIVER):
        match = _OF_DRIVER.search(cited.text)
        busid = normal_bus_id(match["busid"]) if match else None
        if busid:
            found.add(busid)
    names = {nic.name for nic in node.log.nics.values()}
    return found if not names or len(found) <= len(names) else set()


def bus_ids_in_use(node: NodeEvidence) -> set[str] | None:
    """Return bus ids of the NICs that the job uses; None where no file says which."""
    if not node.log.nics:
        return None
    names = {nic.name for nic in node.log.nics.values()}
    known = {nic.busid for nic in node.joined.nics if nic.name in names and nic.busid}
    return known or None
