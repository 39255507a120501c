"""Widgets: a panel for each step, and the whole lab."""

from __future__ import annotations

from gdviz.widgets.buffers import BuffersPanel
from gdviz.widgets.compare import ComparePanel
from gdviz.widgets.doctor import DoctorPanel, doctor
from gdviz.widgets.lab import Lab, lab, simulated
from gdviz.widgets.machine import MachinePanel
from gdviz.widgets.register import RegisterPanel
from gdviz.widgets.slow_motion import SlowMotionPanel
from gdviz.widgets.transfer import TransferPanel

__all__ = [
    "BuffersPanel",
    "ComparePanel",
    "DoctorPanel",
    "Lab",
    "MachinePanel",
    "RegisterPanel",
    "SlowMotionPanel",
    "TransferPanel",
    "doctor",
    "lab",
    "simulated",
]
