"""``show_gids``: the GID table of RoCE ports."""

from __future__ import annotations

from dataclasses import dataclass

KIND = "show_gids"
TITLE = "show_gids"


@dataclass(frozen=True, slots=True)
class GidRow:
    """A GID.

    Attributes
    ----------
    version
        ``v1`` or ``v2``; empty where missing (InfiniBand).
    ipv4
        The routed address inside it; empty for others.
    """

    device: str
    port: int
    index: int
    gid: str
    ipv4: str
    version: str
    netdev: str
    line: int

    @property
    def link_local(self) -> bool:
        """Whether no router forwards it (fe80::/10)."""
        return self.gid.lower().startswith(("fe8", "fe9", "fea", "feb"))


@dataclass(frozen=True, slots=True)
class GidTable:
    """All rows, in order."""

    rows: tuple[GidRow, ...]
