from __future__ import annotations

import errno

import pytest

from gdviz.errors import QueuePairStateError, VerbsError
from gdviz.rdma import AccessFlags, Opcode, QpState, RecvRequest, WcStatus

INIT = {"pkey_index": 0, "port_num": 1, "qp_access_flags": AccessFlags.REMOTE_WRITE}


def test_connected(bench) -> None:
    left, right = bench.connect()
    assert left.state is right.state is QpState.RTS
    assert left.address.node == bench.a.provider.node
    assert left.address.gid == bench.a.device.gid != bench.b.device.gid


def test_steps_of_the_table(bench) -> None:
    pair = bench.a.queue_pair()
    assert pair.state is QpState.RESET
    pair.modify(QpState.INIT, **INIT)
    pair.modify(QpState.ERR)
    pair.modify(QpState.RESET)
    assert pair.state is QpState.RESET


@pytest.mark.parametrize("target", [QpState.RTR, QpState.RTS, QpState.SQD])
def test_no_shortcut_from_reset(bench, target) -> None:
    pair = bench.a.queue_pair()
    with pytest.raises(QueuePairStateError) as caught:
        pair.modify(target)
    assert caught.value.errno == errno.EINVAL
    assert pair.state is QpState.RESET


def test_missing_attributes(bench) -> None:
    pair = bench.a.queue_pair()
    with pytest.raises(QueuePairStateError, match="port_num") as caught:
        pair.modify(QpState.INIT, pkey_index=0, qp_access_flags=AccessFlags(0))
    assert caught.value.errno == errno.EINVAL


def test_sends_need_rts(bench, make) -> None:
    pair, region = bench.a.queue_pair(), bench.a.region()
    for _state in range(2):
        with pytest.raises(QueuePairStateError) as caught:
            pair.post_send(make(Opcode.SEND, region))
        assert caught.value.errno == errno.EINVAL
        if pair.state is QpState.RESET:
            pair.modify(QpState.INIT, **INIT)


def test_receives_need_init(bench, sge) -> None:
    pair, region = bench.a.queue_pair(), bench.a.region()
    with pytest.raises(QueuePairStateError):
        pair.post_recv(RecvRequest(1, (sge(region),)))
    pair.modify(QpState.INIT, **INIT)
    pair.post_recv(RecvRequest(1, (sge(region),)))


def test_send_queue_is_full(bench, make) -> None:
    left, _right = bench.connect(max_send_wr=4)
    local, remote = bench.a.region(64), bench.b.region(64)
    posted, refused = 0, None
    while refused is None and posted < 1000:
        try:
            left.post_send(make(Opcode.RDMA_WRITE, local, remote, wr_id=posted))
            posted += 1
        except VerbsError as error:
            refused = error.errno
    assert refused == errno.ENOMEM
    assert posted >= 4
    assert [c.wr_id for c in bench.poll(bench.a.completions, posted)] == list(range(posted))
    left.post_send(make(Opcode.RDMA_WRITE, local, remote))
    assert bench.poll(bench.a.completions)[0].ok


def test_too_many_pieces(bench, make, sge) -> None:
    left, _right = bench.connect(max_send_sge=1)
    region = bench.a.region()
    with pytest.raises(VerbsError) as caught:
        left.post_send(make(Opcode.SEND, sges=(sge(region, 0, 8),) * 64))
    assert caught.value.errno == errno.EINVAL


def test_error_state_flushes_in_order(bench, make, sge) -> None:
    left, _right = bench.connect()
    region = bench.a.region()
    for number in range(3):
        left.post_recv(RecvRequest(100 + number, (sge(region),)))
    left.modify(QpState.ERR)
    left.post_send(make(Opcode.SEND, region, wr_id=7, signaled=False))
    found = bench.poll(bench.a.completions, 4)
    assert {c.status for c in found} == {WcStatus.WR_FLUSH_ERR}
    assert [c.wr_id for c in found if c.wr_id >= 100] == [100, 101, 102]
    assert sum(c.wr_id == 7 for c in found) == 1


def test_completion_queue_in_use(bench) -> None:
    queue = bench.a.device.create_cq(16)
    pair = bench.a.domain.create_qp(queue, queue)
    with pytest.raises(VerbsError) as caught:
        queue.destroy()
    assert caught.value.errno == errno.EBUSY
    pair.destroy()
    queue.destroy()


def test_connect_and_destroy_many_times(bench) -> None:
    before = dict(bench.a.provider.resources())
    for _round in range(20):
        left, right = bench.connect()
        left.destroy()
        right.destroy()
    assert dict(bench.a.provider.resources()) == before
