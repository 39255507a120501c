"""Queue pairs and completion queues on real NICs, as the program sees them; they live in the worker."""

from __future__ import annotations

import errno
import secrets
from typing import TYPE_CHECKING, Unpack

from gdviz.errors import QueuePairStateError, VerbsError
from gdviz.messages import _
from gdviz.rdma.flags import Access, AccessFlags
from gdviz.rdma.hardware.backends.base import Capacity
from gdviz.rdma.hardware.remote import Worker
from gdviz.rdma.requests import Completion, Opcode, QpAddress, RecvRequest, SendRequest, WcOpcode
from gdviz.rdma.states import QpAttributes, QpState, QpType
from gdviz.rdma.status import WcStatus

if TYPE_CHECKING:
    from gdviz.rdma.hardware.devices import HardwareDevice, HardwareDomain

_PEER_ACCESS = AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ

#: READs in flight that both sides allow; what soft-RoCE and ConnectX NICs have at least.
READS = 16


def completion_of(entry: tuple[int, int, int, int, int, int, int | None]) -> Completion:
    """Return a completion from what a worker gives."""
    wr_id, status, opcode, byte_len, qp_num, vendor, imm = entry
    try:
        kind = WcOpcode(opcode)
    except ValueError:
        kind = WcOpcode.SEND  # after an error the opcode means nothing
    good = status == WcStatus.SUCCESS
    return Completion(wr_id, WcStatus(status), kind, byte_len if good else 0, qp_num, vendor, imm)


class HardwareCompletionQueue:
    """A completion queue on a real NIC."""

    def __init__(self, device: HardwareDevice, depth: int, number: int) -> None:
        self.device = device
        self.depth = depth
        self.number = number
        self.users: list[HardwareQueuePair] = []
        self.destroyed = False

    def poll(self, max_entries: int = 16) -> list[Completion]:
        """Take up to so many completions, oldest first."""
        if self.destroyed:
            raise VerbsError(_("The completion queue has been destroyed."), errno=errno.EINVAL)
        found = self.device.provider.worker.call("poll", self.number, max_entries, what="ibv_poll_cq")
        return [completion_of(entry) for entry in found]

    def destroy(self) -> None:
        """Give it back; EBUSY while a queue pair uses it. Doing it twice is fine."""
        if self.destroyed:
            return
        if self.users:
            raise VerbsError(
                _("The completion queue is used by {count} queue pairs.").format(count=len(set(self.users))),
                _("Destroy them first."),
                errno=errno.EBUSY,
            )
        self.device.provider.worker.call("give_back", self.number, what="ibv_destroy_cq")
        self.destroyed = True
        self.device.completion_queues.discard(self)


class HardwareQueuePair:
    """A queue pair on a real NIC."""

    def __init__(
        self,
        domain: HardwareDomain,
        send_cq: HardwareCompletionQueue,
        recv_cq: HardwareCompletionQueue,
        qp_type: QpType,
        limits: Capacity,
        number: int,
        qp_num: int,
    ) -> None:
        self.domain = domain
        self.send_cq, self.recv_cq = send_cq, recv_cq
        self.qp_type = qp_type
        self.limits = limits
        self.number = number
        self.qp_num = qp_num
        self.destroyed = False
        #: Who is at the other end, once connected.
        self.remote: QpAddress | None = None
        self._psn = secrets.randbits(24)
        send_cq.users.append(self)
        recv_cq.users.append(self)
        domain.queue_pairs.add(self)

    @property
    def _worker(self) -> Worker:
        return self.domain.device.provider.worker

    @property
    def state(self) -> QpState:
        """Its state, as the device says."""
        self._check_alive()
        return QpState(self._worker.call("state", self.number, what="ibv_query_qp"))

    @property
    def max_send_wr(self) -> int:
        """Work requests that the send queue holds: those that were asked for, though devices round up."""
        return self.limits.max_send_wr

    @property
    def address(self) -> QpAddress:
        """What the other side needs to connect."""
        device = self.domain.device
        return QpAddress(device.provider.node, device.nic.id, self.qp_num, self._psn, device.gid, device.lid)

    def modify(self, state: QpState, **attributes: Unpack[QpAttributes]) -> None:
        """Change the state.

        Raises
        ------
        QueuePairStateError
            EINVAL: not a step of the table, or the wrong attributes for it, or the device refuses it.
        """
        self._modify([(state, attributes)], 0)

    def _modify(self, steps: list[tuple[QpState, QpAttributes]], lid: int) -> None:
        self._check_alive()
        self._worker.call(
            "modify",
            self.number,
            steps,
            lid,
            what=_("The queue pair cannot go to {state}").format(state=steps[-1][0].name),
            error=QueuePairStateError,
            remedies={
                errno.ENETUNREACH: _("There is no route to the other port: `ping` its address."),
                errno.ETIMEDOUT: _("The other port does not answer ARP: `ping` its address."),
            },
        )

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
        init: QpAttributes = {
            "pkey_index": 0,
            "port_num": self.domain.device.nic.port,
            "qp_access_flags": _PEER_ACCESS if access is None else AccessFlags.parse(access),
        }
        receive: QpAttributes = {
            "ah_attr": remote.gid,
            "path_mtu": path_mtu,
            "dest_qp_num": remote.qp_num,
            "rq_psn": remote.psn,
            "max_dest_rd_atomic": READS,
            "min_rnr_timer": min_rnr_timer,
        }
        send: QpAttributes = {
            "sq_psn": self._psn,
            "timeout": timeout,
            "retry_cnt": retry_count,
            "rnr_retry": rnr_retry,
            "max_rd_atomic": READS,
        }
        steps = [(QpState.INIT, init), (QpState.RTR, receive), (QpState.RTS, send)]
        self._modify(steps, remote.lid)
        self.remote = remote

    def post_send(self, request: SendRequest) -> None:
        """Put a request into the send queue."""
        self._check_alive()
        self._check_pieces(len(request.sges), self.limits.max_send_sge, "max_send_sge")
        if request.inline and (request.opcode is Opcode.RDMA_READ or request.length > self.limits.max_inline):
            raise VerbsError(
                _("Inline data goes with WRITE and SEND up to max_inline={limit} bytes: EINVAL (22).").format(
                    limit=self.limits.max_inline
                ),
                errno=errno.EINVAL,
            )
        self._post("post_send", request)

    def post_recv(self, request: RecvRequest) -> None:
        """Put memory into the receive queue."""
        self._check_alive()
        self._check_pieces(len(request.sges), self.limits.max_recv_sge, "max_recv_sge")
        self._post("post_recv", request)

    def _post(self, command: str, request: SendRequest | RecvRequest) -> None:
        try:
            self._worker.call(
                command,
                self.number,
                request,
                what=f"ibv_{command}",
                remedies={
                    errno.ENOMEM: _(
                        "The queue is full. Poll completions; unsignaled requests stay until a later "
                        "signaled one is polled."
                    ),
                    errno.EBUSY: _("Stop the transfer, or use another queue pair."),
                },
            )
        except VerbsError as error:
            if error.errno == errno.EINVAL:
                raise QueuePairStateError(
                    _("A queue pair in {state} does not take this: EINVAL (22).").format(
                        state=self.state.name
                    ),
                    _("Connect it first."),
                    errno=errno.EINVAL,
                ) from None
            raise

    @staticmethod
    def _check_pieces(count: int, limit: int, name: str) -> None:
        if count > limit:
            raise VerbsError(
                _("{count} pieces are more than {name}={limit}: EINVAL (22).").format(
                    count=count, name=name, limit=limit
                ),
                errno=errno.EINVAL,
            )

    def _check_alive(self) -> None:
        if self.destroyed:
            raise VerbsError(_("The queue pair has been destroyed."), errno=errno.EINVAL)

    def destroy(self) -> None:
        """Give it back; what is in its queues is dropped. Doing it twice is fine."""
        if self.destroyed:
            return
        self._worker.call("give_back", self.number, what="ibv_destroy_qp")
        self.discard()

    def discard(self) -> None:
        """Give it back on this side alone."""
        self.destroyed = True
        self.send_cq.users.remove(self)
        self.recv_cq.users.remove(self)
        self.domain.queue_pairs.discard(self)

    def __repr__(self) -> str:
        device = self.domain.device
        return f"<QP {self.qp_num:#x} of {device.nic.id} on {device.provider.node}>"
