"""Charts of transfers: live, swept over sizes, one message's time, latency, and registration."""

from __future__ import annotations
