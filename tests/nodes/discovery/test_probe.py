"""A host is looked at by its files alone."""

from __future__ import annotations

import gzip
import importlib.util
import os
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import ModuleType

import pytest

from gdviz.nodes.discovery import look
from gdviz.nodes.discovery.probe import Port


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_what_a_folder_of_files_says(tmp_path: Path) -> None:
    release = os.uname().release
    write(
        tmp_path,
        {
            "etc/os-release": 'ID=ubuntu\nID_LIKE="debian"\n',
            "sys/class/infiniband/mlx5_0/ports/1/state": "4: ACTIVE\n",
            "sys/class/infiniband/mlx5_0/ports/2/state": "1: DOWN\n",
            "dev/infiniband/uverbs0": "",
            "dev/infiniband/rdma_cm": "",
            "sys/bus/pci/devices/0000:17:00.0/vendor": "0x15b3\n",
            "sys/bus/pci/devices/0000:17:00.0/class": "0x020700\n",
            "sys/bus/pci/devices/0000:16:00.0/vendor": "0x15b3\n",
            "sys/bus/pci/devices/0000:16:00.0/class": "0x060400\n",
            "sys/bus/pci/devices/0000:18:00.0/vendor": "0x10de\n",
            "sys/bus/pci/devices/0000:18:00.0/class": "0x030200\n",
            "sys/class/net/lo/carrier": "1\n",
            "sys/class/net/eth0/carrier": "0\n",
            "sys/class/net/wlp2s0/carrier": "1\n",
            "sys/class/net/eth1/carrier": "1\n",
            "proc/driver/nvidia/gpus/0000:18:00.0/information": "",
            "proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65\n",
            "proc/self/status": "Name:\tx\nCapEff:\t0000000000004000\n",
            f"lib/modules/{release}/modules.dep": "kernel/drivers/infiniband/sw/rxe/rdma_rxe.ko.xz: a.ko\n",
            "sys/module/nvidia_peermem/version": "580",
        },
    )
    probe = look(tmp_path)
    assert probe.family == "debian"
    assert probe.rdma_devices == ("mlx5_0",)
    assert probe.ports == (Port("mlx5_0", 1, "ACTIVE"), Port("mlx5_0", 2, "DOWN"))
    assert (probe.cards, probe.pci_gpus, probe.gpus) == (
        ("0000:17:00.0",),
        ("0000:18:00.0",),
        ("0000:18:00.0",),
    )
    assert (probe.verbs_files, probe.verbs_allowed) == (("uverbs0",), True)
    assert probe.netdevs == ("eth1", "wlp2s0", "eth0")
    assert (probe.has_rxe, probe.open_driver, probe.has_peermem) == (True, True, True)
    assert probe.memlock_bytes is None
    assert [each.name for each in probe.bindings] == ["pyverbs", "ibverbs"]


def test_an_empty_folder_says_nothing(tmp_path: Path) -> None:
    probe = look(tmp_path)
    assert (probe.family, probe.rdma_devices, probe.verbs_files, probe.netdevs) == ("", (), (), ())
    assert (probe.has_rxe, probe.open_driver, probe.in_container) == (None, None, False)


def test_the_limit_holds_without_the_capability(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import resource

    write(tmp_path, {"proc/self/status": "CapEff:\t0000000000000000\n"})
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (65536, 65536))
    assert look(tmp_path).memlock_bytes == 65536


def test_a_kernel_that_has_no_soft_roce(tmp_path: Path) -> None:
    write(tmp_path, {f"lib/modules/{os.uname().release}/modules.dep": "kernel/drivers/net/dummy.ko:\n"})
    assert look(tmp_path).has_rxe is False


@pytest.mark.parametrize(
    ("config", "has"),
    [("CONFIG_RDMA_RXE=m\n", True), ("CONFIG_RDMA_RXE=y\n", True), ("# CONFIG_MODULES is not set\n", False)],
)
def test_a_kernel_without_modules_is_known_by_its_configuration(
    tmp_path: Path, config: str, has: bool
) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/config.gz").write_bytes(gzip.compress(config.encode()))
    assert look(tmp_path).has_rxe is has
    (tmp_path / "proc/config.gz").write_bytes(b"no gzip")
    assert look(tmp_path).has_rxe is None


@pytest.mark.parametrize(("held", "may"), [("0000000000011000", True), ("00000000a80425fb", False)])
def test_what_root_may_do_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: str, may: bool) -> None:
    write(tmp_path, {"proc/self/status": f"CapEff:\t{held}\n"})
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert look(tmp_path).may_change_kernel is may
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert look(tmp_path).may_change_kernel is True


def test_nodes_is_a_function_and_a_room() -> None:
    import gdviz.nodes
    import gdviz.nodes.discovery

    assert isinstance(gdviz.nodes, ModuleType)
    found = gdviz.nodes()
    assert repr(found) == str(found)
    assert found.host == os.uname().nodename


def test_the_systems_pyverbs_is_seen_if_it_fits_this_python(tmp_path: Path) -> None:
    folder = tmp_path / "usr/lib/python3/dist-packages/pyverbs"
    write(tmp_path, {f"usr/lib/python3/dist-packages/pyverbs/device{EXTENSION_SUFFIXES[0]}": ""})
    seen = importlib.util.find_spec("pyverbs") is not None
    assert look(tmp_path).unseen_pyverbs == ("" if seen else f"/{folder.relative_to(tmp_path)}")
    (folder / f"device{EXTENSION_SUFFIXES[0]}").rename(folder / "device.cpython-27-x86_64-linux-gnu.so")
    assert look(tmp_path).unseen_pyverbs == ""
