"""RDMA ports of a node, merged from ibstat, ibv_devinfo, rdma link and show_gids."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from gdviz.doctor.evidence.known import Known, value_of
from gdviz.doctor.evidence.node import NodeEvidence
from gdviz.readers import Evidence
from gdviz.readers.fabric import Counter, Counters, DevInfos, GidRow, GidTable, IbStat, RdmaLinks


@dataclass
class PortFacts:
    """One port of an RDMA device; None where unknown.

    Attributes
    ----------
    adapter
        The adapter's type: ``MT4129``.
    guid
        Node GUID as a number.
    """

    device: str
    port: int
    adapter: str = ""
    guid: int | None = None
    up: Known[bool] | None = None
    rate_bytes_per_s: Known[float] | None = None
    layer: str = ""
    active_mtu_bytes: Known[int] | None = None
    gids: list[tuple[GidRow, Evidence]] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Such as ``mlx5_0:1``."""
        return f"{self.device}:{self.port}"


def ports(node: NodeEvidence) -> tuple[PortFacts, ...]:
    """Return the ports of a node in the order in which its files name them."""
    found: dict[tuple[str, int], PortFacts] = {}

    def port(device: str, number: int) -> PortFacts:
        return found.setdefault((device, number), PortFacts(device, number))

    for reading, stat in node.own(IbStat):
        for adapter in stat.adapters:
            for each in adapter.ports:
                facts = port(adapter.name, each.number)
                facts.adapter = adapter.type
                facts.guid = _number(adapter.node_guid)
                facts.layer = facts.layer or each.link_layer
                cited = reading.cite(each.state_line or each.line)
                if each.state:
                    facts.up = Known(
                        each.state.lower().startswith("active"), (reading.cite(adapter.line), cited)
                    )
                if each.rate_bytes_per_s:
                    line = each.rate_line or each.line
                    facts.rate_bytes_per_s = Known(
                        each.rate_bytes_per_s, (reading.cite(adapter.line), reading.cite(line))
                    )
    for reading, infos in node.own(DevInfos):
        for device in infos.devices:
            for info in device.ports:
                facts = port(device.name, info.number)
                facts.layer = facts.layer or info.link_layer
                if device.vendor_part_id and not facts.adapter:
                    facts.adapter = f"MT{device.vendor_part_id}"
                facts.guid = facts.guid or _number(device.node_guid)
                here = reading.cite(device.line)
                if info.state and facts.up is None:
                    up = "ACTIVE" in info.state.upper()
                    facts.up = Known(up, (here, reading.cite(info.state_line or info.line)))
                if info.active_mtu_bytes:
                    cited = reading.cite(info.mtu_line or info.line)
                    facts.active_mtu_bytes = Known(info.active_mtu_bytes, (here, cited))
                if info.rate_bytes_per_s and facts.rate_bytes_per_s is None:
                    facts.rate_bytes_per_s = Known(info.rate_bytes_per_s, (reading.cite(info.line),))
                for gid in info.gids:
                    row = GidRow(device.name, info.number, gid.index, gid.gid, "", gid.version, "", gid.line)
                    facts.gids.append((row, reading.cite(gid.line)))
    for reading, links in node.own(RdmaLinks):
        for link in links.links:
            facts = port(link.device, link.port)
            if facts.up is None and link.state:
                facts.up = Known(link.state.upper() == "ACTIVE", (reading.cite(link.line),))
    for reading, table in node.own(GidTable):
        for row in table.rows:
            facts = port(row.device, row.port)
            if not any(known.index == row.index for known, _e in facts.gids):
                facts.gids.append((row, reading.cite(row.line)))
            facts.layer = facts.layer or ("Ethernet" if row.version else "")
    return tuple(found.values())


def _number(guid: str) -> int | None:
    digits = re.sub(r"[^0-9a-fA-F]", "", guid.lower().removeprefix("0x"))
    return int(digits, 16) if digits else None


def counters(node: NodeEvidence, wanted: Callable[[str], bool]) -> tuple[tuple[Counter, Evidence], ...]:
    """Return the counters whose names are wanted, with their lines."""
    return tuple(
        (counter, reading.cite(counter.line))
        for reading, found in node.own(Counters)
        for counter in found.counters
        if wanted(counter.name)
    )


@dataclass(frozen=True, slots=True)
class HcaList:
    """What NCCL_IB_HCA or UCX_NET_DEVICES lets in.

    Attributes
    ----------
    names
        Devices with or without a port (``mlx5_0``, ``mlx5_0:1``).
    exact
        Whether a name has to match wholly rather than at its beginning.
    excluded
        Whether the list says what is left out.
    """

    names: tuple[str, ...]
    exact: bool
    excluded: bool

    @classmethod
    def parse(cls, text: str, *, exact: bool = False) -> HcaList:
        """Return what a value means: ``^`` excludes, ``=`` wants whole names, else beginnings."""
        value = text.strip().strip("'\"")
        excluded = value.startswith("^")
        value = value.lstrip("^")
        exact = exact or value.startswith("=")
        names = tuple(name.strip() for name in value.lstrip("=").split(",") if name.strip())
        return cls(names, exact, excluded)

    def allows(self, device: str, port: int = 1) -> bool:
        """Return whether a port may be used."""
        return self.names_it(device, port) is not self.excluded

    def names_it(self, device: str, port: int = 1) -> bool:
        """Return whether a port is meant by one of the names."""
        for name in self.names:
            wanted, _, number = name.partition(":")
            same = device == wanted if self.exact else device.startswith(wanted)
            if same and (not number or number == str(port)):
                return True
        return False

    def spells_out(self, device: str, port: int = 1) -> bool:
        """Return whether the list has the device's own whole name."""
        return not self.excluded and any(
            name.partition(":")[0] == device and name.partition(":")[2] in ("", str(port))
            for name in self.names
        )


def hca_list(node: NodeEvidence) -> tuple[HcaList, Known[str]] | None:
    """Return which devices the job may use, by NCCL_IB_HCA or UCX_NET_DEVICES; None: all."""
    for name, exact in (("NCCL_IB_HCA", False), ("UCX_NET_DEVICES", True)):
        known = node.env(name)
        value = value_of(known)
        if known is not None and value and value.lower() != "all":
            return HcaList.parse(value, exact=exact), known
    return None
