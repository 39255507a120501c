"""Two real nodes with Dask between them: a guest each, soft-RoCE over the network that joins them."""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parent))
import guest

pytestmark = [pytest.mark.vm(host=True), pytest.mark.timeout(700)]

pytest.importorskip("distributed", reason="Dask is not installed: pip install 'gdviz[dask]'")

ADDRESS = "tcp://10.77.0.1:8786"

#: Run in the first guest, beside scheduler and worker.
LAB = f"""
import json, os, signal, time
from gdviz.errors import GdvizError
from gdviz.model import DataPath
from gdviz.session import Session

found = {{}}
for attempt in range(60):
    try:
        session = Session.dask("{ADDRESS}", timeout_s=60)
    except GdvizError as error:
        found["waited"] = str(error)
        time.sleep(2)
        continue
    if len(session.nodes) == 2:
        break
    session.close()
    time.sleep(2)
a, b = session.nodes
found["nodes"] = [node.name for node in session.nodes]
found["simulated"] = session.simulated_nodes
source = a.host(0).alloc("256 KiB", fill="counter")
target = b.host(0).alloc("256 KiB")
near, far = a.nic(0).register(source), b.nic(0).register(target)
for path in DataPath:
    transfer = session.transfer(near, far, path=path, size="16 KiB", depth=8, count=64)
    result = transfer.wait(120)
    found[path.value] = [result.status.name, result.messages, transfer.verify(), result.simulated]
transfer = session.transfer(near, far, path="direct", size="16 KiB", depth=8, duration="300 s")
time.sleep(3)
found["before"] = transfer.progress
open("/job/kill-now", "w").close()
start = time.monotonic()
try:
    found["ended"] = transfer.wait(120).status.name
except GdvizError as error:
    found["ended"] = str(error)
found["seconds"] = time.monotonic() - start
found["state"] = transfer.state.value
again = a.host(0).alloc("64 KiB", fill="text")
found["goes on"] = len(again.read(0, 16))
found["left"] = [buffer.record.node for buffer in session.buffers]
session.close()
print(json.dumps(found))
"""

WORKER = guest.python(
    *("-m", "distributed.cli.dask_worker", ADDRESS, "--nthreads", "1", "--no-nanny", "--no-dashboard"),
    *("--death-timeout", "300", "--memory-limit", "0"),
)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the lab in the first guest saw."""
    if reason := guest.missing():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("nodes")
    first, second = folder / "1", folder / "2"
    first.mkdir()
    (first / "lab.py").write_text(LAB)
    scheduler = guest.python("-m", "distributed.cli.dask_scheduler", "--port", "8786", "--no-dashboard")
    one = "\n".join(
        (
            f"({scheduler}) > /job/scheduler.txt 2>&1 &",
            "sleep 5",
            f"({WORKER}) > /job/worker.txt 2>&1 &",
            f"({guest.python('/job/lab.py')}) > /job/seen.json 2> /job/lab.txt",
        )
    )
    # The worker of the second node is killed when the lab says so, by way of its own node.
    two = "\n".join(
        (
            f"({WORKER}) > /job/worker.txt 2>&1 &",
            "while [ ! -e /job/kill-now ]; do sleep 0.5; done; pkill -9 -f dask_worker; sleep 1",
        )
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with guest.two_nodes((first, second), (one, two), port, cpus=1) as (left, right):
        watched = _pass_on(first / "kill-now", second / "kill-now")
        outcome = left.wait(500)
        watched.set()
        said = right.wait(30)
    text = (first / "seen.json").read_text() if (first / "seen.json").exists() else ""
    logs = "\n".join(path.read_text()[-1500:] for path in sorted(folder.glob("*/*.txt")))
    assert text.strip(), f"{outcome}\n{said}\n{logs}"
    return dict(json.loads(text.strip().splitlines()[-1]))


def _pass_on(source: Path, target: Path) -> Any:
    """Make a file appear in the second guest's folder when it does in the first's."""
    import threading

    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.3):
            if source.exists() and target.parent.exists():
                target.touch()
                return

    threading.Thread(target=watch, daemon=True).start()
    return done


def test_both_paths_between_real_nodes(seen: dict[str, Any]) -> None:
    assert seen["nodes"] == ["node-1", "node-2"]
    assert seen["simulated"] is False
    for path in ("direct", "staged"):
        assert seen[path] == ["SUCCESS", 64, True, False]


def test_the_death_of_a_worker_ends_its_transfer_and_the_lab_goes_on(seen: dict[str, Any]) -> None:
    # Whichever tells first: the scheduler that the worker is gone, or the NIC that nobody acknowledges.
    assert seen["ended"] == "RETRY_EXC_ERR" or "its Dask worker has ended" in seen["ended"]
    assert (seen["state"], seen["left"]) == ("failed", ["node-1", "node-1"])
    assert seen["seconds"] < 60
    assert seen["goes on"] == 16
