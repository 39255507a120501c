"""What an hwloc XML says beside the machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gdviz.readers.lspci.facts import PciFunction


@dataclass(frozen=True, slots=True)
class HwlocTopology:
    """hwloc's own words of a host.

    Attributes
    ----------
    version
        ``1``, ``2.0``, ``3.0``: the dialect.
    infos
        What it notes of the host as a whole: ``DMIProductName``, ``HostName``, ``OSRelease`` ...
    info_lines
        The line of each.
    functions
        PCI functions with their ids and places; hwloc knows nothing of ACS, ATS and trained links.
    """

    version: str
    infos: Mapping[str, str] = field(default_factory=dict)
    info_lines: Mapping[str, int] = field(default_factory=dict)
    functions: tuple[PciFunction, ...] = ()
