"""How much memory may be locked: ``ulimit``, ``/proc/*/limits``, ``prlimit``."""

from __future__ import annotations

from dataclasses import dataclass

KIND = "ulimit"
TITLE = "ulimit"


@dataclass(frozen=True, slots=True)
class Limits:
    """The limit of locked memory.

    Attributes
    ----------
    memlock_bytes
        The soft limit; None: unlimited.
    line
        Line of the file, from 1.
    hard_bytes
        The hard limit where the text gives it; None: unlimited or not given.
    hosts
        Hosts for which it holds, where the command in the file names them (``srun -w node-b``).
    """

    memlock_bytes: int | None
    line: int
    hard_bytes: int | None = None
    hosts: tuple[str, ...] = ()
