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


def cpu_mean(constants: Constants, parts: int = 1) -> float:
    """Return the mean of `cpu_factors`."""
    return float(np.exp(constants.cpu_sigma**2 / parts / 2))


def interruptions(
    random: np.random.Generator, count: int, constants: Constants, *, exposure_s: float, alone: bool
) -> Array:
    """Return seconds, shape (count,), by which interrupts and preemptions hold up CPU work.

    Parameters
    ----------
    exposure_s
        Time in which an event hits a message: of a message `alone` its own CPU work (or it comes up while
        an event is being served); of one among many the time between two messages.
    """
    late = np.zeros(count)
    for rate, length in (
        (constants.interrupt_hz, constants.interrupt_s),
        (constants.preempt_hz, constants.preempt_s),
    ):
        chance = min(1.0, rate * (exposure_s + length if alone else exposure_s))
        hits = random.binomial(count, chance)
        np.add.at(late, random.integers(0, count, hits), random.exponential(length, hits))
    return late


def hardware(random: np.random.Generator, count: int, constants: Constants) -> Array:
    """Return seconds, shape (count,), that arbitration in hardware adds (exponential)."""
    return random.standard_exponential(count) * constants.hardware_jitter_s
