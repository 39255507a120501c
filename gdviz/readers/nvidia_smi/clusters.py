"""Devices to groups within groups, by the classes of distance between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gdviz.machine import Distance

#: From the tightest group to the widest. What is not joined by any of them is SYS.
LEVELS = (Distance.PIX, Distance.PXB, Distance.PHB, Distance.NODE)

Pair = tuple[str, str]


class Groups:
    """Sets of names that are joined one by one."""

    def __init__(self, names: Iterable[str]) -> None:
        self._above = {name: name for name in names}

    def leader(self, name: str) -> str:
        """Return the name that stands for the group of `name`."""
        top = name
        while self._above[top] != top:
            top = self._above[top]
        while self._above[name] != top:
            self._above[name], name = top, self._above[name]
        return top

    def join(self, one: str, other: str) -> None:
        """Make one group of two; the one that came first stands for it."""
        first, second = self.leader(one), self.leader(other)
        if first != second:
            self._above[second] = first


def nested(names: Sequence[str], distances: Mapping[Pair, Distance]) -> dict[str, tuple[str, ...]]:
    """Return for each device the groups that it is in, by `LEVELS`, the tightest first.

    Parameters
    ----------
    names
        All devices.
    distances
        What is known of pairs; a pair may be missing.
    """
    groups = Groups(names)
    found: dict[str, list[str]] = {name: [] for name in names}
    for level in LEVELS:
        for (one, other), distance in distances.items():
            if distance is level:
                groups.join(one, other)
        for name in names:
            found[name].append(groups.leader(name))
    return {name: tuple(leaders) for name, leaders in found.items()}


def distance_in(nesting: Mapping[str, tuple[str, ...]], one: str, other: str) -> Distance:
    """Return the class that nested groups give to a pair."""
    for level, mine, theirs in zip(LEVELS, nesting[one], nesting[other], strict=True):
        if mine == theirs:
            return level
    return Distance.SYS
