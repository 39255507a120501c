"""The table of a benchmark: what was measured, its goal, and on which machine."""

from __future__ import annotations

import json
import math
import os
import platform
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

#: Where tables and pictures are kept.
ARTEFACTS = Path(__file__).parents[2] / "artefacts" / "bench"


@dataclass(frozen=True)
class Row:
    """One line: the median of the values, their spread, and whether the goal is met (None: no goal)."""

    what: str
    goal: str
    median: float
    low: float
    high: float
    unit: str
    count: int
    met: bool | None
    load: float


def machine() -> dict[str, Any]:
    """Return what the numbers depend on."""
    model = ""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0].split(":", 1)[1].strip() if names else ""
    return {
        "cpu": model or platform.processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "load_at_start": list(os.getloadavg()),
    }


@dataclass
class Report:
    """A table that fills as the measurements come.

    Attributes
    ----------
    name
        Name of the file in `artefacts/bench`.
    title
        Heading.
    """

    name: str
    title: str
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    raw: dict[str, Any] = field(default_factory=dict)
    machine: dict[str, Any] = field(default_factory=machine)

    def add(
        self,
        what: str,
        values: Sequence[float] | float,
        unit: str,
        *,
        below: float | None = None,
        judge: float | None = None,
        spread: tuple[float, float] | None = None,
    ) -> None:
        """Add a line.

        Parameters
        ----------
        values
            Repetitions, or one number.
        below
            The goal; judged by the median, or by `judge` where that is not what counts.
        spread
            Lowest and highest, where `values` is one number that stands for many.
        """
        many = list(values) if isinstance(values, Sequence) else [float(values)]
        median = statistics.median(many)
        low, high = spread or (min(many), max(many))
        goal = "" if below is None else f"< {below:g} {unit}"
        met = None if below is None else (median if judge is None else judge) < below
        self.rows.append(Row(what, goal, median, low, high, unit, len(many), met, os.getloadavg()[0]))

    def note(self, text: str) -> None:
        """Add a sentence below the table."""
        self.notes.append(text)

    def save(self, folder: Path) -> Path:
        """Write all as JSON."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.name}.json"
        content = {
            "name": self.name,
            "title": self.title,
            "when": datetime.now(UTC).isoformat(timespec="seconds"),
            "machine": self.machine,
            "rows": [asdict(row) for row in self.rows],
            "notes": self.notes,
            "raw": self.raw,
        }
        path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        return path

    def __str__(self) -> str:
        """Return the table."""
        heads = ("what", "goal", "median", "lowest", "highest", "n", "load", "")
        lines = [
            (
                row.what,
                row.goal,
                f"{row.median:.4g} {row.unit}",
                f"{row.low:.4g}",
                f"{row.high:.4g}",
                str(row.count),
                f"{row.load:.1f}",
                {True: "met", False: "MISSED", None: ""}[row.met],
            )
            for row in self.rows
        ]
        widths = [max(len(line[i]) for line in [heads, *lines]) for i in range(len(heads))]

        def laid(cells: Sequence[str]) -> str:
            first = [cells[0].ljust(widths[0]), cells[1].ljust(widths[1])]
            rest = [cell.rjust(width) for cell, width in zip(cells[2:-1], widths[2:-1], strict=True)]
            return "  ".join([*first, *rest, cells[-1]]).rstrip()

        where = "{cpu}, {cores} cores, {system}, Python {python}".format(**self.machine)
        load = ", ".join(f"{value:.1f}" for value in self.machine["load_at_start"])
        body = [laid(heads), "-" * (sum(widths) + 2 * len(widths)), *map(laid, lines)]
        told = [f"* {note}" for note in self.notes]
        return "\n".join([self.title, f"{where}; load at start {load}", *body, *told])


def percentile(values: Sequence[float], q: float) -> float:
    """Return the q-th percentile, nearest rank.

    Raises
    ------
    ValueError
        There are no values.
    """
    if not values:
        raise ValueError("no values")
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, math.ceil(len(ordered) * q / 100) - 1))]


def slope(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float]:
    """Return the slope of the least-squares line and its standard error, in y's unit per x's."""
    n = len(xs)
    mean_x, mean_y = statistics.fmean(xs), statistics.fmean(ys)
    spread = sum((x - mean_x) ** 2 for x in xs)
    rise = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True)) / spread
    rest = sum((y - mean_y - rise * (x - mean_x)) ** 2 for x, y in zip(xs, ys, strict=True))
    return rise, (rest / max(1, n - 2) / spread) ** 0.5
