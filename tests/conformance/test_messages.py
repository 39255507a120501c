from __future__ import annotations

import pytest

from gdviz.rdma import Opcode, QpState, RecvRequest, WcOpcode, WcStatus

ALL = "local_write|remote_write|remote_read"


def test_write(bench, make) -> None:
    left, _right = bench.connect()
    local, remote = bench.a.region(10_000, "random"), bench.b.region(10_000)
    left.post_send(make(Opcode.RDMA_WRITE, local, remote))
    (done,) = bench.poll(bench.a.completions)
    assert (done.status, done.opcode, done.qp_num) == (WcStatus.SUCCESS, WcOpcode.RDMA_WRITE, left.qp_num)
    assert remote.buffer.checksum() == local.buffer.checksum()


def test_write_touches_nothing_else(bench, make, sge) -> None:
    left, _right = bench.connect()
    local, remote = bench.a.region(64, 0xAA), bench.b.region(64, 0x11)
    left.post_send(
        make(
            Opcode.RDMA_WRITE,
            sges=(sge(local, 8, 16),),
            remote_address=remote.address + 24,
            rkey=remote.rkey,
        )
    )
    assert bench.poll(bench.a.completions)[0].ok
    assert remote.buffer.read() == b"\x11" * 24 + b"\xaa" * 16 + b"\x11" * 24
    assert local.buffer.read() == b"\xaa" * 64


def test_read(bench, make) -> None:
    left, _right = bench.connect()
    local, remote = bench.a.region(10_000), bench.b.region(10_000, "text")
    left.post_send(make(Opcode.RDMA_READ, local, remote))
    (done,) = bench.poll(bench.a.completions)
    assert (done.status, done.opcode, done.byte_len) == (WcStatus.SUCCESS, WcOpcode.RDMA_READ, 10_000)
    assert local.buffer.checksum() == remote.buffer.checksum()


def test_send(bench, make, sge) -> None:
    left, right = bench.connect()
    local, remote = bench.a.region(5000, "counter"), bench.b.region(8000)
    right.post_recv(RecvRequest(77, (sge(remote),)))
    left.post_send(make(Opcode.SEND, local))
    assert bench.poll(bench.a.completions)[0].opcode is WcOpcode.SEND
    (got,) = bench.poll(bench.b.completions)
    assert (got.wr_id, got.status, got.opcode, got.byte_len) == (77, WcStatus.SUCCESS, WcOpcode.RECV, 5000)
    assert got.imm is None
    assert remote.buffer.read() == local.buffer.read() + bytes(3000)


def test_immediate_data(bench, make, sge) -> None:
    left, right = bench.connect()
    local, remote, other = bench.a.region(64, "text"), bench.b.region(64), bench.b.region(64)
    right.post_recv(RecvRequest(1, (sge(other),)))
    right.post_recv(RecvRequest(2, (sge(other),)))
    left.post_send(make(Opcode.RDMA_WRITE_WITH_IMM, local, remote, imm=0xC0FFEE))
    left.post_send(make(Opcode.SEND_WITH_IMM, local, imm=7))
    first, second = bench.poll(bench.b.completions, 2)
    assert (first.opcode, first.imm, first.byte_len) == (WcOpcode.RECV_RDMA_WITH_IMM, 0xC0FFEE, 64)
    assert (second.opcode, second.imm) == (WcOpcode.RECV, 7)
    assert remote.buffer.read() == other.buffer.read() == local.buffer.read()


def test_pieces_are_joined_and_scattered(bench, make, sge) -> None:
    left, right = bench.connect()
    local, remote = bench.a.region(64, "text"), bench.b.region(64)
    right.post_recv(RecvRequest(1, (sge(remote, 40, 4), sge(remote, 0, 60))))
    left.post_send(make(Opcode.SEND, sges=(sge(local, 32, 6), sge(local, 0, 4))))
    assert bench.poll(bench.b.completions)[0].byte_len == 10
    sent = local.buffer.read(32, 6) + local.buffer.read(0, 4)
    assert remote.buffer.read(40, 4) + remote.buffer.read(0, 6) == sent


def test_no_payload(bench, make) -> None:
    left, _right = bench.connect()
    left.post_send(make(Opcode.RDMA_WRITE))
    assert bench.poll(bench.a.completions)[0].ok


def test_inline_is_taken_when_posting(bench, make) -> None:
    left, _right = bench.connect(max_inline=64)
    local, remote = bench.a.host_region(32), bench.b.region(32)
    local.buffer.fill(0x42)
    left.post_send(make(Opcode.RDMA_WRITE, local, remote, inline=True))
    local.buffer.fill(0x13)
    assert bench.poll(bench.a.completions)[0].ok
    assert remote.buffer.read() == b"\x42" * 32


def test_unsignaled_success_is_silent(bench, make) -> None:
    left, _right = bench.connect()
    local, remote = bench.a.region(64), bench.b.region(64)
    for number in range(4):
        left.post_send(make(Opcode.RDMA_WRITE, local, remote, wr_id=number, signaled=number == 3))
    assert [c.wr_id for c in bench.poll(bench.a.completions, 2, tries=20)] == [3]


def test_completions_come_in_order(bench, make) -> None:
    left, _right = bench.connect()
    local, remote = bench.a.region(65536), bench.b.region(65536)
    opcodes = [Opcode.RDMA_WRITE, Opcode.RDMA_READ] * 20
    for number, opcode in enumerate(opcodes):
        left.post_send(make(opcode, local, remote, wr_id=number))
    assert [c.wr_id for c in bench.poll(bench.a.completions, 40)] == list(range(40))


# One broken rule after another: what is changed, and what the requester gets.
BROKEN = {
    "wrong rkey": ("write", {"rkey": 0xDEAD}, WcStatus.REM_ACCESS_ERR),
    "wrong rkey, read": ("read", {"rkey": 0xDEAD}, WcStatus.REM_ACCESS_ERR),
    "beyond the remote region": ("write", {"beyond": 1}, WcStatus.REM_ACCESS_ERR),
    "before the remote region": ("write", {"beyond": -1}, WcStatus.REM_ACCESS_ERR),
    "no remote_write": ("write", {"remote": "local_write|remote_read"}, WcStatus.REM_ACCESS_ERR),
    "no remote_read": ("read", {"remote": "local_write|remote_write"}, WcStatus.REM_ACCESS_ERR),
    "remote region of another domain": ("write", {"remote_domain": True}, WcStatus.REM_ACCESS_ERR),
    "remote region gone": ("write", {"remote_gone": True}, WcStatus.REM_ACCESS_ERR),
    "wrong lkey": ("write", {"lkey": 0xDEAD}, WcStatus.LOC_PROT_ERR),
    "beyond the local region": ("write", {"longer": 1}, WcStatus.LOC_PROT_ERR),
    "local region of another domain": ("write", {"local_domain": True}, WcStatus.LOC_PROT_ERR),
    "local region gone": ("write", {"local_gone": True}, WcStatus.LOC_PROT_ERR),
    "read into memory without local_write": ("read", {"local": ""}, WcStatus.LOC_PROT_ERR),
    "receive too short": ("send", {"short": True}, WcStatus.REM_INV_REQ_ERR),
    "receive without local_write": ("send", {"remote": "remote_read"}, WcStatus.REM_OP_ERR),
    "no receive": ("send", {"unready": True}, WcStatus.RNR_RETRY_EXC_ERR),
    "peer destroyed": ("write", {"peer_gone": True}, WcStatus.RETRY_EXC_ERR),
}

OPCODES = {"write": Opcode.RDMA_WRITE, "read": Opcode.RDMA_READ, "send": Opcode.SEND}


@pytest.mark.parametrize("rule", BROKEN)
def test_broken_rule(bench, make, sge, rule) -> None:
    op, change, status = BROKEN[rule]
    left, right = bench.connect()
    local_domain = bench.a.device.alloc_pd() if "local_domain" in change else bench.a.domain
    remote_domain = bench.b.device.alloc_pd() if "remote_domain" in change else bench.b.domain
    # One byte more is still one packet, and no more than the other side has.
    size = 4000 if "longer" in change else 4096
    local = local_domain.register(bench.a.buffer(size, "random"), change.get("local", ALL))
    remote = remote_domain.register(bench.b.buffer(4096, 0x11), change.get("remote", ALL))
    before = local.buffer.read(), remote.buffer.read()
    if op == "send" and "unready" not in change:
        right.post_recv(RecvRequest(50, (sge(remote, 0, 100 if "short" in change else 4096),)))
    piece = sge(local, 0, local.length + change.get("longer", 0))
    if "lkey" in change:
        piece = type(piece)(piece.address, piece.length, change["lkey"])
    for name, gone in (("local_gone", local.deregister), ("remote_gone", remote.deregister)):
        if name in change:
            gone()
    if "peer_gone" in change:
        right.destroy()
    left.post_send(
        make(
            OPCODES[op],
            sges=(piece,),
            remote_address=remote.address + change.get("beyond", 0),
            rkey=change.get("rkey", remote.rkey),
            signaled=False,
        )
    )
    left.post_send(make(Opcode.RDMA_WRITE, local, remote, wr_id=2))
    first, second = bench.poll(bench.a.completions, 2)
    assert (first.wr_id, first.status) == (1, bench.status(rule, status))
    assert (second.wr_id, second.status) == (2, WcStatus.WR_FLUSH_ERR)
    assert left.state is QpState.ERR
    assert (local.buffer.read(), remote.buffer.read()) == before
    if "short" in change:
        (short,) = bench.poll(bench.b.completions)
        assert short.status is bench.status(f"{rule}, receiver", WcStatus.LOC_LEN_ERR)


def test_queue_pair_without_the_right(bench, make) -> None:
    left, right = bench.a.queue_pair(), bench.b.queue_pair()
    left.connect(right.address)
    right.connect(left.address, access="remote_read")
    left.post_send(make(Opcode.RDMA_WRITE, bench.a.region(64), bench.b.region(64)))
    assert bench.poll(bench.a.completions)[0].status is WcStatus.REM_INV_REQ_ERR


def test_receiver_becomes_ready(bench, make, sge) -> None:
    left, right = bench.a.queue_pair(), bench.b.queue_pair()
    left.connect(right.address, rnr_retry=7)
    right.connect(left.address, min_rnr_timer=1)
    local, remote = bench.a.region(64, "text"), bench.b.region(64)
    left.post_send(make(Opcode.SEND, local))
    assert bench.poll(bench.a.completions, tries=20) == []
    right.post_recv(RecvRequest(9, (sge(remote),)))
    assert bench.poll(bench.a.completions)[0].ok
    assert remote.buffer.read() == local.buffer.read()


def test_a_queue_pair_works_again_after_reset(bench, make) -> None:
    left, right = bench.connect()
    local, remote = bench.a.region(64, "text"), bench.b.region(64)
    left.post_send(make(Opcode.RDMA_WRITE, local, remote, rkey=1))
    assert bench.poll(bench.a.completions)[0].status is WcStatus.REM_ACCESS_ERR
    for pair in (left, right):
        pair.modify(QpState.RESET)
    left.connect(right.address)
    right.connect(left.address)
    left.post_send(make(Opcode.RDMA_WRITE, local, remote))
    assert bench.poll(bench.a.completions)[0].ok
    assert remote.buffer.read() == local.buffer.read()
