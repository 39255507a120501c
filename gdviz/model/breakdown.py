"""One message's time, cut so that the pieces add up: for pictures that stack stages."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from gdviz.model.results import Stage


def breakdown(stages: Sequence[Stage]) -> tuple[tuple[Stage, float], ...]:
    """Return each stage's share of the time, in seconds, in the order of the stages.

    Stages overlap: a large message is read, sent and written at the same time. Each moment goes to the
    longest of the stages at work in it (of equals, to the later one), which is the one that sets the
    pace. The shares add up to the time from the first start to the last end in which any stage works.
    """
    shares = [0.0] * len(stages)
    edges = sorted({edge for stage in stages for edge in (stage.start_s, stage.end_s)})
    for start, end in pairwise(edges):
        at_work = [
            position for position, stage in enumerate(stages) if stage.start_s <= start and stage.end_s >= end
        ]
        if at_work:
            longest = max(
                at_work, key=lambda position: (stages[position].duration_s, stages[position].start_s)
            )
            shares[longest] += end - start
    return tuple(zip(stages, shares, strict=True))
