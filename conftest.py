"""What this machine cannot run is skipped with its reason, and said once more at the end."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

pytest_plugins = ["tests.vm.collect"]

NEEDS = {
    "gpu": ("no NVIDIA GPU (no /dev/nvidia0)", Path("/dev/nvidia0").exists()),
    "rdma": (
        "no RDMA device (nothing in /sys/class/infiniband)",
        any(Path("/sys/class/infiniband").glob("*")),
    ),
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for marker, (reason, there) in NEEDS.items():
            if not there and item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=reason))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """List what did not run, one line a reason."""
    reasons: Counter[str] = Counter()
    for report in terminalreporter.stats.get("skipped", []):
        text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reasons[text.removeprefix("Skipped: ")] += 1
    if reasons:
        terminalreporter.section("not run on this machine")
        for reason, count in reasons.most_common():
            terminalreporter.line(f"{count:5d}  {reason}")
