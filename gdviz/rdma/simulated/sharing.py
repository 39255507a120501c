"""How transfers that meet on a link or in a NIC share it: max-min fair.

All rates grow together until a place is full; the transfers through it keep what they have, the others go
on growing up to what they could reach alone.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from gdviz.machine import Cpu, Machine
from gdviz.model import Op, PlaceKind, Prediction, Side
from gdviz.rdma.simulated.timing import End

_FULL = 1e-12


@dataclass(frozen=True)
class Demand:
    """What one transfer takes when it is alone.

    Attributes
    ----------
    bytes_per_s
        Its bandwidth.
    shares
        Share of each place's capacity that it then takes, 0 to 1.
    """

    bytes_per_s: float
    shares: Mapping[Hashable, float]


def fair_scales(demands: Sequence[Demand]) -> list[float]:
    """Return for each transfer the part of its own bandwidth that it gets.

    Examples
    --------
    >>> port = Demand(50e9, {"port": 1.0})
    >>> fair_scales([port, port, Demand(10e9, {"port": 0.2})])
    [0.4, 0.4, 1.0]
    """
    rates = [0.0] * len(demands)
    growing = {index for index, demand in enumerate(demands) if demand.bytes_per_s > 0}
    places = {place for demand in demands for place in demand.shares}
    while growing:
        # How far all may grow together: until one has all that it wants, or one place is full.
        step = min(demands[index].bytes_per_s - rates[index] for index in growing)
        for place in places:
            slope = sum(_per_byte(demands[index], place) for index in growing)
            if slope > 0:
                used = sum(_per_byte(d, place) * rate for d, rate in zip(demands, rates, strict=True))
                step = min(step, max(0.0, 1 - used) / slope)
        for index in growing:
            rates[index] += step
        full = {
            place
            for place in places
            if sum(_per_byte(d, place) * rate for d, rate in zip(demands, rates, strict=True)) >= 1 - 1e-9
        }
        done = {
            index
            for index in growing
            if rates[index] >= demands[index].bytes_per_s * (1 - _FULL)
            or any(demands[index].shares.get(place, 0.0) > 0 for place in full)
        }
        if not done:
            break
        growing -= done
    return [
        min(1.0, rate / demand.bytes_per_s) if demand.bytes_per_s > 0 else 1.0
        for demand, rate in zip(demands, rates, strict=True)
    ]


def _per_byte(demand: Demand, place: Hashable) -> float:
    """Return the share of a place that one byte a second of a transfer takes."""
    share = min(1.0, demand.shares.get(place, 0.0))
    return share / demand.bytes_per_s if demand.bytes_per_s > 0 else 0.0


def demand(prediction: Prediction, here: End, there: End) -> Demand:
    """Return what a run takes of which place, named so that runs of all nodes compare."""
    ends = {Side.LOCAL: here, Side.REMOTE: there}
    # Links and ports carry both directions at once; which one a run uses depends on its end.
    outward = {Side.LOCAL: prediction.workload.op is not Op.READ}
    outward[Side.REMOTE] = not outward[Side.LOCAL]
    shares: dict[Hashable, float] = {}
    for place, load in prediction.loads.items():
        capacity = prediction.capacities.get(place, 0.0)
        if place.side is Side.WIRE or capacity <= 0:
            continue
        end = ends[place.side]
        if place.kind is PlaceKind.PART and _is_cpu(end.machine, place.id):
            # Each transfer has a thread of its own.
            continue
        duplex = place.kind in (PlaceKind.LINK, PlaceKind.PORT)
        key = (end.node, place.kind, place.id, duplex and outward[place.side])
        shares[key] = shares.get(key, 0.0) + load / capacity
    return Demand(prediction.bandwidth_bytes_per_s, shares)


def _is_cpu(machine: Machine, part: str) -> bool:
    return any(isinstance(cpu, Cpu) and cpu.id == part for cpu in machine.cpus)
