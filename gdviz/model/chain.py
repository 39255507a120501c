"""The chunks of one staged message on their way: copy, network, copy, overlapping."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gdviz.model.ceilings import usage
from gdviz.model.copies import copy_s, cpu_s, launch_s, notice_s, wait_s
from gdviz.model.engine import Visit, Window
from gdviz.model.network import Network, network
from gdviz.model.setup import End, Setup
from gdviz.model.workload import Op


@dataclass(frozen=True)
class Chain:
    """The times of one staged message's chunks.

    Attributes
    ----------
    networks
        The first and the last chunk's way over the network.
    starts
        When the first and the last chunk start: source CPU, copy, wait, network, far CPU, copy, wait.
    signal_s
        What one CPU takes to tell the other something (READ only).
    end_s
        When the last chunk lies in the far memory and the far CPU knows.
    """

    sizes: list[int]
    networks: tuple[Network, Network]
    starts: list[tuple[float, float]]
    signal_s: float
    end_s: float

    @classmethod
    def of(cls, setup: Setup, sizes: list[int], *, idle: bool = True) -> Chain:
        """Send chunks through a free staged path, as many under way as there are bounce buffers.

        `idle` as in `network`, for the first chunk; the others come when the queue pair is at work.
        """
        constants, source, sink = setup.constants, setup.source, setup.sink
        # Chunks differ by size and by whether they are the first: at most three kinds.
        keys = [(size, idle and at == 0) for at, size in enumerate(sizes)]
        kinds = list(dict.fromkeys(keys))
        position = np.array([kinds.index(key) for key in keys])
        whole = sum(sizes)
        networks = [network(setup, size, idle=first, whole_bytes=whole) for size, first in kinds]
        read = setup.op is Op.READ
        signal_s = _signal_s(setup) if read else 0.0

        def visit(occupancy: list[float], delay: list[float]) -> Visit:
            return Visit(np.array(occupancy)[position], np.array(delay)[position])

        def copying(end: End) -> Visit:
            each = [copy_s(end, setup, size) for size, _first in kinds]
            return visit(each, each)

        def working(end: End, more_s: float = 0.0) -> Visit:
            each = [cpu_s(end, setup, size, constants.batch) for size, _first in kinds]
            return visit(each, [launch_s(end, setup, size) + more_s for size, _first in kinds])

        def waiting(end: End, more_s: float = 0.0) -> Visit:
            each = [wait_s(end, setup, size) + more_s for size, _first in kinds]
            return visit([0.0] * len(kinds), each)

        crossing = visit(
            [usage(setup, size, 1).busy_hardware() for size, _first in kinds],
            [each.end_s if read else each.landed_s for each in networks],
        )
        visits = [
            working(source),
            copying(source),
            waiting(source, signal_s),
            crossing,
            working(sink, notice_s(setup)),
            copying(sink),
            waiting(sink),
        ]
        window = Window(len(visits), constants.bounce_buffers)
        _posted, done, begun = window.run(visits, np.zeros(len(sizes)))
        starts = [(float(start[0]) + signal_s, float(start[-1]) + signal_s) for start in begun]
        ends = (networks[position[0]], networks[position[-1]])
        return cls(sizes, ends, starts, signal_s, float(done[-1]) + signal_s)


def _signal_s(setup: Setup) -> float:
    """Return seconds for one CPU to tell the other something, for a staged READ.

    The poster asks the far CPU to copy, and is told when it has.
    """
    constants = setup.constants
    there = setup.local.host.latency_s + setup.one_way_s + setup.remote.host.latency_s
    return constants.post_s + there + constants.notice_s
