"""Copies of a host's /sys, as a folder, an archive or a capture: its machine, and what its files say."""

from __future__ import annotations

from gdviz.readers.sysfs.facts import Sysfs
from gdviz.readers.sysfs.functions import SysFunction
from gdviz.readers.sysfs.rdma import SysPort, SysRdmaDevice

__all__ = ["SysFunction", "SysPort", "SysRdmaDevice", "Sysfs"]
