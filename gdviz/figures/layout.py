"""Where everything of a path picture stands: Machines in, frozen boxes and links out. No Bokeh here.

Two nodes are mirrored, node 0 above and node 1 below, NICs nearest the wire between them.
"""

from __future__ import annotations

from collections.abc import Sequence

from gdviz.errors import GdvizError
from gdviz.figures.build import build_node
from gdviz.figures.node_layout import BOTTOM, MARGIN, TOP, WIDTH, Layout, NodeLayout
from gdviz.figures.plan import plan_node
from gdviz.figures.shapes import Box, BoxKind
from gdviz.machine import Machine
from gdviz.messages import _

__all__ = ["BOTTOM", "MARGIN", "TOP", "WIDTH", "Layout", "NodeLayout", "lay_out"]

#: What a picture can show; the largest real machines have some 50 devices and five bridges above each other.
MOST_DEVICES, MOST_LEVELS = 512, 24


def lay_out(
    machines: Sequence[Machine], opened: Sequence[frozenset[str]] = (), fabric_lines: tuple[str, ...] = ()
) -> Layout:
    """Lay out one or two machines.

    Parameters
    ----------
    machines
        One or two.
    opened
        For each, the ids of parts that must not be folded away.
    fabric_lines
        What is written on the wire.

    Returns
    -------
    Layout
        960 wide; the height follows from how many switches stand above each other.

    Raises
    ------
    GdvizError
        A machine is far larger, or its bridges are nested far deeper, than any that exists.
    """
    for machine in machines:
        _check_drawable(machine)
    alone = len(machines) == 1
    plans = [
        plan_node(machine, opened[i] if i < len(opened) else frozenset(), alone)
        for i, machine in enumerate(machines)
    ]
    fabric_height = plans[0].rows.fabric
    upper = plans[0].depth
    fabric_top = TOP + upper
    height = fabric_top + fabric_height + BOTTOM + (0.0 if alone else plans[1].depth)
    nodes = [build_node(plans[0], 0, TOP, flipped=False)]
    if not alone:
        nodes.append(build_node(plans[1], 1, height - BOTTOM, flipped=True))
    rect = (MARGIN, fabric_top, WIDTH - MARGIN, fabric_top + fabric_height)
    fabric = Box(0, "fabric", BoxKind.FABRIC, rect, fabric_lines)
    return Layout(WIDTH, height, tuple(nodes), fabric)


def _check_drawable(machine: Machine) -> None:
    devices = len(machine.gpus) + len(machine.nics) + len(machine.devices)
    if devices > MOST_DEVICES:
        raise GdvizError(
            _("{machine} has {count} devices; a picture shows up to {most}.").format(
                machine=machine.name, count=devices, most=MOST_DEVICES
            ),
            _("Its paths can be asked for all the same: machine.path(gpu, nic)."),
        )
    ends = [gpu.id for gpu in machine.gpus] + [nic.id for nic in machine.nics]
    levels = max((len(machine.ancestors(end)) - 2 for end in ends), default=0)
    if levels > MOST_LEVELS:
        raise GdvizError(
            _("{machine} has {count} bridges above each other; a picture shows up to {most}.").format(
                machine=machine.name, count=levels, most=MOST_LEVELS
            ),
            _("Its paths can be asked for all the same: machine.path(gpu, nic)."),
        )
