"""How times scatter: CPU work much, hardware hardly."""

from __future__ import annotations

import numpy as np

from gdviz.model.constants import Constants
from gdviz.model.engine import Array


def cpu_factors(random: np.random.Generator, count: int, constants: Constants, parts: int = 1) -> Array:
    """Return factors, shape (count,), median 1, for CPU work made of so many equal parts (log-normal)."""
    sigma = constants.cpu_sigma / np.sqrt(parts)
    factors: Array = np.exp(random.standard_normal(count) * sigma)
    return factors


def interruptions(
    random: np.random.Generator, count: int, exposure_s: float, constants: Constants
) -> Array:
    """Return seconds, shape (count,), by which interrupts and preemptions hold up CPU work.

    A message is hit if an event falls into the CPU's `exposure_s`, or if its work comes up while one is
    being served.
    """
    late = np.zeros(count)
    if exposure_s <= 0:
        return late
    for rate, length in (
        (constants.interrupt_hz, constants.interrupt_s),
        (constants.preempt_hz, constants.preempt_s),
    ):
        chance = min(1.0, rate * (exposure_s + length))
        hits = random.binomial(count, chance)
        where = random.integers(0, count, hits)
        late[where] += random.exponential(length, hits)
    return late


def hardware(random: np.random.Generator, count: int, constants: Constants) -> Array:
    """Return seconds, shape (count,), that arbitration in hardware adds (exponential)."""
    return random.standard_exponential(count) * constants.hardware_jitter_s
