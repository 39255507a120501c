"""What is said of a host's GPUs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gdviz.nodes.discovery import Obstacle, Probe, judge
from gdviz.nodes.discovery.probe import Port
from gdviz.rdma.hardware.backends.choose import Tried

PEERMEM = "sudo modprobe nvidia-peermem"
WHEEL, PYVERBS = Tried("ibverbs", "2026.10.22", ""), Tried("pyverbs", "44.0", "")

WITH_GPU = Probe(
    family="debian",
    rdma_devices=("mlx5_0",),
    ports=(Port("mlx5_0", 1, "ACTIVE"),),
    verbs_files=("uverbs0",),
    libibverbs="34",
    bindings=(PYVERBS, WHEEL),
    kernel="6.1.0-37-amd64",
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
        ({"has_peermem": False, "open_driver": False}, "the closed ones", PEERMEM, False),
        (
            {"has_peermem": False, "kernel": "5.4.0-216-generic"},
            "Linux 5.12 (this is 5.4.0-216",
            PEERMEM,
            False,
        ),
        ({"has_peermem": False, "registers_dmabuf": False}, "rdma-core 34", PEERMEM, False),
        (
            {"has_peermem": False, "bindings": (PYVERBS,)},
            "pyverbs does not",
            "pip install 'gdviz[rdma]'",
            False,
        ),
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


def test_peermem_stands_in_for_whatever_a_dmabuf_lacks() -> None:
    assert told(kernel="5.4.0-216-generic", open_driver=False, registers_dmabuf=False) == ()


def test_nodes_with_gpus_take_the_wheel() -> None:
    assert judge(WITH_GPU).provider == "verbs (ibverbs 2026.10.22)"
    assert judge(replace(WITH_GPU, gpus=(), pci_gpus=())).provider == "verbs (pyverbs 44.0)"
