"""One view of each node, merged from everything that its files say; what is unknown is None, and not no."""

from __future__ import annotations
