"""Counters of RDMA ports and network interfaces: ``hw_counters``, ``ethtool -S``, ``rdma statistic``."""

from __future__ import annotations

from dataclasses import dataclass

KIND = "counters"
TITLE = "port counters"


@dataclass(frozen=True, slots=True)
class Counter:
    """A counter.

    Attributes
    ----------
    device
        RDMA device or network interface; empty where the text does not say.
    port
        From 1; None for a network interface.
    name
        Such as ``out_of_sequence``.
    """

    device: str
    port: int | None
    name: str
    value: int
    line: int


@dataclass(frozen=True, slots=True)
class Counters:
    """All counters, in order."""

    counters: tuple[Counter, ...]

    def of(self, *names: str) -> tuple[Counter, ...]:
        """Return the counters of some names."""
        return tuple(counter for counter in self.counters if counter.name in names)
