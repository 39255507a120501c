"""What the RDMA fabric's tools say: ports, rates, GIDs, counters, ACS checks."""

from __future__ import annotations

from gdviz.readers.fabric.counters import Counter, Counters
from gdviz.readers.fabric.ibstat import IbAdapter, IbPort, IbStat
from gdviz.readers.fabric.ibv_devinfo import DevInfo, DevInfoGid, DevInfoPort, DevInfos
from gdviz.readers.fabric.rdma_link import RdmaLink, RdmaLinks
from gdviz.readers.fabric.rdma_topo import RdmaTopo, TopoCheck, TopoPair
from gdviz.readers.fabric.show_gids import GidRow, GidTable

__all__ = [
    "Counter",
    "Counters",
    "DevInfo",
    "DevInfoGid",
    "DevInfoPort",
    "DevInfos",
    "GidRow",
    "GidTable",
    "IbAdapter",
    "IbPort",
    "IbStat",
    "RdmaLink",
    "RdmaLinks",
    "RdmaTopo",
    "TopoCheck",
    "TopoPair",
]
