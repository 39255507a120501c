"""From a transfer as it is asked for to what the workers at both ends are told."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gdviz.errors import QueuePairStateError, TransferError
from gdviz.messages import _
from gdviz.model import DataPath, Op
from gdviz.rdma.hardware.queue_pairs import HardwareQueuePair
from gdviz.rdma.hardware.regions import HardwareRegion
from gdviz.rdma.hardware.worker.work import Order
from gdviz.rdma.provider import MemoryRegion, QueuePair
from gdviz.rdma.requests import Opcode
from gdviz.rdma.states import QpState
from gdviz.rdma.transfer import Bounce, RemoteRegion, TransferSpec

if TYPE_CHECKING:
    from gdviz.rdma.hardware.provider import HardwareProvider

OPCODES = {Op.WRITE: Opcode.RDMA_WRITE, Op.READ: Opcode.RDMA_READ, Op.SEND: Opcode.SEND}


class Asked:
    """A transfer that has been asked for, with everything that it needs checked.

    Raises
    ------
    TransferError
        The numbers do not fit: queue pairs, depth, bounce buffers; or things are of another node.
    QueuePairStateError
        A queue pair is not in RTS.
    """

    def __init__(
        self,
        provider: HardwareProvider,
        qps: Sequence[QueuePair],
        local: MemoryRegion,
        remote: RemoteRegion,
        spec: TransferSpec,
        bounce: Bounce | None,
        *,
        serving: bool = False,
    ) -> None:
        self.spec, self.remote, self.serving = spec, remote, serving
        self.pairs = [pair for pair in qps if isinstance(pair, HardwareQueuePair)]
        if len(self.pairs) != len(qps) or not isinstance(local, HardwareRegion):
            raise TransferError(_("Queue pairs and region must be real ones."))
        self.region = local
        domains = [*(pair.domain for pair in self.pairs), local.domain]
        if any(domain.device.provider is not provider for domain in domains):
            raise TransferError(_("Queue pairs and region must be of {node}.").format(node=provider.node))
        self.bounce = bounce if spec.path is DataPath.STAGED else None
        self._check()

    @property
    def needs_service(self) -> bool:
        """Whether the other end has work to do."""
        spec = self.spec
        if spec.ping_pong:
            return spec.op is not Op.READ
        return spec.path is DataPath.STAGED or spec.op is Op.SEND

    @property
    def window(self) -> int:
        """Receives that are posted at the other end: both ends make their queues alike."""
        return max(1, min(self.spec.depth, *(pair.limits.max_recv_wr for pair in self.pairs)))

    def _check(self) -> None:
        spec = self.spec
        if len(self.pairs) != spec.qps or len(set(self.pairs)) != len(self.pairs):
            raise TransferError(
                _("The transfer wants {wanted} queue pairs and has {given}.").format(
                    wanted=spec.qps, given=len(set(self.pairs))
                )
            )
        staged = spec.path is DataPath.STAGED
        if staged and self.bounce is None:
            raise TransferError(
                _("A staged transfer needs bounce buffers in host memory at both ends."),
                _("Give bounce=Bounce(local region, remote region)."),
            )
        if self.region.deregistered or (not staged and self.region.number is None):
            raise TransferError(
                _("The buffer is not registered: the NIC cannot read or write it."),
                _("Register it, or take the staged path."),
            )
        for pair in self.pairs:
            self._check_pair(pair)

    def _check_pair(self, pair: HardwareQueuePair) -> None:
        spec, state = self.spec, pair.state
        if state is not QpState.RTS:
            raise QueuePairStateError(
                _("Queue pair {number:#x} is in {state}, not in RTS.").format(
                    number=pair.qp_num, state=state.name
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
        sharing = sum(other.send_cq is pair.send_cq for other in self.pairs)
        if pair.send_cq.depth < spec.depth * sharing:
            raise TransferError(
                _("{count} completions may come at once; the completion queue holds {depth}.").format(
                    count=spec.depth * sharing, depth=pair.send_cq.depth
                ),
                _("Make it deeper."),
            )


@dataclass(frozen=True, slots=True)
class _Shift:
    here: int
    there: int


def order_of(asked: Asked) -> tuple[list[int], Order, tuple[int, int], tuple[int, int] | None]:
    """Return what a worker is told: queue pairs, the order, and where data and bounce buffer are."""
    spec, region, remote = asked.spec, asked.region, asked.remote
    offsets = (
        (spec.remote_offset, spec.local_offset) if asked.serving else (spec.local_offset, spec.remote_offset)
    )
    shift = _Shift(*offsets)
    local_bytes, remote_bytes = region.length - shift.here, remote.length - shift.there
    remote_key = remote.rkey if spec.rkey is None or asked.serving else spec.rkey
    places = None
    bounce = None
    if asked.bounce is not None:
        near, far = asked.bounce.local, asked.bounce.remote
        if not isinstance(near, HardwareRegion) or near.number is None:
            raise TransferError(_("The bounce buffer must be registered host memory of this node."))
        far_key = far.rkey if spec.rkey is None or asked.serving else spec.rkey
        places = ((near.address, near.lkey, near.length), (far.address, far_key, far.length))
        bounce = (near.buffer.number, near.offset)
    order = Order(
        opcode=OPCODES[spec.op],
        size_bytes=spec.size_bytes,
        depth=spec.depth,
        count=spec.count,
        duration_s=spec.duration_s,
        local=region.address + shift.here,
        local_key=region.lkey,
        local_bytes=local_bytes,
        remote=remote.address + shift.there,
        remote_key=remote_key,
        remote_bytes=remote_bytes,
        span_bytes=max(spec.size_bytes, min(local_bytes, remote_bytes)),
        window=asked.window,
        staged=asked.bounce is not None,
        bounce=places,
        post_receives=spec.post_receives,
    )
    return (
        [pair.number for pair in asked.pairs],
        order,
        (region.buffer.number, region.offset + shift.here),
        bounce,
    )


def peer_of(
    asked: Asked,
) -> tuple[HardwareProvider, list[HardwareQueuePair], HardwareRegion, Bounce | None] | None:
    """Return the other end, where it lives in this process: node, queue pairs, region, bounce buffers."""
    far = asked.remote.handle
    if not isinstance(far, HardwareRegion):
        return None
    provider = far.domain.device.provider
    there = {
        (pair.address.nic, pair.qp_num): pair
        for device in provider.opened
        for domain in device.domains
        for pair in domain.queue_pairs
    }
    pairs = []
    for pair in asked.pairs:
        remote = pair.remote
        found = None if remote is None else there.get((remote.nic, remote.qp_num))
        if found is None:
            return None
        pairs.append(found)
    bounce = None
    if asked.bounce is not None:
        handle = asked.bounce.remote.handle
        if not isinstance(handle, HardwareRegion):
            return None
        bounce = Bounce(handle, RemoteRegion.of(asked.bounce.local))
    return provider, pairs, far, bounce
