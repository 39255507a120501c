"""Two real nodes in one guest: soft-RoCE's device with two addresses, a worker process for each node."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gdviz.errors import MissingDependencyError
from gdviz.machine import Cpu, Gpu, LinkLayer, Machine, Nic, Parts
from gdviz.rdma import WcStatus
from gdviz.rdma.hardware import HardwareProvider

#: Everything takes longer where the processor is emulated.
SLOWER = 20

#: Retries that a slow machine does not use up by being slow.
PATIENCE = {"timeout": 14, "retry_count": 2, "rnr_retry": 2, "min_rnr_timer": 1}

#: Where soft-RoCE differs from the InfiniBand specification, in Linux 6.1: a local address or lkey that is
#: wrong is LOC_QP_OP_ERR (rxe_requester: LOC_PROT_ERR is for -EFAULT alone, and the look-up fails with
#: -EINVAL), and so is a receive that is too short, which the sender is told as REM_OP_ERR (rxe_resp).
QUIRKS = {
    "wrong lkey": WcStatus.LOC_QP_OP_ERR,
    "local region of another domain": WcStatus.LOC_QP_OP_ERR,
    "local region gone": WcStatus.LOC_QP_OP_ERR,
    "receive too short": WcStatus.REM_OP_ERR,
    "receive too short, receiver": WcStatus.LOC_QP_OP_ERR,
}

#: The GID table's entries of the two addresses (0 is the link-local one).
GID_INDEX = {"a": 1, "b": 2}


def machine(name: str) -> Machine:
    """Describe the guest; its GPU is made up, and host memory stands in for it."""
    cpu = Cpu("cpu0", 0)
    nic = Nic(
        "rxe0",
        0,
        "cpu0",
        None,
        "rxe0",
        "soft-RoCE",
        0,
        link_layer=LinkLayer.ETHERNET,
        speed_bytes_per_s=1.25e9,
    )
    gpu = Gpu("gpu0", 0, "cpu0", "0000:01:00.0")
    return Machine(name, Parts(cpus=(cpu,), nics=(nic,), gpus=(gpu,)))


def provider(name: str, **options: object) -> HardwareProvider:
    """Open a node; skip where there is no such binding, for one of the two is enough."""
    # The kernel enters a new address some time after it was given.
    gid = Path(f"/sys/class/infiniband/rxe0/ports/1/gids/{GID_INDEX[name]}")
    end = time.monotonic() + 20
    while not gid.read_text().strip("0:\n") and time.monotonic() < end:
        time.sleep(0.05)
    try:
        return HardwareProvider(machine(name), gid_index=GID_INDEX[name], **options)  # type: ignore[arg-type]
    except MissingDependencyError as error:
        pytest.skip(error.message)


def step(seconds: float) -> None:
    time.sleep(seconds * SLOWER)


def pair(**options: object) -> Iterator[tuple[HardwareProvider, HardwareProvider]]:
    if not _device_is_here():
        pytest.skip("no RDMA device rxe0")
    with provider("a", **options) as a, provider("b", **options) as b:
        yield a, b


def _device_is_here() -> bool:
    return Path("/sys/class/infiniband/rxe0").exists()
