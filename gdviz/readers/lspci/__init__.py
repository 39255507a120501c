"""``lspci`` in its forms: ``-vvv`` with root or without, ``-nn``, ``-n``, ``-tv``, whole or through grep."""

from __future__ import annotations

from gdviz.readers.lspci.facts import AcsControl, Bar, Hint, LinkFacts, PciFunction, PciListing
from gdviz.readers.lspci.reader import KIND, TITLE, looks_like, read
from gdviz.readers.lspci.tree import PciTree, degraded, ports_between, ports_in

__all__ = [
    "KIND",
    "TITLE",
    "AcsControl",
    "Bar",
    "Hint",
    "LinkFacts",
    "PciFunction",
    "PciListing",
    "PciTree",
    "degraded",
    "looks_like",
    "ports_between",
    "ports_in",
    "read",
]
