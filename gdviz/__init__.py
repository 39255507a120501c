"""gdviz: an interactive laboratory for GPUDirect RDMA.

``gdviz.lab()`` opens two simulated nodes; ``gdviz.lab("topo.xml")`` those of an NCCL topology file;
``gdviz.doctor("incident/")`` says why GPUDirect RDMA is off or slow there. Names are loaded when they are
first used, so that importing gdviz costs next to nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from gdviz.version import VERSION

if TYPE_CHECKING:
    from gdviz.doctor.calibrate import calibrate
    from gdviz.errors import GdvizError
    from gdviz.machine import Machine, reference_machine
    from gdviz.model import Endpoint, Fabric, Workload, predict, sweep, timeline
    from gdviz.readers import open_machine
    from gdviz.session import Session, transfer
    from gdviz.widgets import (
        BuffersPanel,
        ComparePanel,
        DoctorPanel,
        Lab,
        MachinePanel,
        RegisterPanel,
        SlowMotionPanel,
        TransferPanel,
        lab,
        simulated,
    )

__version__ = VERSION

_HOMES = {
    "gdviz.doctor.calibrate": ("calibrate",),
    "gdviz.errors": ("GdvizError",),
    "gdviz.machine": ("Machine", "reference_machine"),
    "gdviz.model": ("Endpoint", "Fabric", "Workload", "predict", "sweep", "timeline"),
    "gdviz.readers": ("open_machine",),
    "gdviz.session": ("Session", "transfer"),
    "gdviz.widgets": (
        "BuffersPanel",
        "ComparePanel",
        "DoctorPanel",
        "Lab",
        "MachinePanel",
        "RegisterPanel",
        "SlowMotionPanel",
        "TransferPanel",
        "lab",
        "simulated",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "BuffersPanel",
    "ComparePanel",
    "DoctorPanel",
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
    "calibrate",
    "doctor",
    "lab",
    "nodes",
    "open_machine",
    "predict",
    "reference_machine",
    "simulated",
    "sweep",
    "timeline",
    "transfer",
]


#: Rooms that are front doors as well: ``gdviz.doctor(...)`` is the function, ``gdviz.doctor.diagnose`` the
#: room's own.
_DOORS = {"doctor": ("gdviz.widgets", "doctor"), "nodes": ("gdviz.nodes.discovery", "nodes")}


class _Door(ModuleType):
    """A room that can be called."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        home, name = _DOORS[self.__name__.rpartition(".")[2]]
        return getattr(import_module(home), name)(*arguments, **options)


class _Package(ModuleType):
    """The package, which makes its front doors callable when they are imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _DOORS and isinstance(value, ModuleType):
            value.__class__ = _Door
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name in _DOORS:
        return import_module(f"gdviz.{name}")
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'gdviz' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
