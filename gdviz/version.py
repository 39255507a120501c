"""The version, where every room can read it."""

from __future__ import annotations

VERSION = "0.1.0"
