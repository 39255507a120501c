"""What a listed function is: a GPU, an RDMA NIC, a hypervisor's device."""

from __future__ import annotations

import re

from gdviz.machine.known import NICS, GpuModel, gpu_model, nic_model
from gdviz.readers.gpu_names import gpu_model_by_name
from gdviz.readers.lspci.facts import (
    ACCELERATOR,
    DISPLAY,
    INFINIBAND_CLASS,
    NETWORK,
    OLD_INFINIBAND_CLASS,
    Hint,
    PciFunction,
)

_NVIDIA, _AMD, _AMD_CPU, _INTEL = 0x10DE, 0x1002, 0x1022, 0x8086
_DATA_CENTRE_DISPLAY = {0x0380, 0x0302}

#: Of NVIDIA's functions that a tree gives without a class, those that are no GPU.
_NO_GPU = re.compile(
    r"NVSwitch|Audio|USB|Device 22a3|Device 1af1|Device 1ac2|UCSI|ConnectX|BlueField", re.IGNORECASE
)

#: Makers all of whose network functions do RDMA: Mellanox, Chelsio, Pensando.
_RDMA_VENDORS = {0x15B3, 0x1425, 0x1DD8}
#: Elastic Fabric Adapter; MANA; Alibaba's eRDMA; Omni-Path and its successor; Slingshot.
_RDMA_DEVICES = {
    *((0x1D0F, device) for device in (0xEFA0, 0xEFA1, 0xEFA2, 0xEFA3)),
    *((0x1414, 0x00BA), (0x1DED, 0x107F), (0x8086, 0x24F0), (0x8086, 0x24F1), (0x434E, 0x0001)),
    *((0x17DB, 0x0501), (0x1590, 0x0371)),
}
_RDMA_NAMES = re.compile(
    r"\bMellanox\b|\[ConnectX|\bBlueField\b|\bElastic Fabric Adapter\b|\bEFA\b|\bNetXtreme-E\b"
    r"|\bBCM57[4-6]\d\d\b|\bE8[123]0\b|\bX722\b|\bChelsio\b|\bPensando\b|\bOmni-Path\b|\bSlingshot\b|\bMANA\b",
    re.IGNORECASE,
)
_RDMA_DRIVERS = {"mlx5_core", "mlx4_core", "bnxt_en", "ice", "efa", "mana", "cxi_core", "hfi1"}

_HINTS = {
    0x1AF4: ("KVM/QEMU", True),
    0x1B36: ("KVM/QEMU", True),
    0x1234: ("KVM/QEMU", True),
    0x15AD: ("VMware", True),
    0x1414: ("Hyper-V", True),
    0x5853: ("Xen", True),
    0x1D0F: ("Amazon EC2", False),
    0x1AE0: ("Google Cloud", False),
}
_HINT_NAMES = (
    (re.compile(r"\bvirtio\b|\bQEMU\b", re.IGNORECASE), ("KVM/QEMU", True)),
    (re.compile(r"\bVMware\b", re.IGNORECASE), ("VMware", True)),
    (re.compile(r"\bHyper-V\b|\bMicrosoft Corporation\b", re.IGNORECASE), ("Hyper-V", True)),
    (re.compile(r"\bXen(?:Source)?\b", re.IGNORECASE), ("Xen", True)),
    (re.compile(r"\bAmazon\.com\b|\bElastic Network Adapter\b"), ("Amazon EC2", False)),
    (re.compile(r"\bGoogle, Inc\.|\bgVNIC\b", re.IGNORECASE), ("Google Cloud", False)),
)


def is_gpu(function: PciFunction) -> bool:
    """Return whether a function is a GPU that computes: no board's VGA chip and no emulated one."""
    base = None if function.class_code is None else function.class_code >> 8
    if base is None and not function.class_name:
        # A tree names no classes.
        known = gpu_model(function.vendor, function.device) or gpu_model_by_name(function.name)
        return known is not None or (function.vendor == _NVIDIA and not _NO_GPU.search(function.name))
    if base not in (DISPLAY, ACCELERATOR):
        return False
    if function.vendor in (_NVIDIA, _AMD):
        return True
    if function.vendor == _AMD_CPU:
        return "Instinct" in function.name
    return function.vendor == _INTEL and (
        base == ACCELERATOR
        or function.class_code in _DATA_CENTRE_DISPLAY
        or "Data Center GPU" in function.name
    )


def is_nic(function: PciFunction) -> bool:
    """Return whether a function is a NIC that can do RDMA."""
    code = function.class_code
    if code in (INFINIBAND_CLASS, OLD_INFINIBAND_CLASS):
        return True
    if code is not None and code >> 8 != NETWORK:
        return False
    if code is None and (function.class_name or "bridge" in function.name.lower()):
        return False
    if function.device is not None and (function.vendor, function.device) in _RDMA_DEVICES:
        return True
    if code is not None and (function.vendor in _RDMA_VENDORS or function.driver in _RDMA_DRIVERS):
        return True
    return bool(_RDMA_NAMES.search(function.name) or nic_model(function.vendor, function.device))


def model_of_gpu(function: PciFunction) -> GpuModel | None:
    """Return what is known of a GPU by its ids, else by its name."""
    return gpu_model(function.vendor, function.device) or gpu_model_by_name(function.name)


def model_of_nic(function: PciFunction) -> str:
    """Return a NIC's model by its ids, else the one that its name holds, else ``NIC``."""
    if known := nic_model(function.vendor, function.device):
        return known
    names = [name for name in NICS.values() if name in function.name]
    return max(names, key=len) if names else "NIC"


def hint_of(function: PciFunction, subsystem: str = "") -> Hint | None:
    """Return which hypervisor or cloud a function is of, None if it is of none."""
    for vendor in (function.vendor, function.subsystem_vendor):
        if vendor in _HINTS:
            name, proof = _HINTS[vendor]
            return Hint(name, function.line, proof)
    for pattern, (name, proof) in _HINT_NAMES:
        if pattern.search(function.name) or pattern.search(subsystem):
            return Hint(name, function.line, proof)
    return None
