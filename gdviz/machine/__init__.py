"""The hardware: parts, links, paths and distances, and a catalogue of reference machines."""

from __future__ import annotations

from gdviz.machine.catalogue import CATALOGUE, reference_machine
from gdviz.machine.distance import Distance
from gdviz.machine.links import PcieLink
from gdviz.machine.machine import Machine, normal_bus_id
from gdviz.machine.parts import (
    Bridge,
    BridgeKind,
    Cpu,
    Device,
    Gpu,
    LinkLayer,
    Nic,
    Notice,
    NvLink,
    Part,
    Parts,
    PciIds,
    PeerKind,
)
from gdviz.machine.path import Hop, HopKind, Path

__all__ = [
    "CATALOGUE",
    "Bridge",
    "BridgeKind",
    "Cpu",
    "Device",
    "Distance",
    "Gpu",
    "Hop",
    "HopKind",
    "LinkLayer",
    "Machine",
    "Nic",
    "Notice",
    "NvLink",
    "Part",
    "Parts",
    "Path",
    "PciIds",
    "PcieLink",
    "PeerKind",
    "normal_bus_id",
    "reference_machine",
]
