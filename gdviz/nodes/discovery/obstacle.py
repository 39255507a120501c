"""Something that is missing on a host."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Something that is missing.

    Attributes
    ----------
    what
        For what it is needed: ``verbs``, ``soft-RoCE``, ``GPU``, ``GPUDirect RDMA``.
    why
        One sentence.
    command
        The one command that helps; empty where none does.
    blocks
        Whether nothing works without it, or only less.
    """

    what: str
    why: str
    command: str = ""
    blocks: bool = True
