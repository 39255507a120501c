"""Simulated queue pairs: their state, and what is in their queues."""

from __future__ import annotations

import errno
import itertools
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Unpack

import numpy as np
from numpy.typing import NDArray

from gdviz.errors import QueuePairStateError, VerbsError
from gdviz.messages import _
from gdviz.rdma.flags import Access, AccessFlags
from gdviz.rdma.requests import Completion, Opcode, QpAddress, RecvRequest, SendRequest, WcOpcode
from gdviz.rdma.simulated.completions import SimulatedCompletionQueue
from gdviz.rdma.simulated.sender import Sender, SendWork
from gdviz.rdma.states import QpAttributes, QpState, QpType, check_transition
from gdviz.rdma.status import WcStatus

if TYPE_CHECKING:
    from gdviz.rdma.simulated.devices import SimulatedDomain

_PEER_ACCESS = AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ


@dataclass(frozen=True, slots=True)
class QueueLimits:
    """How much the queues of a pair hold (``struct ibv_qp_cap``)."""

    max_send_wr: int
    max_recv_wr: int
    max_send_sge: int
    max_recv_sge: int
    max_inline: int

    def against(self, most: QueueLimits) -> Iterator[tuple[str, int, int]]:
        """Go through name, value and the most that is allowed."""
        for item in fields(self):
            yield item.name, getattr(self, item.name), getattr(most, item.name)


@dataclass(slots=True)
class Receive:
    """A posted receive and its number in the queue."""

    request: RecvRequest
    ticket: int


class SimulatedQueuePair:
    """A simulated queue pair of a reliable connection."""

    def __init__(
        self,
        domain: SimulatedDomain,
        send_cq: SimulatedCompletionQueue,
        recv_cq: SimulatedCompletionQueue,
        qp_type: QpType,
        limits: QueueLimits,
    ) -> None:
        self.domain = domain
        self.send_cq = send_cq
        self.recv_cq = recv_cq
        self.qp_type = qp_type
        self.limits = limits
        self.qp_num = domain.device.next_qp_num()
        self.attributes: QpAttributes = {}
        self.destroyed = False
        self.run: object | None = None
        self.network = domain.device.provider.network
        self.receives: deque[Receive] = deque()
        self.sender = Sender(self)
        self._state = QpState.RESET
        self._tickets = itertools.count(1)
        self._sends_held: deque[int] = deque()
        self._receives_held: deque[int] = deque()
        # Any 24-bit number will do; this one differs from pair to pair, so that a mix-up shows.
        self._psn = (self.qp_num * 0x9E3779) & 0xFFFFFF
        send_cq.users.append(self)
        recv_cq.users.append(self)

    @property
    def state(self) -> QpState:
        """Its state, as of the clock's time."""
        self.network.settle()
        return self._state

    @property
    def present_state(self) -> QpState:
        """Its state at the time that the simulation has come to."""
        return self._state

    @property
    def max_send_wr(self) -> int:
        """Work requests that the send queue holds."""
        return self.limits.max_send_wr

    @property
    def address(self) -> QpAddress:
        """What the other side needs to connect."""
        device = self.domain.device
        return QpAddress(device.provider.node, device.nic.id, self.qp_num, self._psn, device.gid)

    def modify(self, state: QpState, **attributes: Unpack[QpAttributes]) -> None:
        """Change the state."""
        self._check_alive()
        self.network.settle()
        check_transition(self._state, state, self.qp_type, attributes)
        if state is QpState.RESET:
            self._reset()
        elif state is QpState.ERR:
            self.enter_error()
        else:
            self.attributes.update(attributes)
            self._state = state
        self.network.changed()
        self.sender.kick()

    def connect(
        self,
        remote: QpAddress,
        *,
        access: Access | None = None,
        path_mtu: int = 4096,
        timeout: int = 14,
        retry_count: int = 7,
        rnr_retry: int = 6,
        min_rnr_timer: int = 12,
    ) -> None:
        """Go from RESET (or INIT) to RTS towards a queue pair."""
        if self.state is QpState.RESET:
            self.modify(
                QpState.INIT,
                pkey_index=0,
                port_num=self.domain.device.nic.port,
                qp_access_flags=_PEER_ACCESS if access is None else AccessFlags.parse(access),
            )
        self.modify(
            QpState.RTR,
            ah_attr=remote.gid,
            path_mtu=path_mtu,
            dest_qp_num=remote.qp_num,
            rq_psn=remote.psn,
            max_dest_rd_atomic=16,
            min_rnr_timer=min_rnr_timer,
        )
        self.modify(
            QpState.RTS,
            sq_psn=self._psn,
            timeout=timeout,
            retry_cnt=retry_count,
            rnr_retry=rnr_retry,
            max_rd_atomic=16,
        )

    def post_send(self, request: SendRequest) -> None:
        """Put a request into the send queue."""
        self._check_alive()
        self.network.settle()
        if not self._state.takes_sends:
            raise QueuePairStateError(
                _("A queue pair in {state} takes no sends: EINVAL (22).").format(state=self._state.name),
                _("Connect it first."),
                errno=errno.EINVAL,
            )
        if self.run is not None:
            raise VerbsError(
                _("Queue pair {number:#x} is busy with a transfer.").format(number=self.qp_num),
                _("Stop the transfer, or use another queue pair."),
                errno=errno.EBUSY,
            )
        if len(request.sges) > self.limits.max_send_sge:
            raise VerbsError(
                _("{count} pieces are more than max_send_sge={limit}: EINVAL (22).").format(
                    count=len(request.sges), limit=self.limits.max_send_sge
                ),
                errno=errno.EINVAL,
            )
        payload = self._inline_payload(request)
        if len(self._sends_held) >= self.limits.max_send_wr:
            raise VerbsError(
                _("The send queue is full: max_send_wr={limit}, ENOMEM (12).").format(
                    limit=self.limits.max_send_wr
                ),
                _("Poll completions; unsignaled requests stay until a later signaled one is polled."),
                errno=errno.ENOMEM,
            )
        ticket = next(self._tickets)
        self._sends_held.append(ticket)
        self.sender.post(request, ticket, payload)

    def _inline_payload(self, request: SendRequest) -> NDArray[np.uint8] | None:
        if not request.inline:
            return None
        if request.opcode is Opcode.RDMA_READ or request.length > self.limits.max_inline:
            raise VerbsError(
                _("Inline data goes with WRITE and SEND up to max_inline={limit} bytes: EINVAL (22).").format(
                    limit=self.limits.max_inline
                ),
                errno=errno.EINVAL,
            )
        # The CPU copies it when posting, by address, without any key.
        return self.domain.device.provider.host_bytes(request.sges)

    def post_recv(self, request: RecvRequest) -> None:
        """Put memory into the receive queue."""
        self._check_alive()
        self.network.settle()
        if not self._state.takes_receives:
            raise QueuePairStateError(
                _("A queue pair in RESET takes no receives: EINVAL (22)."),
                _("Bring it to INIT first."),
                errno=errno.EINVAL,
            )
        if len(request.sges) > self.limits.max_recv_sge:
            raise VerbsError(
                _("{count} pieces are more than max_recv_sge={limit}: EINVAL (22).").format(
                    count=len(request.sges), limit=self.limits.max_recv_sge
                ),
                errno=errno.EINVAL,
            )
        if len(self._receives_held) >= self.limits.max_recv_wr:
            raise VerbsError(
                _("The receive queue is full: max_recv_wr={limit}, ENOMEM (12).").format(
                    limit=self.limits.max_recv_wr
                ),
                _("Poll the completion queue of receives."),
                errno=errno.ENOMEM,
            )
        ticket = next(self._tickets)
        self._receives_held.append(ticket)
        receive = Receive(request, ticket)
        if self._state is QpState.ERR:
            self.complete_receive(receive, WcStatus.WR_FLUSH_ERR)
            return
        self.receives.append(receive)
        self.network.wake_senders()

    def complete_send(self, work: SendWork, status: WcStatus) -> None:
        """Put a send's completion into its queue; an unsignaled success makes none."""
        if status is WcStatus.SUCCESS and not work.request.signaled:
            return
        length = work.request.length if status is WcStatus.SUCCESS else 0
        opcode = WcOpcode.of(work.request.opcode)
        completion = Completion(work.request.wr_id, status, opcode, length, self.qp_num)
        self.send_cq.push(completion, self, sent=True, ticket=work.ticket)

    def complete_receive(
        self,
        receive: Receive,
        status: WcStatus,
        length: int = 0,
        *,
        opcode: WcOpcode = WcOpcode.RECV,
        imm: int | None = None,
    ) -> None:
        """Put a receive's completion into its queue."""
        completion = Completion(receive.request.wr_id, status, opcode, length, self.qp_num, 0, imm)
        self.recv_cq.push(completion, self, sent=False, ticket=receive.ticket)

    def polled(self, *, sent: bool, ticket: int) -> None:
        """Free the places in a queue up to a request whose completion was polled."""
        held = self._sends_held if sent else self._receives_held
        while held and held[0] <= ticket:
            held.popleft()

    @property
    def idle(self) -> bool:
        """Whether the send queue holds nothing."""
        return not self._sends_held

    def enter_error(self) -> None:
        """Go to ERR and flush both queues, in the order of posting."""
        if self._state in (QpState.ERR, QpState.RESET) or self.destroyed:
            return
        self._state = QpState.ERR
        for work in self.sender.drop_all():
            self.complete_send(work, WcStatus.WR_FLUSH_ERR)
        while self.receives:
            self.complete_receive(self.receives.popleft(), WcStatus.WR_FLUSH_ERR)
        self.network.changed()

    def _reset(self) -> None:
        self._state = QpState.RESET
        self.attributes = {}
        self.sender.drop_all()
        self.receives.clear()
        self._sends_held.clear()
        self._receives_held.clear()
        for queue in {self.send_cq, self.recv_cq}:
            queue.purge(self)

    def _check_alive(self) -> None:
        if self.destroyed:
            raise VerbsError(_("The queue pair has been destroyed."), errno=errno.EINVAL)

    def destroy(self) -> None:
        """Give it back; what is in its queues is dropped. Doing it twice is fine."""
        if self.destroyed:
            return
        self.network.settle()
        self.discard()
        self.network.changed()

    def discard(self) -> None:
        """Give it back without telling anyone."""
        self._reset()
        self.destroyed = True
        self.send_cq.users.remove(self)
        self.recv_cq.users.remove(self)
        del self.domain.device.queue_pairs[self.qp_num]

    def __repr__(self) -> str:
        state = "destroyed" if self.destroyed else self._state.name
        return f"<QP {self.qp_num:#x} of {self.address.nic} on {self.address.node}, {state}>"
