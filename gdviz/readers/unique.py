"""Ids that occur once in a machine, whatever a file says."""

from __future__ import annotations

from collections import Counter


class UniqueIds:
    """Gives each part an id of its own.

    Examples
    --------
    >>> ids = UniqueIds()
    >>> ids.take("cpu0"), ids.take("cpu0"), "cpu0" in ids
    ('cpu0', 'cpu0#2', True)
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._numbers: Counter[str] = Counter()

    def __contains__(self, part_id: object) -> bool:
        return part_id in self._taken

    def take(self, wanted: str) -> str:
        """Return `wanted` if nobody has it, else `wanted` with a number."""
        part_id = wanted
        while part_id in self._taken:
            # Counting on from the last number keeps a file of equal ids from taking quadratic time.
            self._numbers[wanted] += 1
            part_id = f"{wanted}#{self._numbers[wanted] + 1}"
        self._taken.add(part_id)
        return part_id
