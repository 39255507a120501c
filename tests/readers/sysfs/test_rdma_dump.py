"""Dumps of rdma_topo."""

from __future__ import annotations

import base64
import json
import sys
import zlib
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from sysfs_samples import GPU, NIC, ROOT, SWITCH, config_space

from gdviz.errors import ReaderError
from gdviz.readers import open_path
from gdviz.readers.lspci.facts import PciListing


def item(path: str, vendor: str, device: str, code: str, kind: int, **more: object) -> dict[str, object]:
    alias = f"pci:v0000{vendor}d0000{device}sv00000000sd00000000bc{code[:2]}sc{code[2:]}i00"
    packed = base64.b64encode(zlib.compress(config_space(acs=0x1D, kind=kind))).decode()
    return {"realpath": "/" + path, "config": packed, "modalias": alias, "numa_node": 1, **more}


def dump() -> str:
    ports = [f"{SWITCH}/0000:17:00.0", f"{SWITCH}/0000:17:01.0"]
    return json.dumps(
        [
            item(ROOT, "10DE", "22B1", "0604", 4),
            item(SWITCH, "15B3", "197C", "0604", 5),
            *(item(port, "15B3", "197C", "0604", 6, iommu_group=3) for port in ports),
            item(GPU, "10DE", "2901", "0302", 0, iommu_group=5),
            item(NIC, "15B3", "1023", "0207", 0, subsystems={"infiniband": ["mlx5_0"]}),
        ],
        indent=4,
    )


def test_a_dump_is_a_copy_of_sys(tmp_path: Path) -> None:
    path = tmp_path / "dump.json"
    path.write_text(dump())
    opened = open_path(path)
    (machine,) = opened.machines
    assert (len(machine.gpus), [nic.name for nic in machine.nics]) == (1, ["mlx5_0"])
    assert str(machine.path(0, 0).distance) == "PIX"
    (listing,) = [reading.facts for reading in opened.readings if reading.kind == "lspci"]
    assert isinstance(listing, PciListing)
    port = listing.function("0000:17:00.0")
    assert port is not None
    assert port.acs is not None
    assert (port.acs.mask, port.iommu_group) == (0x1D, 3)


@pytest.mark.parametrize("odd", [1, "x", [], {"realpath": 3}, {"realpath": "/sys/devices/x", "config": "!"}])
def test_odd_dumps(tmp_path: Path, odd: object) -> None:
    path = tmp_path / "dump.json"
    path.write_text(json.dumps([*json.loads(dump()), odd]))
    assert len(open_path(path).machines[0].gpus) == 1
    path.write_text(dump()[:-20])
    with pytest.raises(ReaderError, match="broken"):
        open_path(path)
