"""gdviz's data path beside perftest, on soft-RoCE in a virtual machine (only ratios mean anything there)."""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path

import pytest
from report import Report

sys.path.append(str(Path(__file__).parents[1] / "vm"))
import guest

#: gdviz's bandwidth over ib_write_bw's, by message size; latency over ib_write_lat's.
GOALS = {8: 0.8, 4096: 0.95, 65536: 0.95, 2**20: 0.95}
LATENCY_GOAL = 1.3

LIMIT_S = 1000


@pytest.mark.timeout(LIMIT_S + 100)
@pytest.mark.parametrize("binding", ["pyverbs", "ibverbs"])
def test_beside_perftest(report: Report, repeats: int, binding: str, tmp_path: Path) -> None:
    if reason := guest.missing():
        pytest.skip(reason)
    script = "ip address add 10.77.0.101/24 dev eth0\n" + guest.python(
        "tests/vm/measure.py", str(max(5, repeats)), binding
    )
    outcome = guest.Guest(tmp_path, script, memory_mib=1536).run(LIMIT_S)
    assert outcome.status == 0, str(outcome)
    found = json.loads(outcome.output.splitlines()[-1])
    assert found["binding"] == binding
    report.raw = found
    for size, rows in found["write_bw"].items():
        ratios = [ours / theirs for ours, theirs in rows]
        # A goal that is a least value is judged by its inverse: the report knows upper bounds.
        report.add(
            f"ib_write_bw over gdviz, {size} B ({binding})",
            [1 / ratio for ratio in ratios],
            "x",
            below=1 / GOALS[int(size)],
        )
        ours, theirs = (statistics.median(column) / 1e6 for column in zip(*rows, strict=True))
        report.note(f"{size} B: gdviz {ours:.3g} MB/s, ib_write_bw {theirs:.3g} MB/s (medians)")
    ratios = [ours / theirs for ours, theirs in found["write_lat"]]
    report.add(f"gdviz over ib_write_lat, 8 B, medians ({binding})", ratios, "x", below=LATENCY_GOAL)
    for size, rows in found["paths"].items():
        faster = [row["direct"][0] / row["staged"][0] for row in rows]
        dearer = [row["staged"][1] / row["direct"][1] for row in rows]
        report.add(f"direct over staged, bandwidth, {size} B", faster, "x")
        report.add(f"staged over direct, CPU time a byte (polling included), {size} B", dearer, "x")
