"""What a simulated host has and allows: settings that make or break GPUDirect RDMA."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Iommu: TypeAlias = Literal["off", "pt", "translate"]


@dataclass(frozen=True, slots=True)
class SimulatedHost:
    """Settings of one simulated node.

    Attributes
    ----------
    dma_buf
        Kernel, driver and NIC can share GPU memory by dma-buf.
    peermem
        The module nvidia-peermem is loaded.
    iommu
        ``off``, ``pt`` (on, but passing addresses through) or ``translate``.
    memlock_bytes
        Host memory that a process may pin (``ulimit -l``); None: as much as it likes.
    bar1_bytes
        Size of every GPU's BAR1 window, instead of the machine's; None: the machine's.
    memory_bytes
        Host memory of each CPU.
    """

    dma_buf: bool = True
    peermem: bool = True
    iommu: Iommu = "off"
    memlock_bytes: int | None = None
    bar1_bytes: int | None = None
    memory_bytes: int = 2**40
