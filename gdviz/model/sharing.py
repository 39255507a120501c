"""Transfers at the same time: links, ports, memories and root complexes shared by max-min fairness.

Progressive filling (Bertsekas and Gallager, Data Networks, section 6.5.2): all transfers' rates rise
together; when a place is full, the transfers that pass it keep the rate they have, and the others rise on.
A transfer never exceeds what it reaches alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gdviz.errors import GdvizError
from gdviz.messages import _
from gdviz.model.ceilings import CPU, RATE
from gdviz.model.constants import DEFAULTS, Constants
from gdviz.model.predict import answer
from gdviz.model.profile import Profile, profile
from gdviz.model.results import Ceiling, Place, PlaceKind, Prediction, Side
from gdviz.model.setup import Setup, build
from gdviz.model.workload import Endpoint, Fabric, Workload

Array = npt.NDArray[np.float64]

#: Lanes that belong to one transfer alone: its queue pairs, its CPU threads, its bounce buffers.
_OWN = frozenset({CPU, RATE, "buffers", "reads"})

#: A place of a node and its lane.
_Resource = tuple[str, PlaceKind, str, str]


@dataclass(frozen=True, slots=True)
class Transfer:
    """One of several transfers.

    Attributes
    ----------
    local, remote
        As in `predict`; machines of one name are one node.
    workload
        Its messages.
    fabric
        The wire; None for the usual one.
    """

    local: Endpoint
    remote: Endpoint
    workload: Workload
    fabric: Fabric | None = None


def predict_together(
    transfers: Sequence[Transfer],
    *,
    constants: Constants = DEFAULTS,
    messages: int = 2000,
    seed: int = 1,
) -> tuple[Prediction, ...]:
    """Return what the model expects of transfers that run at the same time.

    Parameters
    ----------
    transfers
        At least one. Two that go opposite ways between two nodes share nothing but memory, root complexes
        and the requests on each other's links, since links carry both directions at once.
    messages, seed
        As in `predict`.

    Returns
    -------
    tuple of Prediction
        In the order of `transfers`. Latency and stages are those of a message on an idle path.

    Raises
    ------
    GdvizError
        There is no transfer.
    """
    if not transfers:
        raise GdvizError(_("No transfer is given."), _("Give at least one."))
    setups = [
        build(each.local, each.remote, each.workload.op, each.workload.path, each.fabric, constants)
        for each in transfers
    ]
    shapes = [profile(setup, each.workload) for setup, each in zip(setups, transfers, strict=True)]
    alone = [answer(shape, constants, messages, seed) for shape in shapes]
    use, resources = _use(transfers, setups, shapes)
    limits = np.array([prediction.bandwidth_bytes_per_s for prediction in alone])
    rates, narrowest = fill(use, limits)
    return tuple(
        _shared(prediction, shape, float(rate), resources[place] if place >= 0 else None)
        for prediction, shape, rate, place in zip(alone, shapes, rates, narrowest, strict=True)
    )


def fill(use: Array, limits: Array) -> tuple[Array, npt.NDArray[np.int64]]:
    """Share resources by progressive filling.

    Parameters
    ----------
    use
        Shape (flows, resources): seconds for which a byte of a flow keeps a resource busy.
    limits
        Shape (flows,): bytes per second that each flow reaches alone.

    Returns
    -------
    rates, narrowest
        Shape (flows,) each: bytes per second, and the resource that stopped the flow's rise (-1: its own
        limit).
    """
    rates = np.zeros(limits.size)
    narrowest = np.full(limits.size, -1, dtype=np.int64)
    rising = np.ones(limits.size, dtype=bool)
    while rising.any():
        growth = use[rising].sum(axis=0)
        left = np.maximum(0.0, 1.0 - rates @ use)
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(growth > 0, left / growth, np.inf)
        own = np.min(limits[rising] - rates[rising])
        step = min(float(own), float(room.min(initial=np.inf)))
        rates[rising] += step
        full = room <= step * (1 + 1e-12)
        stopped = rising & (use[:, full] > 0).any(axis=1)
        narrowest[stopped] = [int(np.argmax(full & (use[flow] > 0))) for flow in np.flatnonzero(stopped)]
        rising &= ~stopped & (rates < limits * (1 - 1e-12))
    return rates, narrowest


def _use(
    transfers: Sequence[Transfer], setups: Sequence[Setup], shapes: Sequence[Profile]
) -> tuple[Array, list[tuple[str, Place]]]:
    """Return seconds per byte of each transfer at each shared resource, and the resources' names."""
    columns: dict[_Resource, int] = {}
    named: list[tuple[str, Place]] = []
    entries: list[tuple[int, int, float]] = []
    for row, (transfer, setup, shape) in enumerate(zip(transfers, setups, shapes, strict=True)):
        for (place, lane), seconds in shape.found.seconds.items():
            key = _resource(transfer, setup, place, lane)
            if key is None:
                continue
            if key not in columns:
                columns[key] = len(columns)
                named.append((shape.found.names[place, lane], place))
            entries.append((row, columns[key], seconds / transfer.workload.size_bytes))
    use = np.zeros((len(transfers), len(columns)))
    for row, column, seconds in entries:
        use[row, column] += seconds
    return use, named


def _resource(transfer: Transfer, setup: Setup, place: Place, lane: str) -> _Resource | None:
    if lane in _OWN or place.side is Side.WIRE:
        return None
    end = transfer.local if place.side is Side.LOCAL else transfer.remote
    if place.kind is PlaceKind.PORT:
        # A port sends and receives at once.
        lane = "out" if place.side is setup.source.side else "in"
    return end.machine.name, place.kind, _shared_id(end, place), lane


def _shared_id(end: Endpoint, place: Place) -> str:
    """Return the id of a place that the functions of one device have in common: their link."""
    if place.kind is PlaceKind.LINK and place.id == end.nic and end.nic_part.busid:
        return end.nic_part.busid.rpartition(".")[0]
    return place.id


def _shared(
    alone: Prediction, shape: Profile, rate: float, narrowest: tuple[str, Place] | None
) -> Prediction:
    messages_per_s = rate / shape.workload.size_bytes
    ceilings = alone.ceilings
    if narrowest is not None and rate < alone.bandwidth_bytes_per_s * (1 - 1e-9):
        name, place = narrowest
        shared = Ceiling(_("{name}, shared").format(name=name), place, rate)
        ceilings = (shared, *ceilings)
    return replace(
        alone,
        bandwidth_bytes_per_s=rate,
        messages_per_s=messages_per_s,
        cpu_share=messages_per_s * shape.cpu_s,
        bottleneck=ceilings[0],
        ceilings=ceilings,
        loads=shape.loads(rate),
    )
