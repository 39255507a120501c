"""The bridges above each function, from the buses that bridges lead to.

A function's bus is the secondary bus of the bridge above it; a bus to which no bridge leads is a root bus.
Where a text shows no buses (``lspci -nn``, or without ``-v``) nothing is known of a function's place.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from gdviz.machine import normal_bus_id
from gdviz.readers.lspci.facts import BRIDGE_CLASS, PciFunction, PciListing

#: Bridges above a function that are followed; real machines have fewer than ten.
MAX_DEPTH = 64


def bus_of(busid: str) -> tuple[int, int]:
    """Return domain and bus of a bus id in its normal spelling."""
    domain, bus, _rest = busid.split(":")
    return int(domain, 16), int(bus, 16)


@dataclass(frozen=True)
class PciTree:
    """A listing's functions with the bridges above each."""

    listing: PciListing

    @cached_property
    def by_busid(self) -> dict[str, PciFunction]:
        """Functions by bus id."""
        return {function.busid: function for function in self.listing.functions}

    @cached_property
    def _leading_to(self) -> dict[tuple[int, int], PciFunction]:
        found: dict[tuple[int, int], PciFunction] = {}
        for function in self.listing.functions:
            if function.secondary and function.is_bridge:
                domain, _bus = bus_of(function.busid)
                found.setdefault((domain, function.secondary), function)
        return found

    @cached_property
    def _on_bus(self) -> dict[tuple[int, int], PciFunction]:
        found: dict[tuple[int, int], PciFunction] = {}
        for function in self.listing.functions:
            found.setdefault(bus_of(function.busid), function)
        return found

    def below(self, bridge: PciFunction) -> PciFunction | None:
        """Return the first function directly below a bridge, None if none is listed."""
        if not bridge.secondary:
            return None
        return self._on_bus.get((bus_of(bridge.busid)[0], bridge.secondary))

    @cached_property
    def _shows_buses(self) -> bool:
        return bool(self._leading_to) or any(function.above for function in self.listing.functions)

    def above(self, function: PciFunction) -> PciFunction | None:
        """Return the bridge directly above a function, None at a root bus or where it is unknown."""
        bridge = self.by_busid.get(function.above) if function.above else None
        if bridge is None:
            bridge = self._leading_to.get(bus_of(function.busid))
        if bridge is None or bridge.busid == function.busid or bridge.class_code not in (None, BRIDGE_CLASS):
            return None
        return bridge

    @cached_property
    def leading(self) -> frozenset[str]:
        """Bus ids of all functions that stand above others."""
        found = (self.above(function) for function in self.listing.functions)
        return frozenset(bridge.busid for bridge in found if bridge is not None)

    def first_function(self, function: PciFunction) -> PciFunction:
        """Return function 0 of a function's device: the device's one link is as wide as that says."""
        first = self.by_busid.get(function.busid[:-1] + "0")
        usable = first is not None and first.link.cap_line is not None
        return first if usable and first is not None else function

    def bridges_above(self, function: PciFunction) -> tuple[PciFunction, ...]:
        """Return the bridges above a function, the nearest first and the root port last."""
        chain: list[PciFunction] = []
        seen = {function.busid}
        bridge = self.above(function)
        while bridge is not None and bridge.busid not in seen and len(chain) < MAX_DEPTH:
            chain.append(bridge)
            seen.add(bridge.busid)
            bridge = self.above(bridge)
        return tuple(chain)

    def root_of(self, function: PciFunction) -> str | None:
        """Return the root bus (``0000:15``) below which a function is, None where the text does not tell."""
        chain = self.bridges_above(function)
        top = chain[-1] if chain else function
        domain, bus = bus_of(top.busid)
        known = chain or bus == 0 or self._shows_buses or "Root" in function.port_type
        return f"{domain:04x}:{bus:02x}" if known else None

    @cached_property
    def _types(self) -> dict[str, str]:
        return {}

    def port_type(self, bridge: PciFunction) -> str:
        """Return what port of what a bridge is.

        Returns
        -------
        str
            ``Root Port``, ``Upstream Port``, ``Downstream Port``, or what lspci prints; where it prints
            nothing, what follows from the bridges above: below a root port comes a switch's upstream port,
            below that its downstream ports.
        """
        if bridge.busid not in self._types:
            chain = [bridge, *self.bridges_above(bridge)]
            kind = ""
            for port in reversed(chain):
                below = {"": "Root Port", "Upstream Port": "Downstream Port"}.get(kind, "Upstream Port")
                kind = port.port_type or below
                self._types[port.busid] = kind
        return self._types[bridge.busid]


def ports_between(listing: PciListing, gpu_busid: str, nic_busid: str) -> tuple[PciFunction, ...]:
    """Return the ports that peer-to-peer traffic between two functions passes.

    Parameters
    ----------
    listing
        What was read; with buses, else nothing is known.
    gpu_busid, nic_busid
        The two functions, in any spelling.

    Returns
    -------
    tuple of PciFunction
        From the first function up, then down to the second: downstream ports, upstream ports and, where
        the two meet only at the CPU, root ports. The bridge where they meet is not one of them: its own
        link is not crossed. Empty if the listing has not both, or does not show where they are.
    """
    return ports_in(PciTree(listing), gpu_busid, nic_busid)


def ports_in(tree: PciTree, gpu_busid: str, nic_busid: str) -> tuple[PciFunction, ...]:
    """Return the same as `ports_between` for a tree that is at hand already."""
    chains = []
    for busid in (gpu_busid, nic_busid):
        function = tree.by_busid.get(normal_bus_id(busid) or "")
        if function is None or tree.root_of(function) is None:
            return ()
        chains.append(tree.bridges_above(function))
    up, down = chains
    shared = {bridge.busid for bridge in up} & {bridge.busid for bridge in down}
    return (
        *(bridge for bridge in up if bridge.busid not in shared),
        *(bridge for bridge in reversed(down) if bridge.busid not in shared),
    )


def degraded(tree: PciTree, function: PciFunction) -> bool | None:
    """Return whether a function's link is trained below what both its ends can.

    The link is the one that lspci shows for it: of a root port or downstream port the link below it, of
    everything else the link above.

    Returns
    -------
    bool or None
        None if lspci shows no link, or prints 'downgraded' for this end and does not show the other.
    """
    if function.link.line is None:
        return None
    own = tree.first_function(function).link
    below = function.is_bridge and tree.port_type(function) in ("Root Port", "Downstream Port")
    other = tree.below(function) if below else tree.above(function)
    link = function.link.link
    if other is None or other.link.cap_line is None:
        return None if function.link.downgraded else False
    limits = other.link.link
    slow = _below(link.gen, own.link.max_gen, limits.max_gen)
    narrow = _below(link.width, own.link.max_width, limits.max_width)
    return slow or narrow


def _below(now: int | None, own: int | None, other: int | None) -> bool:
    return now is not None and own is not None and other is not None and now < min(own, other)
