"""A transfer as the engine sees it: its stages, its servers, its ceilings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gdviz.messages import _
from gdviz.model.ceilings import CPU, Usage, ceilings_of, usage
from gdviz.model.chain import Chain
from gdviz.model.copies import chunks_of, cpu_s, far_s, near_s
from gdviz.model.network import network
from gdviz.model.results import Ceiling, Place, Stage
from gdviz.model.setup import Setup
from gdviz.model.staging import staged_stages, staged_usage
from gdviz.model.workload import Op, Workload


@dataclass(frozen=True, slots=True)
class Server:
    """One server in the row.

    Attributes
    ----------
    occupancy_s
        For how long a message keeps the next one waiting.
    delay_s
        From a message's start to its leaving, on an idle path.
    cpu
        Whether a CPU works there, so that both scatter.
    """

    occupancy_s: float
    delay_s: float
    cpu: bool = False


@dataclass(frozen=True)
class Profile:
    """One workload on one setup.

    Attributes
    ----------
    servers, tail
        In the order of a message's way, and a delay after the last, of a message among others.
    idle_s
        What a message takes longer that finds the queue pair idle; below 0 where it takes less.
    cpu_s
        CPU seconds a message costs, both ends together.
    parts
        Chunks of a message.
    """

    workload: Workload
    stages: tuple[Stage, ...]
    servers: tuple[Server, ...]
    tail: Server
    found: Usage
    idle_s: float
    window: int
    cpu_s: float
    parts: int

    def ceilings(self, mean_latency_s: float) -> tuple[Ceiling, ...]:
        """Return all ceilings, narrowest first, with that of the window at a mean latency."""
        size = self.workload.size_bytes
        poster = next(stage for stage in self.stages if stage.key == "doorbell").places[-1]
        window = Ceiling(_("Latency (depth too small)"), poster, size * self.window / mean_latency_s)
        both = (*ceilings_of(self.found, size), window)
        return tuple(sorted(both, key=lambda ceiling: ceiling.bytes_per_s))

    def capacities(self) -> dict[Place, float]:
        """Return bytes a second that each place can carry at this message size."""
        slowest: dict[Place, float] = {}
        for (place, _lane), seconds in self.found.seconds.items():
            slowest[place] = max(slowest.get(place, 0.0), seconds)
        size = self.workload.size_bytes
        return {
            place: size * self.found.crossings[place] / seconds
            for place, seconds in slowest.items()
            if place in self.found.crossings and seconds > 0
        }

    def loads(self, bandwidth_bytes_per_s: float) -> dict[Place, float]:
        """Return bytes a second through each place at a bandwidth."""
        return {place: bandwidth_bytes_per_s * self.found.crossings[place] for place in self.capacities()}


def profile(setup: Setup, workload: Workload) -> Profile:
    """Return a workload's profile."""
    window = workload.depth * workload.qps
    batch = max(1, min(setup.constants.batch, window))
    build = _staged if setup.staged else _direct
    return build(setup, workload, window, batch)


def _direct(setup: Setup, workload: Workload, window: int, batch: int) -> Profile:
    constants, size = setup.constants, workload.size_bytes
    alone = network(setup, size)
    sent = network(setup, size, idle=workload.depth == 1)
    found = usage(setup, size, workload.qps)
    work_s = constants.post_s + constants.program_s / batch
    found.add(setup.local.cpu, CPU, _("Message rate"), work_s)
    found.crossings.setdefault(setup.local.cpu, 1)
    cpu_s = work_s
    if workload.op is Op.SEND:
        # The receiver posts an entry for each message and polls its completion.
        found.add(setup.remote.cpu, CPU, _("Message rate"), work_s)
        found.crossings.setdefault(setup.remote.cpu, 1)
        cpu_s += work_s
    if workload.op is Op.READ:
        # The NIC itself keeps the others waiting; what the CPU does before and after is not in this window.
        reads = min(workload.depth, constants.read_depth) * workload.qps
        name = _("RDMA reads in flight")
        found.add(setup.local.nic_place, "reads", name, _on_the_way_s(sent.stages) / reads)
    near = sent.stages[0].duration_s
    servers = (
        Server(work_s, near, cpu=True),
        Server(found.busy_hardware(), sent.end_s - sent.cpu_s),
    )
    tail = Server(0.0, sent.cpu_s - near, cpu=True)
    idle_s = alone.end_s - sent.end_s
    return Profile(workload, alone.stages, servers, tail, found, idle_s, window, cpu_s, 1)


def _on_the_way_s(stages: Sequence[Stage]) -> float:
    """Return seconds from a read request's leaving the NIC to the arrival of its last byte."""
    at = {stage.key: stage for stage in stages}
    return at["wire"].end_s - at["request"].start_s


def _staged(setup: Setup, workload: Workload, window: int, batch: int) -> Profile:
    size = workload.size_bytes
    stages = staged_stages(setup, size)
    found = staged_usage(setup, size, workload.qps, batch)
    sizes = chunks_of(size, setup.constants.chunk_bytes)
    work = [sum(cpu_s(end, setup, part, batch) for part in sizes) for end in (setup.source, setup.sink)]
    near, far = near_s(setup, sizes[0]), far_s(setup, sizes[-1])
    alone = max(stage.end_s for stage in stages)
    among = min(alone, Chain.of(setup, sizes, idle=workload.depth == 1).end_s)
    servers = (
        Server(work[0], near, cpu=True),
        Server(found.busy_hardware(), among - near - far),
        Server(work[1], far, cpu=True),
    )
    tail = Server(0.0, 0.0)
    return Profile(workload, stages, servers, tail, found, alone - among, window, sum(work), len(sizes))
