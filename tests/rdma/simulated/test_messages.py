"""Times, retries and faults of single messages, which only a simulation can hold still."""

from __future__ import annotations

import errno

import pytest

from gdviz.errors import GdvizError, VerbsError
from gdviz.machine import reference_machine
from gdviz.model import Endpoint, Workload, timeline
from gdviz.rdma import Location, Opcode, QpState, RecvRequest, SendRequest, Sge, WcStatus
from gdviz.rdma.simulated.timing import MessageTiming


def stages(lab, size_bytes: int):
    ends = (Endpoint(n.provider.machine, "mlx5_0", gpu=n.gpu.part) for n in (lab.a, lab.b))
    return timeline(*ends, Workload(size_bytes=size_bytes))


def test_bytes_and_completion_come_at_the_models_times(lab, write) -> None:
    left, _right = lab.connect()
    local, remote = lab.a.region(), lab.b.region()
    local.buffer.fill(1)
    plan = stages(lab, 65536)
    arrival = max(stage.end_s for stage in plan if stage.moves_bytes)
    end = max(stage.end_s for stage in plan)
    assert arrival < end
    left.post_send(write(local, remote))
    lab.clock.advance(arrival * 0.999)
    assert remote.buffer.read(0, 1) == b"\0"
    lab.clock.advance(arrival * 0.002)
    assert remote.buffer.read(0, 1) == b"\1"
    assert lab.a.poll() == []
    lab.clock.advance(end * 1.001 - lab.clock.now())
    assert lab.a.poll()[0].ok


def test_messages_follow_each_other_at_the_paths_rate(lab, write) -> None:
    left, _right = lab.connect()
    local, remote = lab.a.region(2**20), lab.b.region(2**20)
    for number in range(100):
        left.post_send(write(local, remote, number))
    port = lab.a.provider.machine.nics[0].speed_bytes_per_s
    lab.clock.advance(50 * 2**20 / port)
    done = len(lab.a.completions.poll(100))
    assert 40 <= done <= 50


def test_changes_after_posting_are_sent_until_the_bytes_go(lab, write) -> None:
    left, _right = lab.connect()
    local, remote = lab.a.region(), lab.b.region()
    left.post_send(write(local, remote))
    local.buffer.fill(9)
    lab.clock.advance(1e-3)
    assert remote.buffer.read(0, 4) == b"\x09" * 4


def test_a_cut_cable_ends_after_all_retries(lab, write) -> None:
    left, _right = lab.connect(timeout=14, retry_count=7)
    lab.network.cut("a", "b")
    left.post_send(write(lab.a.region(), lab.b.region()))
    lab.clock.advance(8 * 4.096e-6 * 2**14)
    assert lab.a.poll() == []
    lab.clock.advance(1e-3)
    assert lab.a.poll()[0].status is WcStatus.RETRY_EXC_ERR
    assert left.state is QpState.ERR


def test_a_cable_mended_in_time(lab, write) -> None:
    left, _right = lab.connect()
    lab.network.cut("b", "a")
    left.post_send(write(lab.a.region(), lab.b.region()))
    lab.clock.advance(0.1)
    lab.network.mend("a", "b")
    # Tries are 67 ms apart: the next one comes 134 ms after the first.
    lab.clock.advance(0.03)
    assert lab.a.poll() == []
    lab.clock.advance(0.005)
    assert lab.a.poll()[0].ok


def test_no_timeout_waits_for_ever(lab, write) -> None:
    left, _right = lab.connect(timeout=0)
    lab.network.cut("a", "b")
    left.post_send(write(lab.a.region(), lab.b.region()))
    lab.clock.advance(1e6)
    assert lab.a.poll() == []
    lab.network.mend("a", "b")
    lab.clock.advance(1e-3)
    assert lab.a.poll()[0].ok


def test_a_closed_node_is_gone(lab, write) -> None:
    left, _right = lab.connect()
    local, remote = lab.a.region(), lab.b.region()
    lab.b.provider.close()
    assert lab.network.nodes() == ("a",)
    left.post_send(write(local, remote))
    lab.clock.advance(1.0)
    assert lab.a.poll()[0].status is WcStatus.RETRY_EXC_ERR
    lab.node("b")


def test_a_name_is_taken_once(lab) -> None:
    with pytest.raises(GdvizError, match="'a'"):
        lab.network.provider(reference_machine("pcie-a30", "a"))


@pytest.mark.parametrize("mix_up", ["psn", "number", "one way"])
def test_peers_must_mean_each_other(lab, write, mix_up) -> None:
    left, right = (n.domain.create_qp(n.completions, n.completions) for n in (lab.a, lab.b))
    address = right.address
    if mix_up == "psn":
        address = type(address)(address.node, address.nic, address.qp_num, 5, address.gid)
        left.connect(address, timeout=8)
        right.connect(type(address)(**{**_fields(left.address), "psn": 6}), timeout=8)
    elif mix_up == "number":
        left.connect(address, timeout=8)
        third = lab.connect(timeout=8)[0].qp_num
        right.connect(type(address)(**{**_fields(left.address), "qp_num": third}), timeout=8)
    else:
        left.connect(address, timeout=8)
    left.post_send(write(lab.a.region(), lab.b.region()))
    lab.clock.advance(1.0)
    assert lab.a.poll()[0].status is WcStatus.RETRY_EXC_ERR


def _fields(address):
    return {name: getattr(address, name) for name in ("node", "nic", "qp_num", "psn", "gid")}


def test_the_responder_of_a_bad_request_is_in_error_too(lab, write) -> None:
    left, right = lab.connect()
    right.post_recv(RecvRequest(9))
    left.post_send(write(lab.a.region(), lab.b.region(), rkey=1))
    lab.clock.advance(1e-3)
    assert right.state is QpState.ERR
    assert [(c.wr_id, c.status) for c in lab.b.poll()] == [(9, WcStatus.WR_FLUSH_ERR)]


def test_a_quick_message_does_not_overtake(lab, write, monkeypatch) -> None:
    left, _right = lab.connect()
    local, remote = lab.a.region(64), lab.b.region(64)
    slow, quick = MessageTiming(1e-6, 50e-6, 1e-6), MessageTiming(1e-6, 2e-6, 1e-6)
    monkeypatch.setattr(lab.network, "timing", lambda _pair, request: slow if request.wr_id == 1 else quick)
    left.post_send(write(local, remote, 1))
    left.post_send(write(local, remote, 2))
    lab.clock.advance(49e-6)
    assert lab.a.poll() == []
    lab.clock.advance(2e-6)
    assert [c.wr_id for c in lab.a.poll()] == [1, 2]


def test_receiver_not_ready_waits_as_it_asks(lab) -> None:
    left, _right = lab.connect(rnr_retry=3, min_rnr_timer=0)
    left.post_send(SendRequest(1, Opcode.SEND, ()))
    lab.clock.advance(3 * 0.65536)
    assert lab.a.poll() == []
    lab.clock.advance(1e-3)
    assert lab.a.poll()[0].status is WcStatus.RNR_RETRY_EXC_ERR


def test_later_sends_wait_behind_one_that_is_not_ready(lab, write) -> None:
    left, right = lab.connect(rnr_retry=7)
    local, remote = lab.a.region(64), lab.b.region(64)
    left.post_send(SendRequest(1, Opcode.SEND, (Sge(local.address, 64, local.lkey),)))
    left.post_send(write(local, remote, 2))
    lab.clock.advance(1.0)
    assert lab.a.poll() == []
    right.post_recv(RecvRequest(5, (Sge(remote.address, 64, remote.lkey),)))
    lab.clock.advance(1e-2)
    assert [c.wr_id for c in lab.a.poll()] == [1, 2]


def test_drained_queue_waits(lab, write) -> None:
    left, _right = lab.connect()
    left.modify(QpState.SQD)
    left.post_send(write(lab.a.region(), lab.b.region()))
    lab.clock.advance(1.0)
    assert lab.a.poll() == []
    left.modify(QpState.RTS)
    lab.clock.advance(1e-3)
    assert lab.a.poll()[0].ok


def test_unsignaled_sends_fill_the_queue_until_a_signaled_one_is_polled(lab, write) -> None:
    left, _right = lab.connect()
    local, remote = lab.a.region(64), lab.b.region(64)
    for number in range(127):
        left.post_send(write(local, remote, number, signaled=False))
    left.post_send(write(local, remote, 127))
    lab.clock.advance(1.0)
    with pytest.raises(VerbsError) as caught:
        left.post_send(write(local, remote))
    assert caught.value.errno == errno.ENOMEM
    assert [c.wr_id for c in lab.a.poll()] == [127]
    for number in range(128):
        left.post_send(write(local, remote, number))


def test_completion_queue_overrun(lab, write) -> None:
    small = lab.a.device.create_cq(2)
    left = lab.a.domain.create_qp(small, small)
    right = lab.b.domain.create_qp(lab.b.completions, lab.b.completions)
    left.connect(right.address)
    right.connect(left.address)
    local, remote = lab.a.region(64), lab.b.region(64)
    for number in range(4):
        left.post_send(write(local, remote, number))
    lab.clock.advance(1e-3)
    assert [c.wr_id for c in small.poll()] == [0, 1]
    with pytest.raises(VerbsError) as caught:
        small.poll()
    assert caught.value.errno == errno.EOVERFLOW
    assert left.state is QpState.ERR


def test_reset_takes_completions_back(lab, write) -> None:
    left, _right = lab.connect()
    left.post_send(write(lab.a.region(), lab.b.region()))
    lab.clock.advance(1e-3)
    left.modify(QpState.RESET)
    assert lab.a.poll() == []


def test_inline_needs_host_memory(lab) -> None:
    left, _right = lab.connect()
    region = lab.a.region(64)
    with pytest.raises(VerbsError) as caught:
        left.post_send(SendRequest(1, Opcode.SEND, (Sge(region.address, 8, 0),), inline=True))
    assert caught.value.errno == errno.EFAULT
    assert left.idle


def test_host_memory_runs_out_while_writing(lab, write) -> None:
    left, _right = lab.connect()
    local, remote = lab.a.region(2**20), lab.b.region(2**20)
    local.buffer.fill(1)
    lab.network.commit.limit_bytes = lab.network.commit.used_bytes
    left.post_send(write(local, remote))
    lab.clock.advance(1e-2)
    assert lab.a.poll()[0].status is WcStatus.GENERAL_ERR


def test_two_nics_of_one_node(lab, write) -> None:
    other = lab.a.provider.device("mlx5_1")
    domain, queue = other.alloc_pd(), other.create_cq(16)
    pair, peer = domain.create_qp(queue, queue), lab.a.domain.create_qp(lab.a.completions, lab.a.completions)
    pair.connect(peer.address)
    peer.connect(pair.address)
    gpu = Location("gpu", lab.a.provider.machine.gpus[1].id)
    local, remote = domain.register(lab.a.provider.alloc(gpu, 64), "local_write"), lab.a.region(64)
    local.buffer.fill("text")
    pair.post_send(write(local, remote))
    lab.clock.advance(1e-3)
    assert queue.poll()[0].ok
    assert remote.buffer.read() == local.buffer.read()


def test_what_a_device_refuses(lab) -> None:
    with pytest.raises(VerbsError):
        lab.a.device.create_cq(0)
    queue = lab.b.completions
    with pytest.raises(VerbsError) as caught:
        lab.a.domain.create_qp(queue, queue)
    assert caught.value.errno == errno.EINVAL
    with pytest.raises(VerbsError):
        lab.a.domain.create_qp(lab.a.completions, lab.a.completions, max_send_wr=10**6)
