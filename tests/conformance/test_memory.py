from __future__ import annotations

import errno
import hashlib
import itertools

import pytest

from gdviz.errors import AllocationError, RegistrationError, VerbsError
from gdviz.rdma import AccessFlags


def test_new_memory_is_zeros(bench) -> None:
    buffer = bench.a.provider.alloc(bench.a.location, 5000)
    assert buffer.read() == bytes(5000)
    assert buffer.checksum() == hashlib.sha256(bytes(5000)).hexdigest()[:16]


@pytest.mark.parametrize("align", [4096, 65536])
def test_addresses_are_aligned_and_apart(bench, align) -> None:
    buffers = [bench.a.provider.alloc(bench.a.location, 5000, align=align) for _ in range(3)]
    starts = sorted(buffer.address for buffer in buffers)
    assert all(start % align == 0 for start in starts)
    assert all(later - earlier >= 5000 for earlier, later in itertools.pairwise(starts))


def test_what_is_written_is_read(bench) -> None:
    buffer = bench.a.buffer(10_000)
    buffer.write(4090, b"across a page")
    assert buffer.read(4090, 13) == b"across a page"
    assert buffer.read(4080, 10) == bytes(10)


@pytest.mark.parametrize("pattern", ["random", "counter", "text", 0x5A, b"abc"])
def test_patterns_repeat(bench, pattern) -> None:
    one, two = bench.a.buffer(9000, pattern), bench.b.buffer(9000, pattern)
    assert any(one.read())
    assert one.checksum() == two.checksum() == hashlib.sha256(one.read()).hexdigest()[:16]


def test_random_differs_by_seed(bench) -> None:
    buffer = bench.a.buffer(64)
    buffer.fill("random", seed=1)
    first = buffer.read()
    buffer.fill("random", seed=2)
    assert buffer.read() != first


@pytest.mark.parametrize(("offset", "length"), [(-1, 4), (60, 8), (0, -1)])
def test_outside_of_a_buffer(bench, offset, length) -> None:
    buffer = bench.a.buffer(64)
    with pytest.raises(VerbsError) as caught:
        buffer.read(offset, length)
    assert caught.value.errno == errno.EINVAL


def test_no_size(bench) -> None:
    with pytest.raises(AllocationError) as caught:
        bench.a.provider.alloc(bench.a.location, 0)
    assert caught.value.errno == errno.EINVAL


def test_free_while_registered(bench) -> None:
    region = bench.a.region()
    with pytest.raises(VerbsError) as caught:
        region.buffer.free()
    assert caught.value.errno == errno.EBUSY
    assert region.buffer.registered
    region.deregister()
    region.buffer.free()
    assert region.buffer.freed
    with pytest.raises(VerbsError):
        region.buffer.read()


def test_region(bench) -> None:
    buffer = bench.a.buffer(3 * 65536)
    region = bench.a.domain.register(buffer, "local_write|remote_read", offset=65536, length=70000)
    assert region.address == buffer.address + 65536
    assert region.length == 70000
    assert region.access == AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ
    assert region.pages == region.translation.pages
    assert region.pages * region.page_bytes >= 70000
    assert (region.node, region.nic) == (bench.a.provider.node, bench.a.nic)
    rows = list(region.translation.rows())
    assert len(rows) == region.pages
    assert rows[0].virtual_address <= region.address
    assert rows[-1].virtual_address + region.page_bytes >= region.address + region.length


@pytest.mark.parametrize(
    ("access", "offset", "length"),
    [
        ("remote_write", 0, None),
        ("remote_atomic", 0, None),
        ("local_write", 0, 65537),
        ("local_write", -1, 10),
        ("local_write", 0, 0),
    ],
)
def test_registration_refused(bench, access, offset, length) -> None:
    buffer = bench.a.buffer()
    with pytest.raises(RegistrationError) as caught:
        bench.a.domain.register(buffer, access, offset=offset, length=length)
    assert caught.value.errno == errno.EINVAL
    assert not buffer.registered


def test_unknown_flag(bench) -> None:
    with pytest.raises(VerbsError) as caught:
        bench.a.domain.register(bench.a.buffer(), "remote_scribble")
    assert caught.value.errno == errno.EINVAL


def test_domain_in_use(bench) -> None:
    domain = bench.a.device.alloc_pd()
    region = domain.register(bench.a.buffer(), "local_write")
    with pytest.raises(VerbsError) as caught:
        domain.dealloc()
    assert caught.value.errno == errno.EBUSY
    region.deregister()
    domain.dealloc()


def test_resources_count(bench) -> None:
    before = dict(bench.a.provider.resources())
    regions = [bench.a.region() for _ in range(3)]
    pair = bench.a.queue_pair()
    now = bench.a.provider.resources()
    assert {key: now[key] - before[key] for key in ("mr", "qp", "buffer")} == {"mr": 3, "qp": 1, "buffer": 3}
    pair.destroy()
    for region in regions:
        region.deregister()
        region.buffer.free()
    assert dict(bench.a.provider.resources()) == before
