"""Readers: a long NCCL log, a whole lspci listing"""

from __future__ import annotations

import time
from pathlib import Path

from report import Report

from gdviz.readers import open_path

LINES = 200_000


def log_lines(count: int) -> list[str]:
    """Return a log of 128 ranks on 16 hosts, as NCCL_DEBUG=INFO prints it."""
    lines = ["NCCL version 2.21.5+cuda12.4"]
    for n in range(count - 1):
        head = f"node-{n % 16}:{1000 + n % 8}:{2000 + n % 8} [{n % 8}] NCCL INFO "
        ends = f"{n % 16:02d}/0 : {n % 128}[{n % 8}] -> {(n + 1) % 128}[{n % 8}]"
        if n % 10 == 0:
            lines.append(f"{head}Channel {ends} [send] via NET/IB/{n % 8}/GDRDMA")
        elif n % 10 == 1:
            lines.append(f"{head}NET/IB : GPU Direct RDMA Enabled for HCA {n % 8} 'mlx5_{n % 8}'")
        else:
            lines.append(f"{head}Channel {ends} via P2P/CUMEM/read")
    return lines


def timed(path: Path, repeats: int) -> list[float]:
    spent = []
    for _ in range(repeats):
        start = time.perf_counter()
        open_path(path)
        spent.append(time.perf_counter() - start)
    return spent


def test_long_log(report: Report, repeats: int, tmp_path: Path) -> None:
    path = tmp_path / "nccl.log"
    path.write_text("\n".join(log_lines(LINES)))
    spent = timed(path, repeats)
    report.add(f"NCCL log of {LINES:,} lines", spent, "s", below=2.0)
    report.add("lines a second", [LINES / each for each in spent], "/s")


def test_whole_lspci(report: Report, repeats: int, shared: Path) -> None:
    path = shared / "corpus" / "lspci" / "gpud-8xH100-8xCX7-lspci-vvv.txt"
    report.add(f"lspci -vvv, {path.stat().st_size / 1000:.0f} kB", timed(path, repeats), "s", below=0.3)
