"""``lspci`` in all its forms: ``-vvv`` with root or without, ``-nn``, ``-n``, ``-tv``, whole or through grep."""

from __future__ import annotations

from gdviz.readers.lspci.facts import AcsControl, Bar, Hint, LinkFacts, PciFunction, PciListing

__all__ = [
    "AcsControl",
    "Bar",
    "Hint",
    "LinkFacts",
    "PciFunction",
    "PciListing",
]
