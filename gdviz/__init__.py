"""gdviz: an interactive laboratory for GPUDirect RDMA.

``gdviz.lab()`` opens two simulated nodes; ``gdviz.lab("topo.xml")`` those of an NCCL topology file. Names
are loaded when they are first used, so that importing gdviz costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gdviz.errors import GdvizError
    from gdviz.machine import Machine, reference_machine
    from gdviz.model import Endpoint, Fabric, Workload, predict, sweep, timeline
    from gdviz.readers import open_machine
    from gdviz.session import Session, transfer
    from gdviz.widgets import (
        BuffersPanel,
        ComparePanel,
        Lab,
        MachinePanel,
        RegisterPanel,
        SlowMotionPanel,
        TransferPanel,
        lab,
    )

__version__ = "0.1.0"

_HOMES = {
    "gdviz.errors": ("GdvizError",),
    "gdviz.machine": ("Machine", "reference_machine"),
    "gdviz.model": ("Endpoint", "Fabric", "Workload", "predict", "sweep", "timeline"),
    "gdviz.readers": ("open_machine",),
    "gdviz.session": ("Session", "transfer"),
    "gdviz.widgets": (
        "BuffersPanel",
        "ComparePanel",
        "Lab",
        "MachinePanel",
        "RegisterPanel",
        "SlowMotionPanel",
        "TransferPanel",
        "lab",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "BuffersPanel",
    "ComparePanel",
    "Endpoint",
    "Fabric",
    "GdvizError",
    "Lab",
    "Machine",
    "MachinePanel",
    "RegisterPanel",
    "Session",
    "SlowMotionPanel",
    "TransferPanel",
    "Workload",
    "lab",
    "open_machine",
    "predict",
    "reference_machine",
    "sweep",
    "timeline",
    "transfer",
]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'gdviz' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
