"""A transfer as the engine sees it: its stages, its servers, its ceilings."""

from __future__ import annotations

from dataclasses import dataclass

from gdviz.messages import _
from gdviz.model.ceilings import CPU, Usage, ceilings_of, usage
from gdviz.model.network import network
from gdviz.model.results import Ceiling, Place, Stage
from gdviz.model.setup import Setup
from gdviz.model.staging import chunks_of, cpu_s, far_s, near_s, staged_stages, staged_usage
from gdviz.model.workload import Workload


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
    servers
        In the order of a message's way.
    latency_s
        One message's time on an idle path, without jitter.
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
    latency_s: float
    cpu_s: float
    parts: int

    @property
    def window(self) -> int:
        """Messages in flight."""
        return self.workload.depth * self.workload.qps

    def ceilings(self, mean_latency_s: float) -> tuple[Ceiling, ...]:
        """Return all ceilings, narrowest first, with that of the window at a mean latency."""
        size = self.workload.size_bytes
        poster = next(stage for stage in self.stages if stage.key == "doorbell").places[-1]
        window = Ceiling(
            _("Latency (depth too small)"), poster, size * self.window / mean_latency_s
        )
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
        return {
            place: bandwidth_bytes_per_s * self.found.crossings[place] for place in self.capacities()
        }


def profile(setup: Setup, workload: Workload) -> Profile:
    """Return a workload's profile."""
    constants, size = setup.constants, workload.size_bytes
    batch = max(1, min(constants.batch, workload.depth * workload.qps))
    if setup.staged:
        stages = staged_stages(setup, size)
        found = staged_usage(setup, size, workload.qps, batch)
        sizes = chunks_of(size, constants.chunk_bytes)
        source, sink = setup.source, setup.sink
        work = [sum(cpu_s(end, setup, part, batch) for part in sizes) for end in (source, sink)]
        near, far = near_s(setup, sizes[0]), far_s(setup, sizes[-1])
        latency = max(stage.end_s for stage in stages)
        staged = (
            Server(work[0], near, cpu=True),
            Server(found.busy_hardware(), latency - near - far),
            Server(work[1], far, cpu=True),
        )
        tail = Server(0.0, 0.0)
        return Profile(workload, stages, staged, tail, found, latency, sum(work), len(sizes))
    sent = network(setup, size)
    found = usage(setup, size, workload.qps)
    work_s = constants.post_s + constants.program_s / batch
    found.add(setup.local.cpu, CPU, _("Message rate"), work_s)
    found.crossings.setdefault(setup.local.cpu, 1)
    near = sent.stages[0].duration_s
    servers = (
        Server(work_s, near, cpu=True),
        Server(found.busy_hardware(), sent.end_s - sent.cpu_s),
    )
    tail = Server(0.0, sent.cpu_s - near, cpu=True)
    return Profile(workload, sent.stages, servers, tail, found, sent.end_s, work_s, 1)
