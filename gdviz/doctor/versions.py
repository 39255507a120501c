"""NCCL by release: the numbers of its distances, its default levels, where it looks for modules.

Read in NCCL's sources, tag by tag: ``src/graph/topo.h`` (path types), ``src/graph/paths.cc``
(``ncclTopoCheckGdr``) and ``src/transport/net_ib.cc`` (peer memory).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

#: Path types as NCCL names them. P2C and C2C exist from 2.27 and 2.26 on.
_OLDEST = ("LOC", "NVL", "PIX", "PXB", "PHB", "SYS", "NET")
_FROM_2_8 = ("LOC", "NVL", "NVB", "PIX", "PXB", "PHB", "SYS", "NET")
_FROM_2_12 = ("LOC", "NVL", "NVB", "PIX", "PXB", "PXN", "PHB", "SYS", "DIS")
_FROM_2_21 = ("LOC", "NVL", "NVB", "PIX", "PXB", "PXN", "PHB", "SYS", "NET", "DIS")
_FROM_2_26 = ("LOC", "NVL", "NVB", "C2C", "PIX", "PXB", "PXN", "PHB", "SYS", "NET", "DIS")
_FROM_2_27 = ("LOC", "NVL", "NVB", "C2C", "PIX", "PXB", "PXN", "P2C", "PHB", "SYS", "NET", "DIS")
_FROM_2_27_5 = ("LOC", "NVL", "NVB", "C2C", "PIX", "PXB", "P2C", "PXN", "PHB", "SYS", "NET", "DIS")

#: What an integer in NCCL_NET_GDR_LEVEL means (``ncclTopoUserGdrLevel``); larger ones mean SYS.
_LEGACY = ("LOC", "PIX", "PXB", "PHB", "SYS", "SYS")

#: Where NCCL looks for a peer-memory module.
NV_MEM = "/sys/kernel/mm/memory_peers/nv_mem"
NV_MEM_NC = "/sys/kernel/mm/memory_peers/nv_mem_nc"
PEERS_PEERMEM = "/sys/kernel/mm/memory_peers/nvidia-peermem"
MODULE = "/sys/module/nvidia_peermem"


@dataclass(frozen=True, slots=True, order=True)
class NcclVersion:
    """A release of NCCL; compares by number.

    Examples
    --------
    >>> NcclVersion.parse("NCCL version 2.27.7+cuda12.9") > NcclVersion(2, 27, 3)
    True
    """

    major: int
    minor: int
    patch: int = 0

    @classmethod
    def parse(cls, text: str) -> NcclVersion | None:
        """Return the release that a text names, or None."""
        match = re.search(r"\b(\d{1,2})\.(\d{1,3})(?:\.(\d{1,3}))?", text)
        return cls(int(match[1]), int(match[2]), int(match[3] or 0)) if match else None

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"

    @property
    def types(self) -> tuple[str, ...]:
        """Path types in the order of their numbers."""
        for first, types in (
            ((2, 27, 5), _FROM_2_27_5),
            ((2, 27, 0), _FROM_2_27),
            ((2, 26, 0), _FROM_2_26),
            ((2, 21, 0), _FROM_2_21),
            ((2, 12, 0), _FROM_2_12),
            ((2, 8, 0), _FROM_2_8),
        ):
            if self >= NcclVersion(*first):
                return types
        return _OLDEST

    def type_of(self, number: int) -> str | None:
        """Return the path type that a printed number stands for, or None.

        Examples
        --------
        >>> NcclVersion(2, 19).type_of(7), NcclVersion(2, 26).type_of(7)
        ('SYS', 'PHB')
        """
        return self.types[number] if 0 <= number < len(self.types) else None

    def number_of(self, path_type: str) -> int | None:
        """Return the number of a path type in this release; None where it has none."""
        return self.types.index(path_type) if path_type in self.types else None

    @property
    def has_c2c(self) -> bool:
        """Whether NCCL_NET_GDR_C2C exists."""
        return self >= NcclVersion(2, 26)

    @property
    def c2c_by_default(self) -> bool:
        """Whether NCCL_NET_GDR_C2C is 1 unless set."""
        return self >= NcclVersion(2, 27)

    @property
    def rewrites_c2c(self) -> bool:
        """Whether a P2C distance is counted as C2C before the level is looked at."""
        return NcclVersion(2, 27) <= self < NcclVersion(2, 29, 2)

    @property
    def tries_dma_buf(self) -> bool:
        """Whether it registers by DMA-BUF at all (from 2.13)."""
        return self >= NcclVersion(2, 13)

    @property
    def prints_decision(self) -> bool:
        """Whether 'GPU Direct RDMA Enabled/Disabled for GPU ...' is in an INFO log (up to 2.29)."""
        return self < NcclVersion(2, 30)

    @property
    def peermem_places(self) -> tuple[str, ...]:
        """Folders of /sys where it looks for a peer-memory module."""
        if self >= NcclVersion(2, 23, 4):
            return (NV_MEM, NV_MEM_NC, MODULE)
        if self >= NcclVersion(2, 22):
            return (NV_MEM, NV_MEM_NC)
        return (NV_MEM, PEERS_PEERMEM) if self >= NcclVersion(2, 9) else (NV_MEM,)

    def default_level(self, *, c2c: bool) -> str:
        """Return the level without NCCL_NET_GDR_LEVEL; `c2c` is the value of NCCL_NET_GDR_C2C."""
        return "P2C" if self >= NcclVersion(2, 29, 2) and c2c else "PXB"


def type_without_version(distance: int, level: int) -> str | None:
    """Return the path type of a printed distance where the release is unknown, None where several fit.

    The level beside it is the default one, which is PXB up to 2.29.1: that tells the table of numbers.
    """
    tables = (_FROM_2_27_5, _FROM_2_26, _FROM_2_21, _FROM_2_12, _FROM_2_8, _OLDEST)
    fits = [table for table in tables if level < len(table) and table[level] == "PXB"]
    kinds = {table[distance] for table in fits if distance < len(table)} - {"NET", "DIS"}
    return kinds.pop() if len(kinds) == 1 else None


#: The release that is assumed where the inputs name none.
LATEST = NcclVersion(2, 30, 7)


def level_of(text: str) -> str | None:
    """Return the path type that a value of NCCL_NET_GDR_LEVEL means, None for nonsense.

    Examples
    --------
    >>> level_of("SYS"), level_of("2"), level_of("9")
    ('SYS', 'PXB', 'SYS')
    """
    value = text.strip().strip("'\"").upper()
    if value.isdecimal() and len(value) < 9:
        return _LEGACY[min(int(value), len(_LEGACY) - 1)]
    return value if value in _FROM_2_27_5 and value not in ("NET", "DIS") else None


def rank_of(path_type: str) -> int:
    """Return how far a path type is, for comparing types of one release or of none in particular.

    Examples
    --------
    >>> rank_of("PIX") < rank_of("PHB") == rank_of("NODE") < rank_of("SYS")
    True
    """
    return _FROM_2_27_5.index("PHB" if path_type == "NODE" else path_type)
