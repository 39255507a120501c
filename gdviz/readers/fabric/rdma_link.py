"""``rdma link``: iproute2's view of RDMA ports."""

from __future__ import annotations

from dataclasses import dataclass

KIND = "rdma_link"
TITLE = "rdma link"


@dataclass(frozen=True, slots=True)
class RdmaLink:
    """A port: ``state`` as printed (``ACTIVE``, ``DOWN``), ``netdev`` empty where there is none."""

    device: str
    port: int
    state: str
    physical: str
    netdev: str
    line: int


@dataclass(frozen=True, slots=True)
class RdmaLinks:
    """All ports, in order."""

    links: tuple[RdmaLink, ...]
