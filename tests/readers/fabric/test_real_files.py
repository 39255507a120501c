"""The real files of hosts and fabrics: what each holds, counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from gdviz.readers import open_path
from gdviz.readers.fabric import IbStat, RdmaTopo
from gdviz.readers.host import KernelLog


@pytest.mark.parametrize(
    ("name", "active", "down", "truncated"),
    [
        ("gpud-ibstat-a100-ibpanic.txt", 8, 0, True),
        ("gpud-ibstat.47.0.a100.all.active.0.txt", 9, 0, False),
        ("gpud-ibstat.47.0.h100.some.down.0.txt", 9, 3, False),
    ],
)
def test_ibstat(shared: Path, name: str, active: int, down: int, truncated: bool) -> None:
    (reading,) = open_path(shared / "corpus" / "ibstat" / name).readings
    assert isinstance(reading.facts, IbStat)
    states = [port.state for adapter in reading.facts.adapters for port in adapter.ports]
    assert (states.count("Active"), states.count("Down")) == (active, down)
    assert len(states) == len(reading.facts.adapters) == active + down
    assert reading.truncated is truncated


def test_kernel_log(shared: Path) -> None:
    (reading,) = open_path(shared / "corpus" / "kernel_log" / "gpud-dmesg-peermem.txt").readings
    assert isinstance(reading.facts, KernelLog)
    (entry,) = reading.facts.entries
    assert (entry.kind, entry.count, entry.line) == ("invalid-context", 7, 1)


def test_rdma_topo(shared: Path) -> None:
    path = shared / "corpus" / "acs_check" / "dgx-station-rdma_topo-check-fail.txt"
    (reading,) = open_path(path).readings
    assert isinstance(reading.facts, RdmaTopo)
    assert [(check.ok, check.subject, check.wanted) for check in reading.facts.checks] == [
        (False, "acs", "xx111x0"),
        (False, "acs", "xx110x1"),
        (False, "acs", "xx101x1"),
        (False, "iommu-group", ""),
    ]


#: Files of the cases that hold prose and no format.
PROSE = {"bar1-256-mib-on-t4/env.txt"}


def test_every_case_file_of_these_kinds_is_known(shared: Path) -> None:
    names = (
        "env",
        "lsmod",
        "uname",
        "ulimit",
        "dmesg",
        "kernel-config",
        "ibstat",
        "ibv_devinfo",
        "show_gids",
    )
    folder = shared / "cases"
    paths = [path for name in (*names, "hw_counters") for path in folder.rglob(f"{name}.txt")]
    assert len(paths) > 50
    for path in paths:
        place = str(path.relative_to(folder))
        if place in PROSE:
            continue
        kinds = {reading.kind for reading in open_path(path).readings}
        wanted = {
            "dmesg": "kernel_log", "kernel-config": "kernel_config", "hw_counters": "counters",
        }.get(path.stem, path.stem)  # fmt: skip
        assert path.stem == "env" or wanted in kinds, place
