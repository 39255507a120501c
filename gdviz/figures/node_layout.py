"""What a laid out path picture is: nodes, their boxes and links, and where their rows lie.

A node is laid out once, as the upper one, in its own y from 0 (the edge of the picture) to `depth` (the
edge of the fabric); `NodeLayout.y` turns that into the picture's y.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gdviz.figures.shapes import Box, Link, Rect
from gdviz.machine import Cpu, Machine, Part

WIDTH = 960.0
MARGIN = 8.0
TOP, BOTTOM = 30.0, 20.0
SOCKET_GAP = 16.0
#: Id of the pseudo-socket that holds parts whose CPU the source does not give.
NO_CPU = ""


TAB_PX = 7.0
#: How far above the CPUs' lower edge a path crosses them, clear of their names.
LANE_UP = 8.5


@dataclass(frozen=True, slots=True)
class Rows:
    """Heights of a node's rows and of the gaps below them, from the edge of the picture to the wire."""

    memory: float
    memory_gap: float
    cpu: float
    cpu_gap: float
    switch: float
    switch_gap: float
    gpu: float
    gpu_gap: float
    nic: float
    nic_gap: float
    fabric: float


def group_key(part: Part) -> str:
    """Return the key of the box that shows a part and all below it folded; a CPU has one of its own too."""
    return f"group:{part.id}" if isinstance(part, Cpu) else part.id


@dataclass(frozen=True)
class NodeLayout:
    """One node's boxes and links.

    Attributes
    ----------
    boxes
        By part id; host memory under ``memory:`` and the CPU's id, a folded socket under ``group:``.
    up
        x at which a part's uplink leaves it (for a NIC, also its port).
    gutters
        Rectangles at the left of each socket, where the labels stand; no path runs there.
    folded
        Ids of the bridges (or CPUs) shown as one box.
    """

    index: int
    machine: Machine
    base: float
    flipped: bool
    depth: float
    rows: Rows
    boxes: Mapping[str, Box]
    links: tuple[Link, ...]
    up: Mapping[str, float]
    gutters: tuple[tuple[str, Rect], ...]
    folded: frozenset[str]
    bands: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def y(self, local: float) -> float:
        """Return the picture's y of this node's own y."""
        return self.base - local if self.flipped else self.base + local

    @property
    def memory_y(self) -> float:
        """Own y of the middle of the host memory."""
        return self.rows.memory / 2

    @property
    def gap_y(self) -> float:
        """Own y between memory and CPUs, where links between distant sockets run."""
        return self.rows.memory + self.rows.memory_gap / 2

    @property
    def lane_y(self) -> float:
        """Own y in the CPUs' bands at which a path crosses them, clear of their names."""
        return self.cpu_bottom - LANE_UP

    @property
    def cpu_bottom(self) -> float:
        """Own y of the CPUs' edge towards the devices."""
        return self.rows.memory + self.rows.memory_gap + self.rows.cpu

    def own(self, box: Box) -> tuple[float, float]:
        """Return a box's own y: (far from the wire, near the wire)."""
        _, top, _, bottom = box.rect
        return (
            (self.base - bottom, self.base - top) if self.flipped else (top - self.base, bottom - self.base)
        )

    def hidden_in(self, part_id: str) -> str | None:
        """Return the key of the group's box that a part is folded into, None if it is shown."""
        for part in self.machine.ancestors(part_id):
            if part.id in self.folded:
                return group_key(part)
        return None


@dataclass(frozen=True)
class Layout:
    """A whole picture.

    Attributes
    ----------
    fabric
        The box of the wire between the nodes, or at the foot of one node alone.
    """

    width: float
    height: float
    nodes: tuple[NodeLayout, ...]
    fabric: Box

    @property
    def boxes(self) -> tuple[Box, ...]:
        """All boxes, the fabric last."""
        return (*(box for node in self.nodes for box in node.boxes.values()), self.fabric)

    @property
    def links(self) -> tuple[Link, ...]:
        """All links."""
        return tuple(link for node in self.nodes for link in node.links)
