"""The PCIe tree of a host, read live on a real kernel: a guest with switches, root ports and two sockets."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parent))
import guest

from gdviz.readers import open_path

pytestmark = [pytest.mark.vm(host=True), pytest.mark.timeout(400)]

#: A NIC behind a switch; a GPU beside it, one below a second switch, one on another root port, and one on the
#: other socket (QEMU's ATI card stands for a GPU: any function of that class and vendor does).
TREE = [
    *("-object", "memory-backend-ram,id=m0,size=512M", "-numa", "node,nodeid=0,memdev=m0,cpus=0"),
    *("-object", "memory-backend-ram,id=m1,size=512M", "-numa", "node,nodeid=1,memdev=m1,cpus=1"),
    *("-device", "intel-iommu"),
    *("-device", "pcie-root-port,id=rp0,bus=pcie.0,chassis=1,addr=8.0"),
    *("-device", "x3130-upstream,id=up0,bus=rp0"),
    *("-device", "xio3130-downstream,id=dn0,bus=up0,chassis=10"),
    *("-device", "xio3130-downstream,id=dn1,bus=up0,chassis=11"),
    *("-device", "xio3130-downstream,id=dn2,bus=up0,chassis=12"),
    *("-netdev", "user,id=net1,restrict=on"),
    *("-device", "virtio-net-pci,bus=dn0,netdev=net1,mac=52:54:00:12:35:01"),
    *("-device", "ati-vga,bus=dn1"),
    *("-device", "x3130-upstream,id=up1,bus=dn2", "-device", "xio3130-downstream,id=dn3,bus=up1,chassis=13"),
    *("-device", "ati-vga,bus=dn3"),
    *("-device", "pcie-root-port,id=rp1,bus=pcie.0,chassis=2,addr=9.0", "-device", "ati-vga,bus=rp1"),
    *("-device", "pxb-pcie,id=pxb1,bus_nr=128,numa_node=1,bus=pcie.0"),
    *("-device", "pcie-root-port,id=rp2,bus=pxb1,chassis=3", "-device", "ati-vga,bus=rp2"),
]

#: Run in the guest: what gdviz reads live, beside sysfs itself.
PROBE = """
import json, os
from gdviz.readers import open_machine, open_text
machine = open_machine("live:")[0]
(listing,) = open_text(open("/job/lspci.txt").read()).machines
nic = machine.nic("rxe1")
found = {
    "gpus": {gpu.busid: machine.path(gpu, nic).distance.value for gpu in machine.gpus},
    "listed": {gpu.busid: gpu.numa for gpu in listing.gpus},
    "nics": {nic.name: nic.busid for nic in machine.nics},
    "links": {gpu.busid: [gpu.link.gen, gpu.link.width] for gpu in machine.gpus},
    "bridges": sorted(bridge.id for bridge in machine.bridges),
    "real": {b: os.path.realpath(f"/sys/bus/pci/devices/{b}") for b in os.listdir("/sys/bus/pci/devices")},
}
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """What the guest says of itself, and its folder with a capture in it."""
    if reason := guest.missing():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("tree")
    (folder / "probe.py").write_text(PROBE)
    script = "\n".join(
        (
            "ip link set eth1 mtu 4200 up && rdma link add rxe1 type rxe netdev eth1 || exit 3",
            "lspci -vvv > /job/lspci.txt 2> /dev/null",
            f"{guest.python('/job/probe.py')} > /job/seen.json || exit 4",
            guest.python("-m", "gdviz.cli", "capture", "-o", "/job/capture.json") + " > /dev/null || exit 5",
        )
    )
    outcome = guest.Guest(folder, script, devices=TREE).run(300)
    assert outcome.status == 0, str(outcome)
    return json.loads((folder / "seen.json").read_text()), folder


def test_every_distance_exists_on_a_real_kernel(seen: tuple[dict[str, Any], Path]) -> None:
    assert list(seen[0]["gpus"].values()) == ["PIX", "PXB", "PHB", "SYS"]


def test_distances_are_those_of_sysfs(seen: tuple[dict[str, Any], Path]) -> None:
    found, _folder = seen
    nic = found["real"][found["nics"]["rxe1"]].split("/")
    for busid, distance in found["gpus"].items():
        gpu = found["real"][busid].split("/")
        shared = [one for one, other in zip(gpu, nic, strict=False) if one == other]
        # ['', 'sys', 'devices', 'pci0000:00', root port, upstream port, downstream port, ...]
        crossed = len(gpu) + len(nic) - 2 * len(shared)
        expected = (
            "SYS" if len(shared) == 3 else "PHB" if len(shared) == 4 else "PIX" if crossed == 4 else "PXB"
        )
        assert distance == expected, busid


def test_lspci_lists_the_same_gpus_and_bridges(seen: tuple[dict[str, Any], Path]) -> None:
    found, folder = seen
    assert set(found["listed"]) == set(found["gpus"])
    (listing,) = open_path(folder / "lspci.txt").machines
    assert {bridge.id for bridge in listing.bridges} == set(found["bridges"])


def test_a_capture_opens_elsewhere_as_the_same_machine(seen: tuple[dict[str, Any], Path]) -> None:
    found, folder = seen
    (machine,) = open_path(folder / "capture.json").machines
    nic = machine.nic("rxe1")
    assert {gpu.busid: machine.path(gpu, nic).distance.value for gpu in machine.gpus} == found["gpus"]
    assert {nic.name: nic.busid for nic in machine.nics} == found["nics"]
