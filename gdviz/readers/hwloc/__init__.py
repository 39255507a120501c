"""hwloc's XML, as ``lstopo`` writes it: versions 1, 2 and 3."""

from __future__ import annotations

from gdviz.readers.hwloc.facts import HwlocTopology
from gdviz.readers.hwloc.reader import KIND, TITLE, looks_like, read

__all__ = ["KIND", "TITLE", "HwlocTopology", "looks_like", "read"]
