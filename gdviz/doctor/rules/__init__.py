"""The doctor's rules, one module a family; importing this registers all of them."""

from __future__ import annotations

from gdviz.doctor.rules import (
    conclusions,
    dmabuf,
    fabric,
    gids,
    host,
    levels,
    middleware,
    modules,
    pcie,
    platform,
    ports,
    topofile,
    vm,
)
from gdviz.doctor.rules.base import CONCLUSIONS, RULES, Answer, answers

__all__ = [
    "CONCLUSIONS",
    "RULES",
    "Answer",
    "answers",
    "conclusions",
    "dmabuf",
    "fabric",
    "gids",
    "host",
    "levels",
    "middleware",
    "modules",
    "pcie",
    "platform",
    "ports",
    "topofile",
    "vm",
]
