"""How long each place is busy with one message, and the ceilings that follow."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from gdviz.messages import _
from gdviz.model.constants import Constants
from gdviz.model.pcie import (
    completion_bytes,
    packet_bytes_per_s,
    read_request_bytes,
    write_bytes,
)
from gdviz.model.ports import assumed_port_bytes_per_s
from gdviz.model.results import Ceiling, Place, PlaceKind, Side
from gdviz.model.route import Route, Step
from gdviz.model.setup import End, Setup
from gdviz.model.wire import message_bytes
from gdviz.model.workload import Op
from gdviz.quantities import format_bits


@dataclass
class Usage:
    """Seconds for which one message keeps each place busy.

    `seconds` holds them by place and lane (the directions of a link count apart), `names` what to call
    the place's ceiling, `crossings` how often the payload passes it.
    """

    seconds: dict[tuple[Place, str], float] = field(default_factory=lambda: defaultdict(float))
    names: dict[tuple[Place, str], str] = field(default_factory=dict)
    crossings: dict[Place, int] = field(default_factory=dict)

    def add(self, place: Place, lane: str, name: str, seconds: float) -> None:
        """Count `seconds` more of a lane of a place."""
        self.seconds[place, lane] += seconds
        self.names.setdefault((place, lane), name)

    def merge(self, other: Usage, times: int = 1) -> None:
        """Count another usage as well, several times over."""
        for (place, lane), seconds in other.seconds.items():
            self.add(place, lane, other.names[place, lane], seconds * times)
        for place, count in other.crossings.items():
            self.crossings[place] = count

    def busy_hardware(self) -> float:
        """Return the seconds of the busiest place, CPU work left out."""
        return max((s for (_place, lane), s in self.seconds.items() if lane != CPU), default=0.0)


#: Lanes with a meaning of their own: messages a second, a memory's traffic, CPU time.
RATE, TRAFFIC, CPU = "rate", "traffic", "cpu"


def usage(setup: Setup, size_bytes: int, qps: int) -> Usage:
    """Return how long one message (or chunk) of that size keeps every place busy."""
    found = Usage()
    if not setup.inlined(size_bytes):
        add_route(found, setup.constants, setup.source.data, size_bytes, reads=True)
    add_route(found, setup.constants, setup.sink.data, size_bytes, reads=False)
    for end, reads in ((setup.source, False), (setup.sink, True)):
        if end.copy is not None:
            add_route(found, setup.constants, end.copy, size_bytes, reads=reads)
    _wire(found, setup, size_bytes, qps)
    return found


def add_route(found: Usage, constants: Constants, route: Route, size_bytes: int, *, reads: bool) -> None:
    """Count one message that a route's requester reads or writes."""
    for step in route.steps:
        if step.link is not None:
            _link(found, constants, route, step, size_bytes, reads=reads)
        elif step.bytes_per_s:
            # Memory is one lane: what is written and what is read share it.
            one_lane = step.place.kind is not PlaceKind.LINK
            lane = TRAFFIC if one_lane else _direction(step, along=reads)
            found.add(step.place, lane, step.name, size_bytes / step.bytes_per_s)
            if one_lane:
                found.crossings[step.place] = found.crossings.get(step.place, 0) + 1
        found.crossings.setdefault(step.place, 1)
    if route.root is not None:
        _root_complex(found, constants, route, route.root, size_bytes, reads=reads)
    # A GPU's copy engine keeps enough reads under way; of NICs the number of tags is known.
    if reads and not route.steps[-1].name:
        # Requests of MRRS bytes, so many under way: the pipe is emptied once a round trip.
        requests = -(-size_bytes // constants.mrrs_bytes)
        seconds = requests * route.round_trip_s / constants.read_tags
        requester = route.steps[-1].place
        found.add(requester, "tags", _("PCIe reads in flight"), seconds)


def _root_complex(
    found: Usage, constants: Constants, route: Route, root: Place, size_bytes: int, *, reads: bool
) -> None:
    by_nic = not route.steps[-1].name
    strict = route.strict_write
    if strict and by_nic and not reads and not constants.relaxed_ordering:
        found.add(root, "strict", _("CPU root complex, strict ordering"), size_bytes / strict)
    peer = route.peer
    if peer is None:
        return
    if reads:
        known = peer.across_read if route.across else peer.read
        rate = constants.peer_read_bytes_per_s or known
        name = _("CPU root complex, peer-to-peer read")
    else:
        known = peer.across_write if route.across else peer.write
        rate = constants.peer_write_bytes_per_s or known
        name = _("CPU root complex, peer-to-peer write")
    if rate is not None:
        found.add(root, "read" if reads else "write", name, size_bytes / rate)


def _direction(step: Step, *, along: bool) -> str:
    return "up" if step.along_up == along else "down"


def _link(
    found: Usage, constants: Constants, route: Route, step: Step, size_bytes: int, *, reads: bool
) -> None:
    assert step.link is not None
    rate = packet_bytes_per_s(step.link, constants.mps_bytes)
    payload = constants.mps_bytes
    if route.peer is not None and route.peer.payload_bytes and step.beyond_root == reads:
        # The root complex passes peer-to-peer traffic on in packets of its own size.
        payload = min(payload, route.peer.payload_bytes)
    if reads:
        data = completion_bytes(size_bytes, payload, ecrc=constants.ecrc)
        requests = read_request_bytes(size_bytes, constants.mrrs_bytes, ecrc=constants.ecrc)
        found.add(step.place, _direction(step, along=False), step.name, requests / rate)
    else:
        data = write_bytes(size_bytes, payload, ecrc=constants.ecrc)
    found.add(step.place, _direction(step, along=reads), step.name, data / rate)


def port_bytes_per_s(end: End, setup: Setup) -> float:
    """Return the speed of a NIC's port."""
    known = end.nic.speed_bytes_per_s
    return known or assumed_port_bytes_per_s(end.nic, setup.constants.nic_bytes_per_s)


def wire_bytes_per_s(setup: Setup) -> float:
    """Return bits' speed on the wire, in bytes, headers included: the slower port's."""
    return min(port_bytes_per_s(setup.local, setup), port_bytes_per_s(setup.remote, setup))


def _wire(found: Usage, setup: Setup, size_bytes: int, qps: int) -> None:
    constants = setup.constants
    gap_s = constants.qp_switch_s if qps > 1 else 0.0
    if setup.virtual:
        gap_s += constants.vf_gap_s * (2 if setup.op is Op.READ else 1)
    data = message_bytes(size_bytes, setup.fabric, setup.op)
    for end in (setup.local, setup.remote):
        speed = port_bytes_per_s(end, setup)
        name = _("NIC port {speed}") if end.nic.speed_bytes_per_s else _("NIC port {speed} (assumed)")
        found.add(end.port, "port", name.format(speed=format_bits(speed)), data / speed + gap_s)
        found.crossings[end.port] = 1
    wire = Place(Side.WIRE, PlaceKind.WIRE, "fabric")
    speed = wire_bytes_per_s(setup)
    name = _("{fabric} wire {speed}").format(fabric=setup.fabric.name, speed=format_bits(speed))
    found.add(wire, "wire", name, data / speed)
    found.crossings[wire] = 1
    own_s = constants.vf_message_s if setup.virtual else constants.nic_message_s
    rate_s = max(own_s, constants.qp_message_s / qps)
    found.add(setup.local.nic_place, RATE, _("Message rate"), rate_s)


def ceilings_of(found: Usage, size_bytes: int) -> tuple[Ceiling, ...]:
    """Return the ceilings of a usage, narrowest first.

    Of a place's lanes the narrowest stands, and two places of one name and figure are listed once. All
    that limits the rate of messages is one ceiling.
    """
    by_place: dict[tuple[str, Place | None], Ceiling] = {}
    for (place, lane), seconds in sorted(found.seconds.items(), key=lambda item: -item[1]):
        if seconds > 0:
            name = found.names[place, lane]
            where = None if name == _("Message rate") else place
            by_place.setdefault((name, where), Ceiling(name, place, size_bytes / seconds))
    listed: dict[tuple[str, str], Ceiling] = {}
    for ceiling in by_place.values():
        listed.setdefault((ceiling.name, f"{ceiling.bytes_per_s:.9g}"), ceiling)
    return tuple(listed.values())
