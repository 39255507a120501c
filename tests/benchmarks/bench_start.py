"""Starting gdviz and opening files, without a browser"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from report import Report

ROOT = Path(__file__).parents[2]

#: Prints the seconds that the code after it takes; `time` is there before, so it costs nothing.
_TIMED = """
import time
start = time.perf_counter()
{code}
print(time.perf_counter() - start)
"""


def fresh(code: str, before: str = "") -> float:
    """Return the seconds that code takes in a fresh process."""
    command = [sys.executable, "-c", before + _TIMED.format(code=code)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=True)
    return float(done.stdout.split()[-1])


def test_import(report: Report, repeats: int) -> None:
    fresh("import gdviz")  # the files are in the page cache from here on
    report.add("import gdviz", [fresh("import gdviz") for _ in range(repeats)], "s", below=0.5)
    everything = "import gdviz\n[getattr(gdviz, name) for name in gdviz.__all__]"
    report.add("import gdviz and touch all it exports", [fresh(everything) for _ in range(repeats)], "s")
    report.add("import numpy, to compare", [fresh("import numpy") for _ in range(repeats)], "s")
    first = [fresh("lab = gdviz.lab()", "import gdviz\n") for _ in range(repeats)]
    report.add("first gdviz.lab(), two nodes, no view", first, "s")
    view = [fresh("gdviz.MachinePanel(lab)", "import gdviz\nlab = gdviz.lab()\n") for _ in range(repeats)]
    report.add("first MachinePanel, in Python only", view, "s")


def test_whole_processes(report: Report, repeats: int) -> None:
    def run(*command: str) -> float:
        start = time.perf_counter()
        subprocess.run(command, cwd=ROOT, capture_output=True, timeout=120, check=True)
        return time.perf_counter() - start

    report.add("python -c pass", [run(sys.executable, "-c", "pass") for _ in range(repeats)], "s")
    imported = [run(sys.executable, "-c", "import gdviz") for _ in range(repeats)]
    report.add("python -c 'import gdviz'", imported, "s")


def test_every_topology_file(report: Report, repeats: int, shared: Path) -> None:
    from gdviz.readers import open_machine

    paths = sorted((shared / "corpus" / "nccl_topo_xml").rglob("*.xml"))
    medians = {}
    for path in paths:
        spent = []
        for _ in range(repeats):
            start = time.perf_counter()
            open_machine(path)
            spent.append((time.perf_counter() - start) * 1000)
        medians[path.name] = sorted(spent)[len(spent) // 2]
    slowest = max(medians, key=medians.__getitem__)
    times = list(medians.values())
    report.add(f"open each of {len(paths)} NCCL XML files", times, "ms", below=50, judge=max(times))
    report.add(f"  the slowest, {slowest}", medians[slowest], "ms", below=50)
    report.raw["topology_files_ms"] = medians
