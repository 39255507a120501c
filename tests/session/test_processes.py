"""Real kernels and real interpreters: interrupted, and left in the middle of a transfer."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager, start_new_kernel

OPEN = """
import sys, threading, gdviz
lab = gdviz.lab("pcie-a30")
ends = [node.nic(0).register(node.gpu(0).alloc("1 MiB")) for node in lab.nodes]
running = lab.transfer(*ends, duration=3600)
"""


@pytest.fixture
def kernel() -> Iterator[tuple[KernelManager, BlockingKernelClient]]:
    manager, client = start_new_kernel(kernel_name="python3")
    try:
        yield manager, client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def printed(client: BlockingKernelClient, code: str) -> str:
    """Run code and return what it printed."""
    texts: list[str] = []

    def note(message: dict) -> None:
        if message["msg_type"] == "stream":
            texts.append(message["content"]["text"])

    reply = client.execute_interactive(code, timeout=30, output_hook=note)
    assert reply["content"]["status"] == "ok", reply["content"]
    return "".join(texts).strip()


@pytest.mark.slow
def test_an_interrupted_cell_stops_its_transfer_and_the_kernel_goes_on(
    kernel: tuple[KernelManager, BlockingKernelClient],
) -> None:
    manager, client = kernel
    printed(client, OPEN)

    def interrupt(message: dict) -> None:
        if message["msg_type"] == "stream":
            manager.interrupt_kernel()

    # The print says that the cell runs, and that it is about to wait.
    cell = "print('waits', flush=True)\nawait running"
    reply = client.execute_interactive(cell, timeout=30, output_hook=interrupt)
    assert reply["content"]["status"] == "error"
    assert printed(client, "print(running.wait(5).state)") == "stopped"
    left = "lab.close(); print([t.name for t in threading.enumerate() if 'gdviz' in t.name])"
    assert printed(client, left) == "[]"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ending", "status"),
    [("", 0), ("sys.exit(3)", 3), ("lab.view.go(3); sys.exit(4)", 4), ("lab.compare(*ends); 1 / 0", 1)],
)
def test_an_interpreter_ends_in_the_middle_of_a_transfer(ending: str, status: int) -> None:
    done = subprocess.run([sys.executable, "-c", OPEN + ending], capture_output=True, timeout=30, text=True)
    assert done.returncode == status
    assert "never" not in done.stderr
    assert "Exception ignored" not in done.stderr
