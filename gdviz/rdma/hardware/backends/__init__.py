"""The verbs themselves: one small Protocol, over Debian's pyverbs or over the ``ibverbs`` wheel."""

from __future__ import annotations

from gdviz.rdma.hardware.backends.base import Backend
from gdviz.rdma.hardware.backends.choose import Tried, choose, preload, why_none

__all__ = ["Backend", "Tried", "choose", "preload", "why_none"]
