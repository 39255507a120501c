"""Listings made to be slow or large: each is read in time, in bounds, and to a whole machine."""

from __future__ import annotations

import sys
import time
import tracemalloc
from pathlib import Path
from types import ModuleType

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from hostile import check

from gdviz.readers import amd_smi, amd_topology, hwloc, lspci
from gdviz.readers.nvidia_smi import nvlink, query, topo_matrix


def _square(names: list[str], cell: str, *, rows: int) -> str:
    text = "\t" + "\t".join(names) + "\n"
    for name in names[:rows]:
        text += "\t".join([name, *("X" if name == other else cell for other in names)]) + "\n"
    return text


_OBJECT = '<object type="{}" os_index="{}" cpuset="0xff"/>'
INPUTS: dict[str, tuple[ModuleType, str]] = {
    "functions": (lspci, "".join(f"{n >> 8:04x}:{n & 255:02x}:00.0 Host bridge: a\n" for n in range(20_000))),
    "gpus": (
        lspci,
        "".join(f"{n >> 8:04x}:{n & 255:02x}:00.0 3D controller: NVIDIA a\n" for n in range(12_000)),
    ),
    "bridges in a chain": (
        lspci,
        "".join(
            f"{n:02x}:00.0 PCI bridge: a\n\tBus: primary=00, secondary={n + 1:02x}, subordinate=ff\n"
            for n in range(255)
        )
        + "ff:00.0 3D controller: NVIDIA a\n",
    ),
    "brackets": (lspci, "00:00.0 Host bridge: " + "[" * 300_000),
    "signs of a tree": (lspci, "-[0000:00]-+-" + "+-" * 150_000),
    "registers": (lspci, "\t\tACSCtl: SrcValid+ TransBlk- ReqRedir+ CmpltRedir+\n" * 10_000),
    "wide matrix": (topo_matrix, _square([f"GPU{n}" for n in range(400)], "PIX", rows=100)),
    "far NICs": (
        topo_matrix,
        _square([f"{kind}{n}" for kind in ("GPU", "NIC") for n in range(60)], "PXB", rows=120),
    ),
    "bars": (topo_matrix, "GPU0 " + " |" * 300_000),
    "one row again and again": (topo_matrix, "\tGPU0\tGPU1\n" + "GPU0\tX\tPIX\n" * 20_000),
    "one GPU again and again": (query, "=NVSMI LOG=\n" + "GPU 00000000:3B:00.0\n" * 20_000),
    "sections in sections": (query, "=NVSMI LOG=\n" + "".join(" " * n + "Aa\n" for n in range(600))),
    "one link again and again": (nvlink, "GPU 0: a (UUID: GPU-1)\n Link 0: 25 GB/s\n" * 10_000),
    "bridges in bridges": (
        hwloc,
        '<topology version="2.0">' + '<object type="Bridge" bridge_type="1-1">' * 9_000,
    ),
    "NUMA nodes": (
        hwloc,
        '<topology version="2.0"><object type="Machine">'
        + "".join(_OBJECT.format("Package", n) + _OBJECT.format("NUMANode", n) for n in range(4_000))
        + "</object></topology>",
    ),
    "distances": (
        hwloc,
        '<topology version="2.0"><distances2hetero name="NVLinkBandwidth"><indexes>'
        + "OSDev:1 " * 2_000
        + "</indexes><u64values>"
        + "25000 " * 100_000
        + "</u64values></distances2hetero></topology>",
    ),
    "wide table": (
        amd_topology,
        "LINK TYPE TABLE:\n" + _square([f"GPU{n}" for n in range(256)], "XGMI", rows=256),
    ),
    "blocks": (amd_smi, "GPU: 0\n    ASIC:\n        MARKET_NAME: MI300X\n" * 10_000),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", INPUTS)
def test_in_time_and_in_bounds(name: str) -> None:
    reader, text = INPUTS[name]
    data = text.encode()
    start = time.perf_counter()
    reader.looks_like(text)
    reading = reader.read(data)
    assert time.perf_counter() - start < 2
    for machine in reading.machines:
        check(machine)
    tracemalloc.start()
    try:
        reader.read(data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # XML costs its elements; what stands in few bytes is let off.
    assert peak < max((30 if reader is hwloc else 20) * len(data), 4_000_000)
