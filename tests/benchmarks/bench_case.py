"""A thousand nodes' captures opened as one case"""

from __future__ import annotations

import base64
import json
import os
import resource
import sys
import time
import zlib
from pathlib import Path

import pytest
from report import Report

sys.path.insert(0, str(Path(__file__).parents[1] / "readers" / "sysfs"))

from sysfs_samples import config_space

from gdviz.readers import open_case

NODES = int(os.environ.get("GDVIZ_BENCH_NODES", "1000"))
MIB = 2.0**20

_LINK = {"current_link_speed": "32.0 GT/s PCIe", "current_link_width": "16"}
_LINK |= {"max_link_speed": "32.0 GT/s PCIe", "max_link_width": "16", "numa_node": "0"}


def big_capture(host: str) -> str:
    """Eight switches, each with a GPU and a NIC, and a hundred other functions."""
    files: dict[str, object] = {}
    links: dict[str, str] = {}

    def function(path: str, code: str, vendor: str, device: str, kind: int | None = None) -> str:
        files.update({f"{path}/{name}": text for name, text in _LINK.items()})
        files.update({f"{path}/class": code, f"{path}/vendor": vendor, f"{path}/device": device})
        if kind is not None:
            packed = zlib.compress(config_space(acs=0, kind=kind), 9)
            files[f"{path}/config"] = {"z": base64.b64encode(packed).decode()}
        links[f"{path}/iommu_group"] = f"../../../kernel/iommu_groups/{len(links)}"
        return path

    for rail in range(8):
        bus = 0x10 + rail * 0x10
        root = function(
            f"sys/devices/pci0000:{bus:02x}/0000:{bus:02x}:01.0", "0x060400", "0x8086", "0x352a", 4
        )
        switch = function(f"{root}/0000:{bus + 1:02x}:00.0", "0x060400", "0x1000", "0xc030", 5)
        ports = [
            function(f"{switch}/0000:{bus + 2:02x}:{slot:02x}.0", "0x060400", "0x1000", "0xc030", 6)
            for slot in range(4)
        ]
        function(f"{ports[0]}/0000:{bus + 3:02x}:00.0", "0x030200", "0x10de", "0x2330", 0)
        nic = function(f"{ports[1]}/0000:{bus + 4:02x}:00.0", "0x020700", "0x15b3", "0x1021", 0)
        device = f"{nic}/infiniband/mlx5_{rail}"
        for name, text in (
            ("state", "4: ACTIVE"),
            ("rate", "400 Gb/sec (4X NDR)"),
            ("link_layer", "InfiniBand"),
        ):
            files[f"{device}/ports/1/{name}"] = text
        for name in ("out_of_sequence", "packet_seq_err", "local_ack_timeout_err", "symbol_error"):
            files[f"{device}/ports/1/hw_counters/{name}"] = "0"
        for index in range(4):
            files[f"{device}/ports/1/gids/{index}"] = f"fe80:0000:0000:0000:0000:0000:0000:{index + 1:04x}"
    for number in range(100):
        path = f"sys/devices/pci0000:fe/0000:fe:{number // 8:02x}.{number % 8}"
        files.update({f"{path}/class": "0x088000", f"{path}/vendor": "0x8086", f"{path}/device": "0x3258"})
    files["proc/modules"] = "".join(f"module_{number} 16384 0 - Live 0x0\n" for number in range(150))
    files["proc/cmdline"] = "root=hidden iommu=pt"
    files["proc/version"] = "Linux version 6.8.0-9-generic (b@b) (gcc) #1"
    log = "".join(
        f"[{number:5d}.000000] pci 0000:{number % 256:02x}:00.0: Adding to iommu group {number}\n"
        for number in range(400)
    )
    commands = {
        "dmesg": {"rc": 0, "out": log},
        "ofed_info -s": {"rc": 0, "out": "MLNX_OFED_LINUX-24.10-0.7.0.0:\n"},
    }
    capture = {"gdviz_capture": 1, "host": host, "environment": {"NCCL_DEBUG": "INFO"}, "commands": commands}
    return json.dumps({**capture, "links": links, "files": files}, indent=1)


@pytest.mark.timeout(600)
def test_case(tmp_path: Path, report: Report) -> None:
    for number in range(NODES):
        (tmp_path / f"{number}.json").write_text(big_capture(f"node-{number:04d}"))
    size = sum(path.stat().st_size for path in tmp_path.iterdir())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    case = open_case(tmp_path)
    spent = time.perf_counter() - start
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    machines = [machine for reading in case.readings for machine in reading.machines]
    assert len(case.nodes) == NODES
    assert {(len(machine.gpus), len(machine.nics)) for machine in machines} == {(8, 8)}
    report.add(f"opening {NODES} captures", [spent], "s", below=30.0 * NODES / 1000)
    report.add("  memory", [grown], "MiB")
    report.add("  captures on disk", [size / MIB], "MiB")
