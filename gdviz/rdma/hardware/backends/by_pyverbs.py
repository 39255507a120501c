"""Verbs through pyverbs, the binding that comes with rdma-core.

What it does otherwise than one would think, up to version 64:

- Buffers inside SGE, SendWR and RecvWR are never freed by themselves: they are closed here.
- Immediate data are passed as they are, in network byte order.
- Closing a queue or a domain closes what hangs on it, too: objects are closed here in reverse order.
- A work request needs an SGE to be made; an empty message gets one and is then told that it has none.
- `DmaBufMR` takes the offset for the address as well, so its addresses count from the dma-buf's start.
"""

from __future__ import annotations

import ipaddress
import itertools
import socket
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import metadata
from typing import Any, TypeVar

from gdviz.rdma.hardware.backends.base import (
    ATTRIBUTE_BITS,
    INLINE,
    MTU_CODES,
    SIGNALED,
    STATE_BIT,
    WITH_IMM,
    Capacity,
    Completed,
    Path,
    Port,
)
from gdviz.rdma.requests import RecvRequest, SendRequest

_T = TypeVar("_T")


def _call(function: Callable[..., _T], *arguments: Any, **named: Any) -> _T:
    """Call pyverbs; its errors become OSError."""
    from pyverbs.pyverbs_error import PyverbsError

    try:
        return function(*arguments, **named)
    except PyverbsError as error:
        code = getattr(error, "error_code", None)
        if isinstance(code, int) and code > 0:
            raise OSError(code, str(error)) from error
        # PyverbsRDMAErrno puts the errno into its text alone: "Failed to ... Errno: 22, Invalid argument".
        digits = "".join(c if c.isdigit() else " " for c in str(error).rpartition("Errno:")[2]).split()
        raise OSError(int(digits[0]) if digits else 5, str(error)) from error


class _Region:
    def __init__(self, mr: Any) -> None:
        self._mr = mr
        self.lkey: int = mr.lkey
        self.rkey: int = mr.rkey

    def close(self) -> None:
        _call(self._mr.close)


class _Queue:
    def __init__(self, cq: Any) -> None:
        self.cq = cq
        self._poll = cq.poll

    def poll(self, most: int) -> list[Completed]:
        found = []
        for wc in _call(self._poll, most)[1]:
            imm = socket.ntohl(wc.imm_data & 0xFFFFFFFF) if wc.wc_flags & WITH_IMM else None
            found.append((wc.wr_id, wc.status, wc.opcode, wc.byte_len, wc.qp_num, wc.vendor_err, imm))
        return found

    def poll_ids(self, most: int) -> list[tuple[int, int, int]] | None:
        count, found = self._poll(most)
        return [(wc.wr_id, wc.status, wc.qp_num) for wc in found] if count else None

    def close(self) -> None:
        _call(self.cq.close)


class _Chain:
    """Linked work requests; each has one SGE of its own, whose address can be changed."""

    def __init__(self, post: Callable[[Any], Any], requests: list[Any], sges: list[Any]) -> None:
        self._requests, self._sges = requests, sges
        self.post = partial(post, requests[0])
        for earlier, later in itertools.pairwise(requests):
            earlier.next_wr = later

    def retarget(self, number: int, local: int, remote: int) -> None:
        self._sges[number].addr = local
        if remote:
            self._requests[number].set_wr_rdma(self._rkeys[number], remote)

    def immediate(self, number: int, value: int) -> None:
        self._requests[number].imm_data = socket.htonl(value & 0xFFFFFFFF)

    _rkeys: Sequence[int] = ()

    def with_rkeys(self, rkeys: Sequence[int]) -> _Chain:
        """Remember the keys, which pyverbs sets together with the address."""
        self._rkeys = rkeys
        return self

    def close(self) -> None:
        for sge in self._sges:
            sge.close()
        self._requests, self._sges = [], []


class _Pair:
    def __init__(self, qp: Any) -> None:
        from pyverbs.qp import QPAttr
        from pyverbs.wr import SGE, RecvWR, SendWR

        self._qp = qp
        self.qp_num: int = qp.qp_num
        self._attr, self._sge, self._send_wr, self._recv_wr = QPAttr, SGE, SendWR, RecvWR

    def modify(self, state: int, attributes: Mapping[str, Any], path: Path | None) -> None:
        attr = self._attr(qp_state=state)
        mask = STATE_BIT
        for name, value in attributes.items():
            mask |= ATTRIBUTE_BITS[name]
            setattr(attr, name, MTU_CODES[value] if name == "path_mtu" else int(value))
        if path is not None:
            mask |= ATTRIBUTE_BITS["ah_attr"]
            attr.ah_attr = _handle(path)
        _call(self._qp.modify, attr, mask)

    def state(self) -> int:
        found: int = _call(self._qp.query, STATE_BIT)[0].qp_state
        return found

    def _made(self, kind: Any, pieces: list[Any], **fields: Any) -> Any:
        """Make a work request that refers to an SGE of ours, or to a copy of several."""
        wr = kind(num_sge=max(1, len(pieces)), sg=pieces or [self._sge(0, 0, 0)], **fields)
        if not pieces:
            wr.num_sge = 0
        return wr

    def _sending(self, request: SendRequest) -> tuple[Any, list[Any]]:
        pieces = [self._sge(sge.address, sge.length, sge.lkey) for sge in request.sges]
        flags = (SIGNALED if request.signaled else 0) | (INLINE if request.inline else 0)
        imm = 0 if request.imm is None else socket.htonl(request.imm & 0xFFFFFFFF)
        named = {"wr_id": request.wr_id, "opcode": int(request.opcode), "imm_data": imm, "send_flags": flags}
        wr = self._made(self._send_wr, pieces, **named)
        wr.set_wr_rdma(request.rkey, request.remote_address)
        return wr, pieces

    def send(self, request: SendRequest) -> None:
        wr, pieces = self._sending(request)
        try:
            _call(self._qp.post_send, wr)
        finally:
            _freed(wr, *pieces)

    def receive(self, request: RecvRequest) -> None:
        pieces = [self._sge(sge.address, sge.length, sge.lkey) for sge in request.sges]
        wr = self._made(self._recv_wr, pieces, wr_id=request.wr_id)
        try:
            _call(self._qp.post_recv, wr)
        finally:
            _freed(wr, *pieces)

    def chain(self, requests: Sequence[SendRequest]) -> _Chain:
        made, sges = [], []
        for request in requests:
            wr, pieces = self._sending(request)
            if pieces:
                wr.close()  # frees its copy of the SGE; from here on it refers to ours
                wr.sg_list = pieces[0]
            made.append(wr)
            sges += pieces
        return _Chain(self._qp.post_send, made, sges).with_rkeys([request.rkey for request in requests])

    def receive_chain(self, requests: Sequence[RecvRequest]) -> _Chain:
        # A RecvWR keeps its own copy of the SGE: addresses are fixed, which is all that receives need.
        made = []
        for request in requests:
            pieces = [self._sge(sge.address, sge.length, sge.lkey) for sge in request.sges]
            made.append(self._made(self._recv_wr, pieces, wr_id=request.wr_id))
            _freed(*pieces)
        return _Chain(self._qp.post_recv, made, [])

    def close(self) -> None:
        _call(self._qp.close)


def _freed(*objects: Any) -> None:
    for thing in objects:
        thing.close()


def _handle(path: Path) -> Any:
    from pyverbs.addr import GID, AHAttr, GlobalRoute

    route = GlobalRoute(
        dgid=GID(ipaddress.IPv6Address(path.gid).exploded), sgid_index=path.gid_index, hop_limit=64
    )
    return AHAttr(dlid=path.lid, is_global=1, port_num=path.port, gr=route)


class _Domain:
    def __init__(self, pd: Any) -> None:
        self._pd = pd

    def register(self, address: int, length: int, access: int) -> _Region:
        from pyverbs.mr import MR

        return _Region(_call(MR, self._pd, length, access, address))

    def register_dmabuf(self, fd: int, offset: int, length: int, address: int, access: int) -> _Region:
        # Its DmaBufMR takes the offset for the address: work requests would have to count from there.
        raise NotImplementedError("pyverbs registers a dma-buf at no address of one's choice")

    def pair(self, send: _Queue, receive: _Queue, kind: int, capacity: Capacity) -> _Pair:
        from pyverbs.qp import QP, QPCap, QPInitAttr

        cap = QPCap(
            max_send_wr=capacity.max_send_wr,
            max_recv_wr=capacity.max_recv_wr,
            max_send_sge=capacity.max_send_sge,
            max_recv_sge=capacity.max_recv_sge,
            max_inline_data=capacity.max_inline,
        )
        init = QPInitAttr(qp_type=kind, scq=send.cq, rcq=receive.cq, cap=cap, sq_sig_all=0)
        return _Pair(_call(QP, self._pd, init))

    def close(self) -> None:
        _call(self._pd.close)


class _Context:
    def __init__(self, name: str) -> None:
        from pyverbs.device import Context

        self._context = _call(Context, name=name)

    def port(self, number: int) -> Port:
        found = _call(self._context.query_port, number)
        mtu = {code: size for size, code in MTU_CODES.items()}[found.active_mtu]
        return Port(number, mtu, found.lid, found.link_layer == 2, found.state == 4)

    def gid(self, port: int, index: int) -> str:
        return str(ipaddress.IPv6Address(_call(self._context.query_gid, port, index).gid))

    def domain(self) -> _Domain:
        from pyverbs.pd import PD

        return _Domain(_call(PD, self._context))

    def queue(self, depth: int) -> _Queue:
        from pyverbs.cq import CQ

        return _Queue(_call(CQ, self._context, depth))

    def close(self) -> None:
        _call(self._context.close)


class PyverbsBackend:
    """pyverbs, where it can be imported."""

    name = "pyverbs"

    def __init__(self) -> None:
        from pyverbs import addr, cq, device, mr, pd, qp, wr  # noqa: F401  (all at once, and in time)

        self._device = device
        try:
            self.version = metadata.version("pyverbs")
        except metadata.PackageNotFoundError:
            # The distribution's package brings no metadata; it is of the same rdma-core as libibverbs.
            self.version = "of this system's rdma-core"

    def devices(self) -> list[str]:
        """Return the names of the RDMA devices."""
        return sorted(found.name.decode() for found in _call(self._device.get_device_list))

    def open(self, name: str) -> _Context:
        """Open one."""
        return _Context(name)
