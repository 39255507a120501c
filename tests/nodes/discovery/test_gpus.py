"""What is said of a host's GPUs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gdviz.nodes.discovery import Obstacle, Probe, judge
from gdviz.nodes.discovery.probe import Port
from gdviz.rdma.hardware.backends.choose import Tried

WITH_GPU = Probe(
    family="debian",
    rdma_devices=("mlx5_0",),
    ports=(Port("mlx5_0", 1, "ACTIVE"),),
    verbs_files=("uverbs0",),
    libibverbs="34",
    bindings=(Tried("ibverbs", "2026.10.22", ""),),
    pci_gpus=("0000:18:00.0",),
    gpus=("0000:18:00.0",),
    has_cuda=True,
    cupy="14.2.0",
    nvml="13.615.71",
    has_peermem=True,
    open_driver=True,
)


def told(**changes: Any) -> tuple[Obstacle, ...]:
    return judge(replace(WITH_GPU, **changes)).obstacles


def test_a_host_that_has_all_uses_its_gpus() -> None:
    found = judge(WITH_GPU)
    assert (found.gpu_memory, found.obstacles) == (True, ())
    assert "buffers in GPU memory" in str(found)


@pytest.mark.parametrize(
    ("changes", "why", "command", "blocks"),
    [
        ({"gpus": ()}, "0000:18:00.0 has no driver", "sudo apt install nvidia-driver", True),
        ({"has_cuda": False}, "libcuda.so.1", "sudo apt install nvidia-driver", True),
        ({"cupy": ""}, "CuPy is not installed", "pip install 'gdviz[gpu]'", True),
        ({"nvml": ""}, "nvidia-ml-py", "pip install 'gdviz[gpu]'", False),
        ({"has_peermem": False, "open_driver": False}, "no dma-buf", "sudo modprobe nvidia-peermem", False),
        ({"gpus": (), "pci_gpus": ()}, "host memory stands for one", "", False),
    ],
)
def test_what_is_missing(changes: dict[str, Any], why: str, command: str, blocks: bool) -> None:
    (found,) = told(**changes)
    assert why in found.why
    assert (found.command, found.blocks) == (command, blocks)
    # Without a GPU's memory the verbs work all the same, on host memory.
    host = judge(replace(WITH_GPU, **changes))
    assert not host.simulated
    assert host.gpu_memory is (not blocks and bool(host.obstacles) and "host memory" not in found.why)


def test_the_open_modules_need_no_peermem() -> None:
    assert told(has_peermem=False) == ()
