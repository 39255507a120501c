"""Which host a file of a case belongs to: its folder says so, or the file itself (a capture)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gdviz.readers.reading import Reading

#: Name of the node whose files lie at the top.
TOP = "node"

#: Formats that tell of a job and not of a host's own state.
JOB_KINDS = frozenset(
    {"nccl_log", "nccl_graph", "nccl_graph_xml", "results", "nccl_tests", "perftest", "nvbandwidth", "osu"}
    | {"gdrcopy", "gpu_copies"}
)

#: Folders that people sort files into; their names are no hosts.
_SORTED = frozenset(
    {"log", "logs", "out", "output", "outputs", "result", "results", "data", "files", "info", "debug"}
    | {"config", "configs", "etc", "proc", "sys", "boot", "var", "tmp", "dmesg", "lspci", "nccl", "perf"}
)


@dataclass(frozen=True, slots=True)
class Placed:
    """Readings of one file with its folders, and its host where the file names it."""

    folder: tuple[str, ...]
    readings: tuple[Reading, ...]
    host: str = ""


def group(placed: Iterable[Placed]) -> list[tuple[str, tuple[Reading, ...]]]:
    """Return the hosts' names with their readings: the top first, then in the files' order."""
    files = list(placed)
    hosts = _hosts(files)
    nodes: dict[tuple[str, ...], list[Reading]] = {}
    for file in files:
        key = ("", file.host, *file.folder) if file.host else _host_of(file.folder, hosts)
        nodes.setdefault(key, []).extend(file.readings)
    order = sorted(nodes, key=lambda key: key != ())
    names = _names(order)
    return [(names[key], tuple(nodes[key])) for key in order]


def _hosts(files: Sequence[Placed]) -> set[tuple[str, ...]]:
    """Return the folders that are hosts."""
    kinds: dict[tuple[str, ...], set[str]] = {}
    for file in files:
        if not file.host:
            folder = _unsorted(file.folder)
            kinds.setdefault(folder, set()).update(reading.kind for reading in file.readings)
    hosts: set[tuple[str, ...]] = set()
    for folder in sorted(kinds, key=len):
        above = (folder[:depth] for depth in range(1, len(folder)))
        if folder and kinds[folder] - JOB_KINDS and not any(place in hosts for place in above):
            hosts.add(folder)
    # A job's files of one host lie in a folder of their own beside the other hosts' folders.
    parents = {host[:-1] for host in hosts}
    hosts |= {folder for folder in kinds if folder and folder[:-1] in parents and kinds[folder]}
    top = kinds.get((), set()) - JOB_KINDS
    if len(hosts) == 1 and top:
        (only,) = hosts
        if len(only) == 1 and not kinds.get(only, set()) & top:
            return set()  # one host's files, a part of them in a folder
    return hosts


def _unsorted(folder: tuple[str, ...]) -> tuple[str, ...]:
    """Return a folder without the last ones that only sort files."""
    while folder and folder[-1].lower() in _SORTED:
        folder = folder[:-1]
    return folder


def _host_of(folder: tuple[str, ...], hosts: set[tuple[str, ...]]) -> tuple[str, ...]:
    for depth in range(1, len(folder) + 1):
        if folder[:depth] in hosts:
            return folder[:depth]
    return ()


def _names(keys: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], str]:
    """Return a short name for each host, a longer one where two would have the same."""
    names: dict[tuple[str, ...], str] = {}
    taken: set[str] = set()
    for key in keys:
        captured = key[:1] == ("",)
        short = TOP if not key else key[1] if captured else key[-1]
        name = short
        if name in taken:
            name = "/".join(part for part in ((*key[2:], key[1]) if captured else key) if part)
        number = 1
        base = name
        while name in taken:
            number += 1
            name = f"{base}#{number}"
        taken.add(name)
        names[key] = name
    return names
