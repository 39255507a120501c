"""Class and vendor names as the PCI id list spells them, to their numbers."""

from __future__ import annotations

import re

#: Classes that gdviz tells apart; all others stay names.
CLASSES = {
    "host bridge": 0x0600,
    "isa bridge": 0x0601,
    "pci bridge": 0x0604,
    "bridge": 0x0680,
    "infiniband to pci host bridge": 0x060A,
    "vga compatible controller": 0x0300,
    "3d controller": 0x0302,
    "display controller": 0x0380,
    "ethernet controller": 0x0200,
    "infiniband controller": 0x0207,
    "fabric controller": 0x0208,
    "network controller": 0x0280,
    "non-volatile memory controller": 0x0108,
    "serial attached scsi controller": 0x0107,
    "sata controller": 0x0106,
    "scsi storage controller": 0x0100,
    "raid bus controller": 0x0104,
    "audio device": 0x0403,
    "usb controller": 0x0C03,
    "communication controller": 0x0780,
    "system peripheral": 0x0880,
    "processing accelerators": 0x1200,
}

#: Vendors that gdviz tells apart, by the beginning of their name; the longest comes first.
_VENDORS = (
    ("NVIDIA", 0x10DE),
    ("nVidia", 0x10DE),
    ("Mellanox", 0x15B3),
    ("Advanced Micro Devices, Inc. [AMD/ATI]", 0x1002),
    ("Advanced Micro Devices [AMD/ATI]", 0x1002),
    ("Advanced Micro Devices", 0x1022),
    ("Amazon.com", 0x1D0F),
    ("Broadcom / LSI", 0x1000),
    ("LSI Logic", 0x1000),
    ("Broadcom", 0x14E4),
    ("PLX Technology", 0x10B5),
    ("PMC-Sierra", 0x11F8),
    ("Microsemi", 0x11F8),
    ("Intel", 0x8086),
    ("ASPEED", 0x1A03),
    ("Matrox", 0x102B),
    ("Red Hat, Inc. QEMU", 0x1B36),
    ("Red Hat, Inc.", 0x1AF4),
    ("VMware", 0x15AD),
    ("Microsoft", 0x1414),
    ("XenSource", 0x5853),
    ("Google", 0x1AE0),
    ("Chelsio", 0x1425),
    ("AMD Pensando", 0x1DD8),
    ("Pensando", 0x1DD8),
)

#: Names behind Red Hat's that mean vendor 1b36 (QEMU's own devices, not virtio).
_UNNAMED = re.compile(r"\bDevice ([0-9a-f]{4})\b")


def class_of(name: str) -> int | None:
    """Return the number of a class's name, None for one that gdviz has no use for.

    Examples
    --------
    >>> hex(class_of("3D controller") or 0)
    '0x302'
    """
    return CLASSES.get(name.strip().lower())


def vendor_of(name: str) -> int | None:
    """Return the vendor whose name a printed device begins with, None if it is none of those known."""
    for beginning, vendor in _VENDORS:
        if name.startswith(beginning):
            return vendor
    return None


def unnamed_device(name: str) -> int | None:
    """Return the device id that lspci prints where its list has no name for it.

    Examples
    --------
    >>> hex(unnamed_device("NVIDIA Corporation Device 2330") or 0)
    '0x2330'
    """
    match = _UNNAMED.search(name[:200])
    return int(match[1], 16) if match else None
