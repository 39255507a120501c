"""``ibv_devinfo`` with or without ``-v``: devices, ports, MTUs, GIDs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

KIND = "ibv_devinfo"
TITLE = "ibv_devinfo"


@dataclass(frozen=True, slots=True)
class DevInfoGid:
    """An entry of a port's GID table.

    Attributes
    ----------
    index
        From 0.
    gid
        As printed.
    version
        ``v1``, ``v2`` or empty (InfiniBand, old tools).
    """

    index: int
    gid: str
    version: str
    line: int


@dataclass(frozen=True, slots=True)
class DevInfoPort:
    """A port; MTUs in bytes, None where the text does not say."""

    number: int
    line: int
    state: str = ""
    active_mtu_bytes: int | None = None
    max_mtu_bytes: int | None = None
    link_layer: str = ""
    rate_bytes_per_s: float | None = None
    lid: int | None = None
    gids: tuple[DevInfoGid, ...] = ()
    state_line: int = 0
    mtu_line: int = 0


@dataclass(frozen=True, slots=True)
class DevInfo:
    """A device.

    Attributes
    ----------
    attributes
        All its ``name: value`` lines, as printed.
    """

    name: str
    line: int
    firmware: str = ""
    node_guid: str = ""
    vendor_part_id: int | None = None
    transport: str = ""
    ports: tuple[DevInfoPort, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DevInfos:
    """All devices of a listing."""

    devices: tuple[DevInfo, ...]
