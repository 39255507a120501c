"""A running transfer, message after message, in blocks of the window."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gdviz.errors import GdvizError
from gdviz.messages import _
from gdviz.model.constants import Constants
from gdviz.model.engine import Array, Visit, Window, in_turn
from gdviz.model.jitter import cpu_factors, cpu_mean, hardware, interruptions
from gdviz.model.profile import Profile, Server
from gdviz.model.results import Prediction

#: Messages simulated in one pass: bounds the memory that a long `Flow.take` uses.
_PASS = 65536


@dataclass(frozen=True, slots=True)
class Batch:
    """Messages of a flow.

    Attributes
    ----------
    completed_s
        When each was complete, shape (n,), ascending, from the flow's start.
    latency_s
        Seconds from its posting to its completion, shape (n,).
    """

    completed_s: Array
    latency_s: Array


def scatter(
    server: Server,
    parts: int,
    random: np.random.Generator,
    count: int,
    constants: Constants,
    interval_s: float | None,
) -> Visit:
    """Return what `count` messages do at a server, jitter included.

    `interval_s` is the time between two of many messages; None for messages that go one at a time.
    """
    if not server.cpu:
        delay = server.delay_s + hardware(random, count, constants)
        return Visit(np.full(count, server.occupancy_s), delay)
    factors = cpu_factors(random, count, constants, parts)
    alone = interval_s is None
    exposure = server.delay_s if interval_s is None else interval_s
    late = interruptions(random, count, constants, exposure_s=exposure, alone=alone)
    # The nominal occupancy is a mean, the nominal delay a median.
    occupancy = server.occupancy_s * factors / cpu_mean(constants, parts)
    if not alone:
        occupancy += late
    return Visit(occupancy, server.delay_s * factors + late)


def draw(
    shape: Profile,
    random: np.random.Generator,
    count: int,
    constants: Constants,
    interval_s: float | None = None,
) -> tuple[list[Visit], Array]:
    """Return what the next messages do at each server, and their tails."""
    visits = [scatter(server, shape.parts, random, count, constants, interval_s) for server in shape.servers]
    return visits, scatter(shape.tail, shape.parts, random, count, constants, interval_s).delay_s


class Flow:
    """A transfer that goes on as long as messages are taken from it.

    Made by `gdviz.model.flow`. The window of ``depth * qps`` messages is fed back: a message is posted
    when the one that far ahead of it is complete.
    """

    def __init__(self, shape: Profile, prediction: Prediction, constants: Constants, seed: int) -> None:
        self._shape = shape
        self._constants = constants
        self._random = np.random.default_rng(seed)
        self._window = Window(len(shape.servers), shape.window)
        self._last = 0.0
        self._prediction = prediction

    @property
    def prediction(self) -> Prediction:
        """What the model expects of this transfer."""
        return self._prediction

    @property
    def cpu_seconds_per_message(self) -> float:
        """CPU seconds that a message costs on average, both ends together."""
        return self._shape.cpu_s

    def take(self, n: int) -> Batch:
        """Return the next `n` messages.

        Raises
        ------
        GdvizError
            `n` is negative.
        """
        if n < 0:
            raise GdvizError(_("A flow cannot give {n} messages.").format(n=n))
        passes = [self._take(min(_PASS, n - at)) for at in range(0, n, _PASS)]
        if not passes:
            return Batch(np.empty(0), np.empty(0))
        if len(passes) == 1:
            return passes[0]
        return Batch(
            np.concatenate([each.completed_s for each in passes]),
            np.concatenate([each.latency_s for each in passes]),
        )

    def _take(self, count: int) -> Batch:
        alone = self._shape.window == 1
        interval = None if alone else 1 / self._prediction.messages_per_s
        visits, tail = draw(self._shape, self._random, count, self._constants, interval)
        if alone:
            total = tail + sum(visit.delay_s for visit in visits)
            longest = np.max([visit.occupancy_s for visit in visits], axis=0)
            completed = self._last + in_turn(total, longest)
            self._last = float(completed[-1])
            return Batch(completed, np.maximum(total, longest))
        posted, completed, _begun = self._window.run(visits, tail)
        return Batch(completed, completed - posted)
