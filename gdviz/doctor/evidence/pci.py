"""PCI listings of a node as a tree: which ports lie between two functions, and what they say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gdviz.doctor.evidence.node import NodeEvidence
from gdviz.machine import normal_bus_id
from gdviz.readers import Reading
from gdviz.readers.lspci import PciFunction, PciListing
from gdviz.readers.lspci.facts import ACCELERATOR, DISPLAY
from gdviz.readers.nvidia_smi import SmiQuery


def listings(node: NodeEvidence) -> Iterator[tuple[Reading, PciListing]]:
    """Go through a node's PCI listings."""
    yield from node.own(PciListing)


def function_names(node: NodeEvidence) -> Iterator[tuple[str, str, int | None]]:
    """Go through products of GPUs that listings and ``nvidia-smi -q`` name: bus id, name, index."""
    for _reading, listing in listings(node):
        for function in listing.functions:
            busid = normal_bus_id(function.busid)
            if busid and is_gpu(function):
                yield busid, function.name, None
    for _reading, query in node.own(SmiQuery):
        for gpu in query.gpus:
            if gpu.busid and gpu.name:
                yield gpu.busid, gpu.name, gpu.index


def is_gpu(function: PciFunction) -> bool:
    """Return whether a function is a GPU: a display controller or accelerator of NVIDIA, AMD or Intel."""
    return function.class_code is not None and function.class_code >> 8 in (DISPLAY, ACCELERATOR)


@dataclass
class PciTree:
    """A listing's functions with the bridge above each.

    Bridges' bus ranges tell it: those of the listing itself, or of another one of the node where it was
    cut (``lspci -vvv`` through grep beside ``lspci -tv``). So `above` may name ports that are not among
    `functions`.
    """

    reading: Reading
    functions: dict[str, PciFunction]
    above: dict[str, str]

    def chain(self, busid: str) -> list[str]:
        """Return a function and all bridges above it, the lowest first."""
        found = [busid]
        while (upper := self.above.get(found[-1])) is not None and upper not in found:
            found.append(upper)
        return found

    def between(self, left: str, right: str) -> list[str] | None:
        """Return the ports that traffic between two functions passes below the point where it turns round.

        Upstream ports of the switch in which it turns are not among them; None where the two only meet
        above all bridges.
        """
        up, down = self.chain(left), self.chain(right)
        shared = next((busid for busid in up if busid in down), None)
        if shared is None:
            return None
        return up[1 : up.index(shared)] + down[1 : down.index(shared)]


def trees(node: NodeEvidence) -> Iterator[PciTree]:
    """Go through a node's listings as trees."""
    found = []
    known: dict[str, str] = {}
    for reading, listing in listings(node):
        functions = {busid: f for f in listing.functions if (busid := normal_bus_id(f.busid))}
        above = _above(functions)
        known = {**above, **known}
        found.append((reading, functions, above))
    for reading, functions, above in found:
        yield PciTree(reading, functions, above or known)


def _above(functions: dict[str, PciFunction]) -> dict[str, str]:
    owners: dict[tuple[str, int], tuple[int, str]] = {}
    for busid, function in functions.items():
        if function.secondary is None or function.subordinate is None:
            continue
        domain = busid[:-8]
        span = function.subordinate - function.secondary
        for bus in range(function.secondary, function.subordinate + 1):
            known = owners.get((domain, bus))
            if known is None or span < known[0]:
                owners[domain, bus] = (span, busid)
    above = {}
    for busid in functions:
        owner = owners.get((busid[:-8], int(busid[-7:-5], 16)))
        if owner is not None and owner[1] != busid:
            above[busid] = owner[1]
    return above
