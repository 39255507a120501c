"""What this host has: which provider it will use, and why not a better one."""

from __future__ import annotations

from gdviz.nodes.discovery.answer import Found, judge
from gdviz.nodes.discovery.obstacle import Obstacle
from gdviz.nodes.discovery.probe import Probe, look

__all__ = ["Found", "Obstacle", "Probe", "judge", "look", "nodes"]


def nodes() -> Found:
    """Look at this host and say which verbs it offers, and what is missing for more.

    Returns
    -------
    Found
        Shown as text it names, for each thing that is missing, the one command that helps.
    """
    return judge(look())
