"""The formats of this package."""

from __future__ import annotations

from gdviz.readers.fabric import counters, ibstat, ibstatus, ibv_devinfo, rdma_link, rdma_topo, show_gids
from gdviz.readers.formats import Format, of_module

FORMATS: tuple[Format, ...] = (
    of_module(ibstat),
    of_module(ibstatus),
    of_module(ibv_devinfo),
    of_module(show_gids),
    of_module(rdma_link),
    of_module(rdma_topo),
    of_module(counters),
)
