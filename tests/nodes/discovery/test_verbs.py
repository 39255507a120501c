"""What is said of a host without, with half, and with all of what real verbs need."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gdviz.nodes.discovery import Obstacle, Probe, judge
from gdviz.nodes.discovery.probe import Port
from gdviz.rdma.hardware.backends.choose import Tried

PYVERBS, WHEEL = Tried("pyverbs", "44.0", ""), Tried("ibverbs", "2026.10.22", "")
NO_PYVERBS = Tried("pyverbs", "", "No module named 'pyverbs'")
NO_WHEEL = Tried("ibverbs", "", "No module named 'ibverbs'")

#: A host that has all; each case takes something away.
GOOD = Probe(
    host="node-1",
    family="debian",
    rdma_devices=("mlx5_0",),
    ports=(Port("mlx5_0", 1, "ACTIVE"),),
    cards=("0000:17:00.0",),
    verbs_files=("uverbs0",),
    libibverbs="34",
    bindings=(PYVERBS, NO_WHEEL),
    netdevs=("eth0",),
)

NO_NIC: dict[str, Any] = {"rdma_devices": (), "ports": (), "cards": (), "verbs_files": ()}


def told(**changes: Any) -> list[Obstacle]:
    return [each for each in judge(replace(GOOD, **changes)).obstacles if each.what != "GPU"]


def only(**changes: Any) -> Obstacle:
    (found,) = told(**changes)
    return found


def test_a_host_that_has_all_uses_real_verbs() -> None:
    found = judge(GOOD)
    assert (found.provider, found.devices, found.simulated) == ("verbs (pyverbs 44.0)", ("mlx5_0",), False)
    assert told() == []
    assert "host memory, which stands for a GPU's" in str(found)


def test_the_wheel_where_there_is_no_pyverbs() -> None:
    assert judge(replace(GOOD, bindings=(NO_PYVERBS, WHEEL))).provider == "verbs (ibverbs 2026.10.22)"
    assert told(bindings=(NO_PYVERBS, WHEEL)) == []


@pytest.mark.parametrize(
    ("changes", "why", "command"),
    [
        ({"verbs_files": ()}, "ib_uverbs is not loaded", "sudo modprobe ib_uverbs"),
        ({"verbs_files": (), "is_root": True}, "ib_uverbs is not loaded", "modprobe ib_uverbs"),
        ({"verbs_files": (), "in_container": True}, "This container", "--device /dev/infiniband"),
        ({"verbs_allowed": False}, "may not open /dev/infiniband/uverbs0", "chmod a+rw"),
        ({"ports": (Port("mlx5_0", 1, "DOWN"),)}, "Port 1 of mlx5_0 is DOWN", "rdma link show mlx5_0/1"),
        ({"rdma_devices": (), "ports": ()}, "The NIC at 0000:17:00.0", "sudo modprobe mlx5_ib"),
        ({"bindings": (NO_PYVERBS, NO_WHEEL)}, "No Python binding", "pip install 'gdviz[rdma]'"),
        ({"system": "darwin"}, "RDMA needs Linux, and this is darwin", ""),
    ],
)
def test_what_blocks_is_said_with_one_command(changes: dict[str, Any], why: str, command: str) -> None:
    found = only(**changes)
    assert why in found.why
    assert command in found.command
    assert found.blocks
    host = judge(replace(GOOD, **changes))
    assert (host.provider, host.devices, host.simulated) == ("simulated", (), True)


def test_one_port_of_two_that_is_down_blocks_nothing() -> None:
    found = only(ports=(Port("mlx5_0", 1, "ACTIVE"), Port("mlx5_1", 1, "DOWN")))
    assert not found.blocks
    assert "mlx5_1" in found.why


def test_little_memory_that_may_be_locked() -> None:
    found = only(memlock_bytes=8 * 2**20)
    assert "8 MiB" in found.why
    assert "ENOMEM (12)" in found.why
    assert "memlock unlimited" in found.command
    assert not found.blocks
    assert "--ulimit memlock=-1" in only(memlock_bytes=65536, in_container=True).command


@pytest.mark.parametrize(
    ("family", "command"),
    [("debian", "sudo apt install rdma-core"), ("rhel", "sudo dnf install rdma-core"), ("", "conda install")],
)
def test_no_libibverbs_is_said_by_distribution(family: str, command: str) -> None:
    broken = Tried("ibverbs", "2026.10.22", "libibverbs.so.1: cannot open shared object file")
    library, *rest = told(family=family, libibverbs="", bindings=(NO_PYVERBS, broken))
    assert library.why == "libibverbs is not installed."
    assert library.command.removeprefix("sudo ").startswith(command.removeprefix("sudo "))
    assert any("ibverbs 2026.10.22 cannot be imported: libibverbs.so.1" in each.why for each in rest)


def test_a_pyverbs_of_another_rdma_core_is_named_with_both_numbers() -> None:
    error = "/lib/libibverbs.so.1: version `IBVERBS_PRIVATE_59' not found (required by device.so)"
    stray = Tried("pyverbs", "59.0", error)
    found = only(bindings=(stray, WHEEL))
    assert "pyverbs 59.0 was built for rdma-core 59 (IBVERBS_PRIVATE_59)" in found.why
    assert "libibverbs here is" in found.why
    assert found.command == "pip uninstall pyverbs"
    assert not found.blocks
    assert judge(replace(GOOD, bindings=(stray, WHEEL))).provider == "verbs (ibverbs 2026.10.22)"


def test_soft_roce_is_offered_where_there_is_no_nic() -> None:
    verbs, soft = told(**NO_NIC)
    assert verbs.blocks
    assert "no RDMA device" in verbs.why
    assert not soft.blocks
    assert soft.command == "sudo modprobe rdma_rxe && sudo rdma link add rxe0 type rxe netdev eth0"
    _verbs, soft = told(**NO_NIC, is_root=True, netdevs=("enp3s0", "wlp2s0"))
    assert soft.command == "modprobe rdma_rxe && rdma link add rxe0 type rxe netdev enp3s0"


def test_soft_roce_where_it_cannot_be() -> None:
    soft = told(**NO_NIC, has_rxe=False, kernel="6.1.0-37-cloud-amd64")[1]
    assert "(6.1.0-37-cloud-amd64) has no soft-RoCE (module rdma_rxe)" in soft.why
    assert soft.command == "sudo apt install linux-image-amd64"
    assert "made by the host" in told(**NO_NIC, in_container=True)[1].why
    assert "no network interface" in told(**NO_NIC, netdevs=())[1].why


def test_soft_roce_without_the_rights_for_it() -> None:
    soft = told(**NO_NIC, is_root=True, may_change_kernel=False)[1]
    assert "CAP_SYS_MODULE" in soft.why
    assert soft.command.startswith("modprobe rdma_rxe && rdma link add")
    # No command changes the kernel of the host that a container runs on.
    soft = told(**NO_NIC, in_container=True, has_rxe=False, kernel="6.18.44")[1]
    assert "(6.18.44) has no soft-RoCE" in soft.why
    assert soft.command == ""


def test_a_pyverbs_that_only_the_systems_python_sees() -> None:
    found = only(
        bindings=(NO_PYVERBS, NO_WHEEL),
        unseen_pyverbs="/usr/lib/python3/dist-packages/pyverbs",
        own_packages="/srv/venv/lib/python3.11/site-packages",
    )
    assert "where this Python does not look" in found.why
    assert found.command == (
        "ln -s /usr/lib/python3/dist-packages/pyverbs /srv/venv/lib/python3.11/site-packages/"
    )
    # The wheel does as well.
    assert told(bindings=(NO_PYVERBS, WHEEL), unseen_pyverbs="/usr/lib/python3/dist-packages/pyverbs") == []


def test_blocking_ones_come_first() -> None:
    found = told(memlock_bytes=65536, verbs_allowed=False, bindings=(NO_PYVERBS, NO_WHEEL))
    assert [each.blocks for each in found] == [True, True, False]
