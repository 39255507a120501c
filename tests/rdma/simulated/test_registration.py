from __future__ import annotations

import errno
from dataclasses import replace

import pytest

from gdviz.errors import AllocationError, RegistrationError, UnknownDeviceError, VerbsError
from gdviz.machine import reference_machine
from gdviz.rdma import Location
from gdviz.rdma.simulated import SimulatedHost

GIB = 2**30


def refused(node, size_bytes: int = 65536, *, where=None, access="local_write") -> RegistrationError:
    with pytest.raises(RegistrationError) as caught:
        node.region(size_bytes, access, where=where)
    assert node.provider.resources()["mr"] == 0
    return caught.value


def test_neither_dma_buf_nor_peermem(lab) -> None:
    node = lab.node("c", SimulatedHost(dma_buf=False, peermem=False))
    error = refused(node)
    assert error.errno == errno.EFAULT
    for word in ("dma-buf", "EOPNOTSUPP (95)", "nvidia-peermem", "EFAULT (14)", "modprobe"):
        assert word in str(error)
    node.region(where=node.host).deregister()


@pytest.mark.parametrize(("dma_buf", "how"), [(True, "dma-buf"), (False, "nvidia-peermem")])
def test_how(lab, dma_buf, how) -> None:
    node = lab.node("c", SimulatedHost(dma_buf=dma_buf))
    assert node.region().translation.how == how
    assert node.region(where=node.host).translation.how == "host pages"


def test_bar1_full(lab) -> None:
    node = lab.node("c", SimulatedHost(bar1_bytes=256 * 2**20))
    first = node.region(200 * 2**20)
    with pytest.raises(RegistrationError, match=r"BAR1 full.*56 MiB of 256 MiB") as caught:
        node.region(100 * 2**20)
    assert caught.value.errno == errno.ENOMEM
    assert node.provider.bar1_used_bytes(node.gpu.part) == 200 * 2**20
    first.deregister()
    assert node.provider.bar1_used_bytes(node.gpu.part) == 0
    node.region(100 * 2**20)


def test_bar1_is_used_in_whole_pages(lab) -> None:
    buffer = lab.a.provider.alloc(lab.a.gpu, 10 * 65536)
    lab.a.domain.register(buffer, "local_write", offset=65535, length=2)
    assert lab.a.provider.bar1_used_bytes(lab.a.gpu.part) == 2 * 65536


def test_memlock(lab) -> None:
    node = lab.node("c", SimulatedHost(memlock_bytes=65536))
    error = refused(node, 65537, where=node.host)
    assert error.errno == errno.ENOMEM
    assert "ulimit -l" in error.remedy
    region = node.region(65536, where=node.host)
    with pytest.raises(RegistrationError):
        node.region(1, where=node.host)
    region.deregister()
    node.region(4096, where=node.host)
    node.region(2**20)


def test_iommu(lab) -> None:
    node = lab.node("c", SimulatedHost(iommu="translate"))
    error = refused(node, 2 * GIB)
    assert error.errno == errno.ENOMEM
    assert "iommu=pt" in error.remedy
    rows = list(node.region(3 * 65536).translation.rows())
    assert all(row.iova is not None for row in rows)
    assert [row.iova - rows[0].iova for row in rows] == [0, 65536, 131072]
    straight = lab.node("d", SimulatedHost(iommu="pt"))
    assert all(row.iova is None for row in straight.region().translation.rows())


@pytest.mark.parametrize(("dma_buf", "code"), [(True, errno.EOPNOTSUPP), (False, errno.EFAULT)])
def test_gpu_without_gpudirect(lab, dma_buf, code) -> None:
    machine = reference_machine("hgx-h100", "c")
    gpus = (replace(machine.gpus[0], gdr=False), *machine.gpus[1:])
    machine = replace(machine, parts=replace(machine.parts, gpus=gpus))
    provider = lab.network.provider(machine, settings=SimulatedHost(dma_buf=dma_buf))
    domain = provider.device("mlx5_0").alloc_pd()
    with pytest.raises(RegistrationError, match="H100") as caught:
        domain.register(provider.alloc(Location("gpu", gpus[0].id), 4096), "local_write")
    assert caught.value.errno == code
    domain.register(provider.alloc(Location("gpu", gpus[1].id), 4096), "local_write")


def test_nic_without_gpudirect(lab) -> None:
    machine = reference_machine("hgx-h100", "c")
    nics = (replace(machine.nics[0], gdr=False), *machine.nics[1:])
    provider = lab.network.provider(replace(machine, parts=replace(machine.parts, nics=nics)))
    buffer = provider.alloc(Location("gpu", machine.gpus[0].id), 4096)
    with pytest.raises(RegistrationError, match="mlx5_0") as caught:
        provider.device("mlx5_0").alloc_pd().register(buffer, "local_write")
    assert caught.value.errno == errno.EOPNOTSUPP
    provider.device("mlx5_1").alloc_pd().register(buffer, "local_write")


def test_flags_that_the_nic_lacks(lab) -> None:
    assert refused(lab.a, access="on_demand").errno == errno.EOPNOTSUPP


def test_memory_of_another_node(lab) -> None:
    with pytest.raises(RegistrationError) as caught:
        lab.a.domain.register(lab.b.provider.alloc(lab.b.gpu, 64), "local_write")
    assert caught.value.errno == errno.EFAULT


def test_freed_memory(lab) -> None:
    buffer = lab.a.provider.alloc(lab.a.gpu, 64)
    buffer.free()
    with pytest.raises(RegistrationError) as caught:
        lab.a.domain.register(buffer, "local_write")
    assert caught.value.errno == errno.EFAULT


def test_translation_of_gpu_memory(lab) -> None:
    node = lab.a
    window = node.provider.bar1(node.gpu.part)
    region = node.region(5 * 2**20)
    rows = list(region.translation.rows())
    assert region.page_bytes == 65536
    assert region.buffer.address % 2**21 == 0
    assert f"{region.buffer.address:x}".startswith("7f")
    assert len({row.bus_address for row in rows}) == len({row.page_address for row in rows}) == 80
    assert all(window.base <= row.bus_address < window.base + window.size_bytes for row in rows)
    assert window.base % window.size_bytes == 0
    other = node.provider.bar1(node.provider.machine.gpus[1].id)
    assert other.base >= window.base + window.size_bytes


def test_scattered_pages_stay_in_order(lab) -> None:
    node = lab.a
    capacity = node.provider.machine.gpus[0].memory_bytes
    pages = [node.provider.alloc(node.gpu, 2**21) for _ in range(4)]
    rest = node.provider.alloc(node.gpu, capacity - 4 * 2**21)
    pages[0].free()
    pages[2].free()
    region = node.region(2 * 2**21)
    first, last = list(region.translation.rows(31, 2))
    assert last.virtual_address == first.virtual_address + 65536
    assert last.page_address == first.page_address + 65536 + 2**21
    rest.free()


def test_gpu_memory_has_an_end(lab) -> None:
    with pytest.raises(AllocationError, match=r"81 GiB.*GPU 0.*80 GiB") as caught:
        lab.a.provider.alloc(lab.a.gpu, 81 * GIB)
    assert caught.value.errno == errno.ENOMEM
    big = lab.a.provider.alloc(lab.a.gpu, 64 * GIB)
    assert lab.network.commit.used_bytes == 0
    with pytest.raises(AllocationError):
        lab.a.provider.alloc(lab.a.gpu, 17 * GIB)
    with pytest.raises(AllocationError, match="this computer"):
        big.fill("random")
    big.free()
    lab.a.provider.alloc(lab.a.gpu, 80 * GIB)


def test_host_memory_has_an_end(lab) -> None:
    node = lab.node("c", SimulatedHost(memory_bytes=2**20))
    with pytest.raises(AllocationError, match="cpu0"):
        node.provider.alloc(node.host, 2**20 + 1)


def test_no_such_place(lab) -> None:
    for location in (Location("gpu", "gpu99"), Location("host", "cpu9")):
        with pytest.raises(UnknownDeviceError):
            lab.a.provider.alloc(location, 64)


def test_alignment(lab) -> None:
    with pytest.raises(AllocationError):
        lab.a.provider.alloc(lab.a.gpu, 64, align=3)


def test_closed_provider(lab) -> None:
    buffer = lab.a.provider.alloc(lab.a.gpu, 64)
    lab.a.provider.close()
    for call in (
        lambda: lab.a.provider.alloc(lab.a.gpu, 64),
        lambda: lab.a.provider.device("mlx5_0"),
        lab.a.device.alloc_pd,
        buffer.read,
    ):
        with pytest.raises(VerbsError):
            call()
