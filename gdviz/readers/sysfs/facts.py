"""What a sysfs tree says besides its machine."""

from __future__ import annotations

from dataclasses import dataclass

from gdviz.readers.sysfs.functions import SysFunction
from gdviz.readers.sysfs.rdma import SysRdmaDevice


@dataclass(frozen=True, slots=True)
class Sysfs:
    """A tree of ``/sys``.

    Attributes
    ----------
    functions
        All PCI functions, also those that the machine leaves out.
    rdma
        RDMA devices.
    group_types
        IOMMU groups with their type (``identity`` is passed through, ``DMA`` and ``DMA-FQ`` translate).
    netdevs
        Network interfaces with their MTU in bytes, state and the bus id of their function ('' if none).
    peer_memory
        Path and version of each sign of peer memory, as NCCL looks for it.
    """

    functions: tuple[SysFunction, ...] = ()
    rdma: tuple[SysRdmaDevice, ...] = ()
    group_types: tuple[tuple[int, str], ...] = ()
    netdevs: tuple[tuple[str, int, str, str], ...] = ()
    peer_memory: tuple[tuple[str, str], ...] = ()
