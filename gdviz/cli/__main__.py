"""``python -m gdviz.cli``."""

from __future__ import annotations

from gdviz.cli import main

main()
