"""The machines that the figures' tests go through: the catalogue, hand-made oddities, and real files."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from gdviz.machine import (
    CATALOGUE,
    Bridge,
    BridgeKind,
    Cpu,
    Gpu,
    Machine,
    Nic,
    Parts,
    PcieLink,
    reference_machine,
)

CORPUS = Path(__file__).parents[3] / "shared" / "corpus" / "nccl_topo_xml"
FILES = sorted(CORPUS.glob("*.xml")) if CORPUS.is_dir() else []
HOSTILE = ("<img src=x onerror=alert(1)>", "$$x$$", "a|b", "\x00\u202eevil\n" * 40, "", "网卡" * 30)


def deep(levels: int) -> Machine:
    """Return a machine whose GPU and NIC hang below many switches of one child each."""
    gen4 = PcieLink(4, 16, 4, 16)
    bridges = [Bridge("0000:01:00.0", "cpu0", BridgeKind.SWITCH, gen4)]
    for level in range(1, levels):
        above = bridges[-1].id
        bridges.append(Bridge(f"0000:{level + 1:02x}:00.0", above, BridgeKind.SWITCH, gen4))
    last = bridges[-1].id
    gpu = Gpu("0000:80:00.0", 0, last, "0000:80:00.0", link=gen4)
    nic = Nic("mlx5_0", 0, last, "0000:81:00.0", "mlx5_0", link=PcieLink(3, 8, 4, 16))
    return Machine("deep", Parts((Cpu("cpu0", 0),), tuple(bridges), (gpu,), (nic,)))


def crowded(gpus: int, nics: int) -> Machine:
    """Return a machine with many devices straight on one socket, and an empty second socket."""
    parts = Parts(
        (Cpu("cpu0", 0), Cpu("cpu1", 1)),
        (),
        tuple(Gpu(f"0000:{i:02x}:00.0", i, "cpu0", f"0000:{i:02x}:00.0") for i in range(gpus)),
        tuple(Nic(f"n{i}", i, "cpu0", f"0001:{i:02x}:00.0", f"n{i}") for i in range(nics)),
    )
    return Machine("crowded", parts)


def rootless() -> Machine:
    """Return a machine whose source names no CPU."""
    machine = reference_machine("pcie-a30")
    return Machine("rootless", replace(machine.parts, cpus=()))


def hostile(name: str) -> Machine:
    """Return a machine in which every name that a file can give is `name`."""
    machine = reference_machine("hgx-h100")
    parts = replace(
        machine.parts,
        gpus=tuple(replace(gpu, name=name) for gpu in machine.gpus),
        nics=tuple(replace(nic, name=name, model=name) for nic in machine.nics),
        bridges=tuple(replace(bridge, name=name) for bridge in machine.bridges),
        cpus=tuple(replace(cpu, vendor=name, arch=name) for cpu in machine.cpus),
    )
    return Machine(name, parts)


MADE = {
    "deep": lambda: deep(6),
    "crowded": lambda: crowded(12, 8),
    "overcrowded": lambda: crowded(40, 40),
    "rootless": rootless,
    "empty": lambda: Machine("empty"),
    "only cpu": lambda: Machine("only cpu", Parts((Cpu("cpu0", -1),))),
}

ALL = [
    *CATALOGUE,
    *MADE,
    *(pytest.param(path.name, id=path.stem) for path in FILES),
]
if not FILES:
    ALL.append(pytest.param("", marks=pytest.mark.skip(reason="no shared/corpus beside the checkout")))


@cache
def machine(name: str) -> Machine:
    """Return a machine by its key or file name."""
    if name in CATALOGUE:
        return reference_machine(name)
    if name in MADE:
        return MADE[name]()
    from gdviz.readers import open_machine

    return open_machine(CORPUS / name)[0]
