"""No machine, however odd, stops the model."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from gdviz.machine import CATALOGUE, Cpu, Gpu, Machine, Nic, Parts, PcieLink, reference_machine
from gdviz.model import DataPath, Endpoint, Op, PlaceKind, Workload, predict, timeline
from gdviz.model.peer import peer_ceilings, socket_memory_bytes_per_s


def every_pair(machine: Machine) -> None:
    for gpu, nic in product([*machine.gpus, None], machine.nics):
        end = Endpoint(machine, nic.id, gpu.id if gpu else None)
        for path in DataPath:
            found = predict(end, end, Workload(Op.WRITE, path, 65536), messages=1)
            assert 0 < found.bandwidth_bytes_per_s < 1e12
            assert all(found.loads[place] <= found.capacities[place] * (1 + 1e-9) for place in found.loads)
            ids = {part.id for part in machine}
            for stage in found.stages:
                for place in stage.places:
                    known = place.id in ids or place.id == "fabric" or "-" in place.id
                    assert known, (stage.key, place)


@pytest.mark.parametrize("key", CATALOGUE)
def test_catalogue(key):
    machine = reference_machine(key)
    few = replace(machine.parts, gpus=machine.gpus[:2], nics=machine.nics[-2:])
    every_pair(Machine(key, few))


@pytest.mark.slow
def test_corpus(shared):
    readers = pytest.importorskip("gdviz.readers")
    opened = 0
    for file in sorted((shared / "corpus" / "nccl_topo_xml").glob("*.xml")):
        for machine in readers.open_machine(file):
            few = replace(machine.parts, gpus=machine.gpus[:3], nics=machine.nics[:3])
            every_pair(replace(machine, parts=few))
            opened += bool(machine.nics and machine.gpus)
    assert opened >= 15


def test_bare_parts_without_cpus():
    gpu, nic = Gpu("g", 0, "", "0000:01:00.0"), Nic("n", 0, "", None, "veth0")
    every_pair(Machine("bare", Parts(gpus=(gpu,), nics=(nic,))))
    only = Machine("only a NIC", Parts(nics=(nic,)))
    assert timeline(Endpoint(only, "n"), Endpoint(only, "n"), Workload())


def test_superchip_goes_over_c2c():
    link = PcieLink(5, 16)
    cpu = Cpu("cpu0", 0, "arm64", memory_bytes_per_s=500e9)
    gpu = Gpu("g", 0, "cpu0", "0000:01:00.0", link=link, c2c_bytes_per_s=450e9)
    nic = Nic("n", 0, "cpu0", "0000:02:00.0", "mlx5_0", link=link, speed_bytes_per_s=50e9)
    machine = Machine("gh", Parts((cpu,), (), (gpu,), (nic,)))
    end = Endpoint(machine, "n", "g")
    found = predict(end, end, Workload())
    assert "NVLink-C2C" in {ceiling.name for ceiling in found.ceilings}
    assert found.bandwidth_bytes_per_s > 45e9


def test_across_sockets_names_the_link_in_the_machines_order():
    machine = reference_machine("pcie-a30")
    end = Endpoint(machine, machine.nics[0].id, machine.gpus[1].id)
    stages = timeline(end, end, Workload())
    links = {place.id for stage in stages for place in stage.places if place.kind is PlaceKind.LINK}
    assert "cpu0-cpu1" in links


def test_v100_behind_an_old_epyc_reads_slower_than_it_is_written():
    cpu = Cpu("cpu0", 0, "x86_64", "AuthenticAMD", 23, 49, memory_bytes_per_s=200e9)
    gpu = Gpu("g", 0, "cpu0", "0000:01:00.0", link=PcieLink(3, 16))
    nic = Nic("n", 0, "cpu0", "0000:02:00.0", "mlx5_0", link=PcieLink(4, 16), speed_bytes_per_s=25e9)
    machine = Machine("v100", Parts((cpu,), (), (gpu,), (nic,)))
    gpu_end, host = Endpoint(machine, "n", "g"), Endpoint(machine, "n")
    workload = Workload(size_bytes=1 << 20)
    out = predict(gpu_end, host, workload).bandwidth_bytes_per_s
    into = predict(host, gpu_end, workload).bandwidth_bytes_per_s
    assert out == pytest.approx(6.11e9, rel=0.05)
    assert into == pytest.approx(14.29e9, rel=0.1)


def test_every_cpu_has_ceilings():
    arches = ("x86_64", "arm64", "ppc64", "")
    vendors = ("GenuineIntel", "AuthenticAMD", "CentaurHauls", "")
    families = (None, 6, 23, 25, 26)
    models = (None, 49, 79, 85, 106, 143, 173, 207)
    for arch, vendor, family, model in product(arches, vendors, families, models):
        cpu = Cpu("cpu0", 0, arch, vendor, family, model)
        found = peer_ceilings(cpu)
        assert found.source
        assert found.across_read
        assert found.across_write
        assert socket_memory_bytes_per_s(cpu) > 10e9
