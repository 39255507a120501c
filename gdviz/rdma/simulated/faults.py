"""Whether the messages of a bulk run may pass, judged by the rules for single messages."""

from __future__ import annotations

import errno
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gdviz.errors import QueuePairStateError, TransferError
from gdviz.messages import _
from gdviz.model import DataPath, Op
from gdviz.rdma.requests import Opcode, RecvRequest, SendRequest, Sge
from gdviz.rdma.simulated import rules
from gdviz.rdma.simulated.copying import Slots
from gdviz.rdma.simulated.sender import retry_wait_s, rnr_wait_s
from gdviz.rdma.states import QpState
from gdviz.rdma.status import WcStatus
from gdviz.rdma.transfer import Bounce, RemoteRegion, TransferSpec

if TYPE_CHECKING:
    from gdviz.rdma.simulated.network import SimulatedNetwork
    from gdviz.rdma.simulated.queue_pairs import SimulatedQueuePair
    from gdviz.rdma.simulated.regions import SimulatedRegion

OPCODES = {Op.WRITE: Opcode.RDMA_WRITE, Op.READ: Opcode.RDMA_READ, Op.SEND: Opcode.SEND}


@dataclass(frozen=True, slots=True)
class Fault:
    """Why messages do not pass.

    Attributes
    ----------
    status
        What the first of them completes with.
    wait_s
        Seconds of retries before it does; infinite where it waits for ever.
    answered
        Whether the other side answered with it (its queue pair is then in error, too).
    slot
        The first message of a round that does not pass.
    """

    pair: SimulatedQueuePair
    status: WcStatus
    wait_s: float = 0.0
    answered: bool = False
    slot: int = 0


class Inspector:
    """Makes the work request of each message and has it judged."""

    def __init__(
        self,
        network: SimulatedNetwork,
        pairs: Sequence[SimulatedQueuePair],
        local: SimulatedRegion,
        remote: RemoteRegion,
        spec: TransferSpec,
        bounce: Bounce | None,
    ) -> None:
        self._network = network
        self._pairs = pairs
        self._spec = spec
        self._local, self._remote = local, remote
        self._bounce = bounce if spec.path is DataPath.STAGED else None
        self.slots = Slots(
            spec.size_bytes,
            spec.local_offset,
            spec.remote_offset,
            local.length - spec.local_offset,
            remote.length - spec.remote_offset,
        )

    def find(self) -> Fault | None:
        """Return what is wrong with the first queue pair on which something is, or None."""
        for pair in self._pairs:
            last = self.slots.count - 1
            fault = self._judge(pair, last)
            if fault is None:
                continue
            if last and self._judge(pair, 0) is None:
                # Bounds are broken from some message of the round on: find it.
                slot = bisect_left(range(last), True, key=lambda n: self._judge(pair, n) is not None)
                fault = self._judge(pair, slot) or fault
                return Fault(fault.pair, fault.status, fault.wait_s, fault.answered, slot)
            return fault
        return None

    def _judge(self, pair: SimulatedQueuePair, number: int) -> Fault | None:
        if pair.destroyed or pair.present_state not in (QpState.RTS, QpState.SQD):
            return Fault(pair, WcStatus.WR_FLUSH_ERR)
        if pair.present_state is QpState.SQD:
            return Fault(pair, WcStatus.WR_FLUSH_ERR, float("inf"))
        if self._bounce is not None and self._local.deregistered:
            # Nothing more is staged: said as for the direct path, where the NIC finds it.
            return Fault(pair, WcStatus.LOC_PROT_ERR)
        request, receive = self._requests(number)
        status = rules.check_request(pair, request)
        if status is not WcStatus.SUCCESS:
            return Fault(pair, status)
        peer = self._network.peer_of(pair)
        if peer is None:
            return Fault(pair, WcStatus.RETRY_EXC_ERR, retry_wait_s(pair))
        verdict = rules.answer(peer, request, receive if self._spec.post_receives else None)
        if verdict.ok:
            return None
        if verdict.status is WcStatus.RNR_RETRY_EXC_ERR:
            return Fault(pair, verdict.status, rnr_wait_s(pair, peer))
        return Fault(pair, verdict.status, answered=True)

    def _requests(self, number: int) -> tuple[SendRequest, RecvRequest]:
        """Return a message's send request, and the receive that waits for it."""
        spec, offset = self._spec, self.slots.offset(number)
        length = spec.size_bytes
        local_address = self._local.address + spec.local_offset + offset
        remote_address = self._remote.address + spec.remote_offset + offset
        lkey, rkey = self._local.lkey, self._remote.rkey
        if self._bounce is not None:
            # Each end opens its bounce buffer only for the part of a message that lies in its own memory:
            # what is outside of one is outside of the other, by as much.
            local, remote = self._bounce.local, self._bounce.remote
            local_beyond = max(0, spec.local_offset + offset + length - self._local.length)
            remote_beyond = max(0, spec.remote_offset + offset + length - self._remote.length)
            length = min(length, local.length, remote.length)
            local_address = local.address + (local.length - length + local_beyond if local_beyond else 0)
            remote_address = remote.address + (remote.length - length + remote_beyond if remote_beyond else 0)
            lkey, rkey = local.lkey, remote.rkey
        request = SendRequest(
            number,
            OPCODES[spec.op],
            (Sge(local_address, length, lkey),),
            remote_address,
            rkey if spec.rkey is None else spec.rkey,
        )
        # The simulated NIC's lkey and rkey are one number.
        return request, RecvRequest(number, (Sge(remote_address, length, rkey),))


def check_start(pairs: Sequence[SimulatedQueuePair], spec: TransferSpec, bounce: Bounce | None) -> None:
    """Refuse a transfer whose numbers do not fit.

    Raises
    ------
    TransferError
        Queue pairs, depth or bounce buffers are not as the transfer needs them.
    QueuePairStateError
        A queue pair is not in RTS.
    """
    if spec.ping_pong:
        raise TransferError(
            _("A ping-pong is for real nodes."),
            _("The simulator's latencies are those of idle paths: depth=1."),
        )
    if len(pairs) != spec.qps or len(set(pairs)) != len(pairs):
        raise TransferError(
            _("The transfer wants {wanted} queue pairs and has {given}.").format(
                wanted=spec.qps, given=len(set(pairs))
            )
        )
    for pair in pairs:
        if pair.present_state is not QpState.RTS:
            raise QueuePairStateError(
                _("Queue pair {number:#x} is in {state}, not in RTS.").format(
                    number=pair.qp_num, state=pair.present_state.name
                ),
                _("Connect it first."),
                errno=errno.EINVAL,
            )
        if pair.max_send_wr < spec.depth:
            raise TransferError(
                _("{depth} messages in flight do not fit into a send queue of {limit}.").format(
                    depth=spec.depth, limit=pair.max_send_wr
                ),
                _("Make the queue pair with max_send_wr={depth}.").format(depth=spec.depth),
            )
        sharing = sum(other.send_cq is pair.send_cq for other in pairs)
        if pair.send_cq.depth < spec.depth * sharing:
            raise TransferError(
                _("{count} completions may come at once; the completion queue holds {depth}.").format(
                    count=spec.depth * sharing, depth=pair.send_cq.depth
                ),
                _("Make it deeper."),
            )
        if pair.run is not None or not pair.idle:
            raise TransferError(
                _("Queue pair {number:#x} is busy.").format(number=pair.qp_num),
                _("Wait for its work requests, or use another."),
            )
    if spec.path is DataPath.STAGED and bounce is None:
        raise TransferError(
            _("A staged transfer needs bounce buffers in host memory at both ends."),
            _("Give bounce=Bounce(local region, remote region)."),
        )
