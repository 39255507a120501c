"""The rules that a NIC checks on every message; single work requests and bulk runs both come here.

The statuses are those of the InfiniBand specification (volume 1, 9.7 and 10.10): a fault in local memory is
LOC_PROT_ERR; the responder's answers are REM_ACCESS_ERR for keys, bounds and rights of its memory,
REM_INV_REQ_ERR for what its queue pair does not allow, REM_OP_ERR for a fault of its own receive buffer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gdviz.rdma.flags import AccessFlags
from gdviz.rdma.requests import Opcode, RecvRequest, SendRequest, Sge
from gdviz.rdma.status import WcStatus

if TYPE_CHECKING:
    from gdviz.rdma.simulated.queue_pairs import SimulatedQueuePair
    from gdviz.rdma.simulated.regions import SimulatedRegion

#: Longest message of a reliable connection (InfiniBand specification, volume 1, 9.7.7).
MAX_MESSAGE_BYTES = 2**31

_WRITES = (Opcode.RDMA_WRITE, Opcode.RDMA_WRITE_WITH_IMM)


@dataclass(frozen=True, slots=True)
class Answer:
    """What becomes of a request.

    Attributes
    ----------
    status
        For the requester.
    receive
        For the responder's receive, if it used one up.
    """

    status: WcStatus
    receive: WcStatus | None = None

    @property
    def ok(self) -> bool:
        """Whether it may go ahead."""
        return self.status is WcStatus.SUCCESS


def local_region(pair: SimulatedQueuePair, sge: Sge) -> SimulatedRegion | None:
    """Return the region that a piece of local memory lies in, None if it is in none it may use."""
    region = pair.domain.device.regions.get(sge.lkey)
    if region is None or region.domain is not pair.domain or not region.holds(sge.address, sge.length):
        return None
    return region


def local_memory_ok(pair: SimulatedQueuePair, sges: Sequence[Sge], *, written: bool) -> bool:
    """Whether pieces of local memory may be read, or `written`, by the NIC."""
    for sge in sges:
        if not sge.length:
            continue
        region = local_region(pair, sge)
        if region is None or (written and not region.access & AccessFlags.LOCAL_WRITE):
            return False
    return True


def check_request(pair: SimulatedQueuePair, request: SendRequest) -> WcStatus:
    """Return how the requester's own NIC judges a request."""
    if request.length > MAX_MESSAGE_BYTES:
        return WcStatus.LOC_LEN_ERR
    reads = request.opcode is Opcode.RDMA_READ
    if reads and not pair.attributes.get("max_rd_atomic", 0):
        return WcStatus.LOC_QP_OP_ERR
    if not request.inline and not local_memory_ok(pair, request.sges, written=reads):
        return WcStatus.LOC_PROT_ERR
    return WcStatus.SUCCESS


def remote_region(peer: SimulatedQueuePair, request: SendRequest) -> SimulatedRegion | None:
    """Return the region that a WRITE or READ reaches, None if it may reach none."""
    region = peer.domain.device.regions.get(request.rkey)
    if region is None or region.domain is not peer.domain:
        return None
    if not region.holds(request.remote_address, request.length):
        return None
    writes = request.opcode in _WRITES
    needed = AccessFlags.REMOTE_WRITE if writes else AccessFlags.REMOTE_READ
    return region if region.access & needed else None


def answer(peer: SimulatedQueuePair, request: SendRequest, receive: RecvRequest | None) -> Answer:
    """Return how the responder answers a request.

    Parameters
    ----------
    peer
        The responder's queue pair, in a state in which it answers.
    receive
        The receive that the request uses up, if its opcode takes one and one is posted.

    Returns
    -------
    Answer
        RNR_RETRY_EXC_ERR stands for "not ready, try again".
    """
    opcode = request.opcode
    if opcode in _WRITES or opcode is Opcode.RDMA_READ:
        needed = AccessFlags.REMOTE_WRITE if opcode in _WRITES else AccessFlags.REMOTE_READ
        if not AccessFlags(peer.attributes.get("qp_access_flags", 0)) & needed:
            return Answer(WcStatus.REM_INV_REQ_ERR)
        if opcode is Opcode.RDMA_READ and not peer.attributes.get("max_dest_rd_atomic", 0):
            return Answer(WcStatus.REM_INV_REQ_ERR)
        # Without a payload neither key nor address is looked at (9.7.4.1.4).
        if request.length and remote_region(peer, request) is None:
            return Answer(WcStatus.REM_ACCESS_ERR)
    if not opcode.takes_receive:
        return Answer(WcStatus.SUCCESS)
    if receive is None:
        return Answer(WcStatus.RNR_RETRY_EXC_ERR)
    if opcode is Opcode.RDMA_WRITE_WITH_IMM:
        return Answer(WcStatus.SUCCESS, WcStatus.SUCCESS)
    if request.length > receive.length:
        return Answer(WcStatus.REM_INV_REQ_ERR, WcStatus.LOC_LEN_ERR)
    if not local_memory_ok(peer, receive.sges, written=True):
        return Answer(WcStatus.REM_OP_ERR, WcStatus.LOC_PROT_ERR)
    return Answer(WcStatus.SUCCESS, WcStatus.SUCCESS)
