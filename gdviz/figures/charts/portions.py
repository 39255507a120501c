"""Whose time is it? One message's time cut into portions, each belonging to one stage. No Bokeh.

The stages of one small message follow each other. Those of a large one overlap: its packets (or, staged,
its chunks) are read, sent and written at the same time, so the stages' durations add up to far more than
the message took. `portions` cuts the time so that it adds up exactly. Where several stages are active, an
instant belongs to one of them:

1. to one that moves the bytes, before one that only tells somebody something;
2. of those that move bytes to the longest one: in a pipeline it sets the pace. The others are stretched
   to its pace (those behind it wait for bytes, those before it for room), so stages that are equally long
   within 2 % are told apart by the narrowest place that each one crosses, if the places' capacities are
   known, and else the first one has it;
3. of the others to one on the critical path (walked back from the end: a stage that ends when the next
   one starts), then to the longest.

What is left of the other stages is what they add before and after. A portion is the CPU's if any CPU
stage is active in it, whoever it belongs to: involved, which for many chunks is not busy all the time.
This is a reading of the timeline, not another model.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from gdviz.model import Place, Side, Stage

#: Stages whose durations differ by less are taken as equally long.
SAME_PACE = 0.02

#: Two times closer than this part of the whole are the same time.
SAME_TIME = 1e-9


@dataclass(frozen=True, slots=True)
class Portion:
    """A piece of one message's time.

    Attributes
    ----------
    stage
        Whose it is; None where no stage is active.
    start_s, end_s
        From the moment the message is posted.
    cpu
        Whether a CPU is involved.
    """

    stage: Stage | None
    start_s: float
    end_s: float
    cpu: bool

    @property
    def duration_s(self) -> float:
        """Seconds from start to end."""
        return self.end_s - self.start_s


def critical(stages: Sequence[Stage]) -> frozenset[tuple[str, Side]]:
    """Return key and side of the stages on the critical path, walked back from the last one to end."""
    if not stages:
        return frozenset()
    total = max(stage.end_s for stage in stages)
    at = max(stages, key=lambda stage: (stage.end_s, -stage.start_s))
    found = {(at.key, at.side)}
    while True:
        before = [
            stage
            for stage in stages
            if (stage.key, stage.side) not in found
            and abs(stage.end_s - at.start_s) <= SAME_TIME * total
            and stage.start_s < at.start_s
        ]
        if not before:
            return frozenset(found)
        at = max(before, key=lambda stage: stage.moves_bytes)
        found.add((at.key, at.side))


def _owner(
    active: Sequence[Stage], path: frozenset[tuple[str, Side]], capacities: Mapping[Place, float]
) -> Stage | None:
    movers = [stage for stage in active if stage.moves_bytes]
    if movers:
        longest = max(stage.duration_s for stage in movers)
        paced = [stage for stage in movers if stage.duration_s >= longest * (1 - SAME_PACE)]
        return min(paced, key=lambda stage: (_narrowest(stage, capacities), stage.start_s))
    if active:
        return max(active, key=lambda stage: ((stage.key, stage.side) in path, stage.duration_s))
    return None


def _narrowest(stage: Stage, capacities: Mapping[Place, float]) -> float:
    known = [capacities[place] for place in stage.places if capacities.get(place)]
    return min(known, default=math.inf)


def portions(stages: Iterable[Stage], capacities: Mapping[Place, float] | None = None) -> tuple[Portion, ...]:
    """Return one message's time, from 0 to the last end, cut without gap or overlap.

    Parameters
    ----------
    capacities
        Bytes a second that each place can carry (`Prediction.capacities`).
    """
    stages = [stage for stage in stages if stage.duration_s > 0]
    path = critical(stages)
    times = sorted({0.0, *(stage.start_s for stage in stages), *(stage.end_s for stage in stages)})
    cut: list[Portion] = []
    for start, end in pairwise(times):
        active = [stage for stage in stages if stage.start_s <= start and stage.end_s >= end]
        owner, cpu = _owner(active, path, capacities or {}), any(stage.cpu for stage in active)
        if cut and cut[-1].stage is owner and cut[-1].cpu == cpu:
            cut[-1] = Portion(owner, cut[-1].start_s, end, cpu)
        else:
            cut.append(Portion(owner, start, end, cpu))
    return tuple(cut)


def own_times(cut: Iterable[Portion]) -> list[tuple[Stage | None, float]]:
    """Return each stage that has a portion, in the order of its first one, with its seconds in all."""
    order: list[Stage | None] = []
    seconds: list[float] = []
    for portion in cut:
        for index, stage in enumerate(order):
            if stage is portion.stage:
                seconds[index] += portion.duration_s
                break
        else:
            order.append(portion.stage)
            seconds.append(portion.duration_s)
    return list(zip(order, seconds, strict=True))
