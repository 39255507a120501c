"""The kernel that runs: ``uname``, ``/proc/version``."""

from __future__ import annotations

from dataclasses import dataclass

KIND = "uname"
TITLE = "uname or /proc/version"


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel.

    Attributes
    ----------
    release
        Such as ``5.15.0-105-generic``.
    version
        Its leading numbers: ``(5, 15, 0)``.
    machine
        Such as ``x86_64``; empty where the text does not say.
    host
        The node's name, as ``uname -n`` prints it; empty where the text does not say.
    line
        Line of the file, from 1.
    """

    release: str
    version: tuple[int, ...]
    line: int
    machine: str = ""
    host: str = ""
