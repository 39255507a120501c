"""The RDMA devices of a sysfs tree: ports, rates, GIDs, counters."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from gdviz.machine import normal_bus_id
from gdviz.readers.sysfs.tree import Tree, text_of

#: Devices, ports of a device and GIDs of a port that are read.
MAX_DEVICES, MAX_PORTS, MAX_GIDS = 4096, 16, 256

_RATE = re.compile(r"^(\d{1,5}(?:\.\d{1,3})?) Gb/sec")
_STATE = re.compile(r"^\d{1,3}: ?(.*)$")
_EMPTY = re.compile(r"^[0:]*$")

#: Counters that matter; the others only cost memory.
COUNTERS = (
    *("out_of_sequence", "packet_seq_err", "local_ack_timeout_err", "out_of_buffer", "rnr_nak_retry_err"),
    *("np_cnp_sent", "np_ecn_marked_roce_packets", "rp_cnp_handled", "roce_adp_retrans", "req_cqe_error"),
    *("resp_cqe_error", "duplicate_request", "implied_nak_seq_err", "roce_slow_restart"),
    *("symbol_error", "link_downed", "link_error_recovery", "port_rcv_errors", "port_xmit_discards"),
    *("port_xmit_wait", "local_link_integrity_errors", "retrans_pkts", "retrans_timeout_events"),
)


@dataclass(frozen=True, slots=True)
class SysGid:
    """A GID: ``version`` is ``v1``, ``v2`` or empty."""

    index: int
    gid: str
    version: str
    netdev: str


@dataclass(frozen=True, slots=True)
class SysPort:
    """A port of an RDMA device."""

    number: int
    state: str = ""
    physical: str = ""
    rate_bytes_per_s: float | None = None
    link_layer: str = ""
    lid: str = ""
    gids: tuple[SysGid, ...] = ()
    counters: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class SysRdmaDevice:
    """An RDMA device.

    Attributes
    ----------
    path
        Its folder, below the root of sysfs.
    busid
        Of its PCI function; empty where the tree does not say.
    """

    name: str
    path: str
    busid: str
    firmware: str = ""
    type: str = ""
    board: str = ""
    node_guid: str = ""
    ports: tuple[SysPort, ...] = ()


def rdma_devices(tree: Tree, functions: Iterable[tuple[str, str]]) -> list[SysRdmaDevice]:
    """Return all RDMA devices of a tree, in the natural order of their names.

    Parameters
    ----------
    tree
        With the root of sysfs at its root.
    functions
        Path and bus id of each PCI function that may be one.
    """
    found: dict[str, SysRdmaDevice] = {}
    for path, busid in functions:
        for name in tree.entries(f"{path}/infiniband")[:MAX_PORTS]:
            found.setdefault(name, _device(tree, name, f"{path}/infiniband/{name}", busid))
    for name in tree.entries("class/infiniband")[:MAX_DEVICES]:
        if name not in found:
            path = f"class/infiniband/{name}"
            target = (tree.link(f"{path}/device") or "").rstrip("/").rpartition("/")[2]
            parts = (tree.link(path) or "").split("/")
            above = parts[-3] if len(parts) >= 3 and parts[-2] == "infiniband" else ""
            busid = normal_bus_id(target) or normal_bus_id(above) or _of_netdev(tree, path)
            if tree.entries(path):
                found[name] = _device(tree, name, path, busid)
    return sorted(found.values(), key=lambda device: natural(device.name))[:MAX_DEVICES]


def _of_netdev(tree: Tree, path: str) -> str:
    """Return the bus id below soft-RoCE's network interface, empty where it has none."""
    netdev = text_of(tree, f"{path}/parent")
    link = tree.link(f"class/net/{netdev}") or "" if netdev.isprintable() and "/" not in netdev else ""
    found = [busid for part in link.split("/") if (busid := normal_bus_id(part))]
    return found[-1] if found else ""


def natural(name: str) -> tuple[tuple[int, str], ...]:
    """Return a key that sorts ``mlx5_2`` before ``mlx5_10``."""
    return tuple(
        (int(part), "") if part.isdecimal() and len(part) < 12 else (-1, part)
        for part in re.split(r"(\d+)", name)
    )


def _device(tree: Tree, name: str, path: str, busid: str) -> SysRdmaDevice:
    numbers = [int(item) for item in tree.entries(f"{path}/ports") if item.isdecimal() and len(item) < 4]
    return SysRdmaDevice(
        name[:64],
        path,
        busid,
        text_of(tree, f"{path}/fw_ver"),
        text_of(tree, f"{path}/hca_type"),
        text_of(tree, f"{path}/board_id"),
        text_of(tree, f"{path}/node_guid"),
        tuple(_port(tree, f"{path}/ports/{number}", number) for number in sorted(numbers)[:MAX_PORTS]),
    )


def _port(tree: Tree, path: str, number: int) -> SysPort:
    rate = _RATE.match(text_of(tree, f"{path}/rate"))
    return SysPort(
        number,
        _named(text_of(tree, f"{path}/state")).capitalize(),
        _named(text_of(tree, f"{path}/phys_state")),
        float(rate[1]) * 1e9 / 8 if rate else None,
        text_of(tree, f"{path}/link_layer"),
        text_of(tree, f"{path}/lid"),
        _gids(tree, path),
        _counters(tree, path),
    )


def _named(text: str) -> str:
    match = _STATE.match(text)
    return match[1] if match else text


def _gids(tree: Tree, path: str) -> tuple[SysGid, ...]:
    found = []
    indices = sorted(int(item) for item in tree.entries(f"{path}/gids") if item.isdecimal() and len(item) < 6)
    for index in indices[:MAX_GIDS]:
        gid = text_of(tree, f"{path}/gids/{index}")
        if not gid or _EMPTY.match(gid):
            continue
        kind = text_of(tree, f"{path}/gid_attrs/types/{index}")
        netdev = text_of(tree, f"{path}/gid_attrs/ndevs/{index}")
        version = "v2" if kind.endswith("v2") else "v1" if "RoCE v1" in kind else ""
        found.append(SysGid(index, gid, version, netdev))
    return tuple(found)


def _counters(tree: Tree, path: str) -> tuple[tuple[str, int], ...]:
    found = []
    for folder in ("hw_counters", "counters"):
        names = set(tree.entries(f"{path}/{folder}"))
        for name in COUNTERS:
            if name in names:
                text = text_of(tree, f"{path}/{folder}/{name}")
                if text.isdecimal() and len(text) < 24:
                    found.append((name, int(text)))
    return tuple(found)
