"""gdviz in a terminal."""

from __future__ import annotations

from gdviz.cli.main import main

__all__ = ["main"]
