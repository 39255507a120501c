"""Memory that is only named for the staged path: never pinned, never within the NIC's reach."""

from __future__ import annotations

import pytest

from gdviz.errors import TransferError, VerbsError
from gdviz.model import DataPath, Op
from gdviz.rdma import AccessFlags, Opcode, TransferSpec, WcStatus


@pytest.mark.parametrize("op", list(Op))
def test_it_is_staged_without_being_pinned(bench, op) -> None:
    left, _right = bench.connect()
    near, far = bench.a.buffer(65536, "random"), bench.b.buffer(65536, "text")
    local, remote = bench.a.domain.stage(near), bench.b.domain.stage(far)
    for end in (bench.a, bench.b):
        assert end.provider.resources()["mr"] == 0
        if end.location.kind == "gpu":
            assert end.provider.bar1_used_bytes(end.location.part) == 0
    wanted = (far if op is Op.READ else near).checksum()
    run = bench.start([left], local, remote, TransferSpec(op, DataPath.STAGED, 4096, count=16))
    bench.finish(run)
    assert run.result.status is WcStatus.SUCCESS
    assert near.checksum() == far.checksum() == wanted
    local.deregister()
    remote.deregister()
    near.free()


def test_the_direct_path_refuses_it(bench) -> None:
    left, _right = bench.connect()
    staged, remote = bench.a.domain.stage(bench.a.buffer()), bench.b.region()
    with pytest.raises(TransferError, match="not registered"):
        bench.start([left], staged, remote, TransferSpec(size_bytes=64, count=1))


def test_its_keys_are_none_of_the_nics(bench, make) -> None:
    left, _right = bench.connect()
    local, staged = bench.a.region(), bench.b.domain.stage(bench.b.buffer())
    left.post_send(make(Opcode.RDMA_WRITE, local, staged))
    (completion,) = bench.poll(bench.a.completions)
    assert completion.status is WcStatus.REM_ACCESS_ERR
    assert staged.access == AccessFlags(0)


def test_a_buffer_in_use_is_not_freed(bench) -> None:
    buffer = bench.a.buffer()
    staged = bench.a.domain.stage(buffer)
    with pytest.raises(VerbsError):
        buffer.free()
    staged.deregister()
    buffer.free()


@pytest.mark.parametrize(("offset", "length"), [(0, 65537), (-1, 10), (10, 0), (65536, None)])
def test_a_range_outside_is_refused(bench, offset, length) -> None:
    with pytest.raises(VerbsError):
        bench.a.domain.stage(bench.a.buffer(), offset=offset, length=length)
