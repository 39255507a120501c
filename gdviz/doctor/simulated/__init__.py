"""What the tools of a simulated host print: the same formats as real ones, so that the doctor reads them.

Everything here is made up from a machine and a `HostState`; the first line of each text says so where the
format has room for a remark.
"""

from __future__ import annotations

from gdviz.doctor.simulated.state import HostState
from gdviz.doctor.simulated.texts import host_files

__all__ = ["HostState", "host_files"]
