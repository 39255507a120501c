"""What a path picture has been asked to show, apart from how it is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gdviz.figures.layout import Layout
from gdviz.figures.lit import Lit
from gdviz.figures.paths import needed, path_lit, transfer_lit
from gdviz.figures.picture_words import paths_heading, transfer_heading
from gdviz.machine import Gpu, Machine, Nic, Path
from gdviz.model.results import Ceiling, Place, Prediction, Side
from gdviz.model.workload import DataPath, Endpoint, Op


@dataclass(frozen=True)
class Transfer:
    """A transfer to be shown."""

    local: Endpoint
    remote: Endpoint
    path: DataPath
    op: Op
    prediction: Prediction | None = None


@dataclass(slots=True)
class Shown:
    """The state of a picture.

    Attributes
    ----------
    opened
        For each node, the groups that a person opened.
    chosen
        For each node, the chosen GPU and NIC.
    paths
        Paths from a GPU to a NIC, by node; or else
    transfer
        a transfer.
    loads, capacities
        Bytes a second through places, and what they carry; no loads: not known.
    active
        The only places to show bright; None: all.
    """

    machines: tuple[Machine, ...]
    opened: list[set[str]]
    chosen: list[dict[type, str]]
    paths: dict[int, Path] = field(default_factory=dict)
    transfer: Transfer | None = None
    loads: Mapping[Place, float] | None = None
    capacities: dict[Place, float] = field(default_factory=dict)
    narrowest: Ceiling | None = None
    active: frozenset[Place] | None = None

    @classmethod
    def nothing(cls, machines: Sequence[Machine]) -> Shown:
        """Return the state of a picture with nothing lit."""
        return cls(tuple(machines), [set() for _ in machines], [{} for _ in machines])

    def forget_transfer(self) -> None:
        """Leave out the transfer and all that was known of it."""
        self.transfer = self.loads = self.narrowest = self.active = None
        self.capacities = {}

    def ends(self) -> tuple[tuple[int, Endpoint], tuple[int, Endpoint]] | None:
        """Return (node index, endpoint) of the local and the remote end, None without a transfer."""
        if self.transfer is None:
            return None
        local, remote = self.transfer.local, self.transfer.remote
        here = self._index_of(local.machine, 0)
        there = self._index_of(remote.machine, len(self.machines) - 1 - here)
        return (here, local), (there, remote)

    def _index_of(self, machine: Machine, usual: int) -> int:
        for alike in (lambda m: m is machine, lambda m: m.name == machine.name):
            found = [i for i, mine in enumerate(self.machines) if alike(mine)]
            if found:
                return usual if usual in found else found[0]
        return max(0, usual)

    def node_of(self, place: Place) -> int:
        """Return the index of the node that a place is in; -1 for the wire."""
        if place.side is Side.WIRE:
            return -1
        ends = self.ends()
        if ends is not None:
            return ends[0][0] if place.side is Side.LOCAL else ends[1][0]
        return 0 if place.side is Side.LOCAL else len(self.machines) - 1

    def wanted(self) -> list[frozenset[str]]:
        """Return, for each node, the ids that must not be folded away."""
        found = []
        for index, machine in enumerate(self.machines):
            parts: list[str | None] = [*self.chosen[index].values()]
            if index in self.paths:
                parts += [self.paths[index].gpu, self.paths[index].nic]
            for node, end in self.ends() or ():
                if node == index:
                    parts += [end.gpu_part.id if end.gpu_part else None, end.nic_part.id]
            found.append(needed(machine, *parts) | frozenset(self.opened[index]))
        return found

    def lit(self, layout: Layout) -> Lit:
        """Return the path to be lit."""
        ends = self.ends()
        if self.transfer is not None and ends is not None:
            return transfer_lit(layout, ends, self.transfer.path, self.transfer.op, self.capacities)
        found = Lit()
        for index, path in sorted(self.paths.items()):
            found = found.joined_with(path_lit(layout, index, path))
        return found

    def shares(self, lit: Lit) -> list[float] | None:
        """Return the share in use of each leg of a lit path, None where no loads are known."""
        if self.loads is None:
            return None
        return [
            min(1.0, self.loads.get(place, 0.0) / capacity) if capacity else 0.0
            for place, capacity in zip(lit.places, lit.capacities, strict=True)
        ]

    def heading(self) -> str:
        """Return the line above the picture."""
        if self.transfer is not None:
            return transfer_heading(self.transfer.path, self.transfer.prediction)
        return paths_heading(self.machines, self.paths)

    def toggle_chosen(self, node: int, part: Gpu | Nic) -> None:
        """Choose a GPU or NIC, or free it if it was chosen."""
        chosen = self.chosen[node]
        if chosen.get(type(part)) == part.id:
            del chosen[type(part)]
        else:
            chosen[type(part)] = part.id
