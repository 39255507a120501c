"""The test bed itself: soft-RoCE is there, and both Python bindings see it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.vm


def test_this_is_a_guest() -> None:
    assert "GDVIZ_IN_GUEST" in os.environ
    assert [path.name for path in Path("/sys/class/infiniband").iterdir()] == ["rxe0"]


def test_the_host_is_out_of_reach() -> None:
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    kind, options = next((fields[2], fields[3]) for fields in mounts if fields[1] == "/")
    assert kind == "overlay"
    assert "lowerdir=/lower" in options


def test_pyverbs() -> None:
    device = pytest.importorskip("pyverbs.device", reason="no python3-pyverbs for this Python")
    assert [found.name.decode() for found in device.get_device_list()] == ["rxe0"]
    with device.Context(name="rxe0") as context:
        assert context.query_port(1).active_mtu == 5  # IBV_MTU_4096


def test_ibverbs_wheel() -> None:
    ibverbs = pytest.importorskip("ibverbs", reason="no ibverbs wheel")
    assert [found.name for found in ibverbs.get_device_list()] == ["rxe0"]


def test_perftest_runs() -> None:
    answer = subprocess.run(
        "server='ib_write_bw -d rxe0 -x 1 -n 200 -s 4096'; $server > /dev/null & "
        "until ss -ltn | grep -q :18515; do sleep 0.2; done; $server 10.77.0.1",
        shell=True,
        capture_output=True,
        text=True,
        timeout=50,
    )
    rows = [line.split() for line in answer.stdout.splitlines() if line.split()[:1] == ["4096"]]
    assert rows, answer.stdout + answer.stderr
    assert float(rows[0][3]) > 0
