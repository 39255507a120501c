"""``ibstat``: RDMA adapters, their ports' state and rate."""

from __future__ import annotations

from dataclasses import dataclass

KIND = "ibstat"
TITLE = "ibstat"


@dataclass(frozen=True, slots=True)
class IbPort:
    """A port.

    Attributes
    ----------
    number
        From 1.
    state, physical
        ``Active``, ``Down`` ...; ``LinkUp``, ``Disabled``, ``Polling`` ...
    rate_bytes_per_s
        What the link came up with; None where the text does not say.
    link_layer
        ``InfiniBand``, ``Ethernet`` or empty.
    lid, sm_lid
        None where the text does not say.
    guid
        Port GUID; empty where missing.
    line
        Line of ``Port N:``.
    state_line, rate_line
        Lines of the two; `line` where they are missing.
    """

    number: int
    line: int
    state: str = ""
    physical: str = ""
    rate_bytes_per_s: float | None = None
    link_layer: str = ""
    lid: int | None = None
    sm_lid: int | None = None
    guid: str = ""
    state_line: int = 0
    rate_line: int = 0


@dataclass(frozen=True, slots=True)
class IbAdapter:
    """An adapter.

    Attributes
    ----------
    name
        Such as ``mlx5_0``.
    type
        Such as ``MT4129``.
    """

    name: str
    line: int
    type: str = ""
    firmware: str = ""
    node_guid: str = ""
    ports: tuple[IbPort, ...] = ()


@dataclass(frozen=True, slots=True)
class IbStat:
    """All adapters of a listing."""

    adapters: tuple[IbAdapter, ...]
