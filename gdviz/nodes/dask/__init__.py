"""Nodes on the workers of a Dask cluster, each with its agent there.

Dask carries commands, queue pair numbers, keys and samples; the bytes of a transfer never pass through it.
"""

from __future__ import annotations

from gdviz.nodes.dask.fleet import DaskFleet

__all__ = ["DaskFleet"]
