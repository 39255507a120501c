"""Verbs through the ``ibverbs`` wheel, which works with whatever libibverbs the system has.

Its errors are `OSError` with the errno already, it keeps everything alive that is in use, and it turns
immediate data into network byte order and back by itself.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

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
from gdviz.rdma.requests import RecvRequest, SendRequest, Sge


class _Queue:
    def __init__(self, cq: Any) -> None:
        self.cq = cq
        self._poll = cq.poll

    def poll(self, most: int) -> list[Completed]:
        return [
            (
                wc.wr_id,
                int(wc.status),
                int(wc.opcode),
                wc.byte_len,
                wc.qp_num,
                wc.vendor_err,
                wc.imm_data if wc.wc_flags & WITH_IMM else None,
            )
            for wc in self._poll(most)
        ]

    def poll_ids(self, most: int) -> list[tuple[int, int, int]] | None:
        return [(wc.wr_id, wc.status, wc.qp_num) for wc in self._poll(most)] or None

    def close(self) -> None:
        self.cq.close()


class _Chain:
    def __init__(self, post: Any, requests: list[Any], pieces: Sequence[Sge | None], sge: Any) -> None:
        self._requests = requests
        # One request needs no list, and is posted faster without.
        self.post = partial(post, requests[0] if len(requests) == 1 else requests)
        self._pieces = pieces
        self._sge = sge

    def retarget(self, number: int, local: int, remote: int) -> None:
        wr, piece = self._requests[number], self._pieces[number]
        if piece is not None:
            wr.sg_list = [self._sge(local, piece.length, piece.lkey)]
        wr.remote_addr = remote

    def immediate(self, number: int, value: int) -> None:
        self._requests[number].imm_data = value & 0xFFFFFFFF

    def close(self) -> None:
        self._requests = []


class _Pair:
    def __init__(self, qp: Any) -> None:
        import ibverbs

        self._wheel = ibverbs
        self._qp = qp
        self.qp_num: int = qp.qp_num

    def modify(self, state: int, attributes: Mapping[str, Any], path: Path | None) -> None:
        mask = STATE_BIT
        fields: dict[str, Any] = {"qp_state": state}
        for name, value in attributes.items():
            mask |= ATTRIBUTE_BITS[name]
            fields[name] = MTU_CODES[value] if name == "path_mtu" else int(value)
        if path is None:
            self._qp.modify(mask, **fields)
            return
        handle = self._wheel.AHAttr()
        handle.dgid = ipaddress.IPv6Address(path.gid).packed
        handle.is_global, handle.hop_limit, handle.sgid_index = 1, 64, path.gid_index
        handle.dlid, handle.port_num = path.lid, path.port
        self._qp.modify(mask | ATTRIBUTE_BITS["ah_attr"], ah_attr=handle, **fields)

    def state(self) -> int:
        return int(self._qp.state)

    def _sges(self, sges: Sequence[Sge]) -> list[Any]:
        return [self._wheel.SGE(sge.address, sge.length, sge.lkey) for sge in sges]

    def _sending(self, request: SendRequest) -> Any:
        return self._wheel.SendWR(
            wr_id=request.wr_id,
            sg_list=self._sges(request.sges),
            opcode=int(request.opcode),
            send_flags=(SIGNALED if request.signaled else 0) | (INLINE if request.inline else 0),
            remote_addr=request.remote_address,
            rkey=request.rkey,
            imm_data=(request.imm or 0) & 0xFFFFFFFF,
        )

    def send(self, request: SendRequest) -> None:
        self._qp.post_send(self._sending(request))

    def receive(self, request: RecvRequest) -> None:
        self._qp.post_recv(self._wheel.RecvWR(request.wr_id, self._sges(request.sges)))

    def chain(self, requests: Sequence[SendRequest]) -> _Chain:
        made = [self._sending(request) for request in requests]
        pieces = [request.sges[0] if request.sges else None for request in requests]
        return _Chain(self._qp.post_send, made, pieces, self._wheel.SGE)

    def receive_chain(self, requests: Sequence[RecvRequest]) -> _Chain:
        made = [self._wheel.RecvWR(request.wr_id, self._sges(request.sges)) for request in requests]
        return _Chain(self._qp.post_recv, made, (), self._wheel.SGE)

    def close(self) -> None:
        self._qp.close()


class _Domain:
    def __init__(self, pd: Any) -> None:
        self._pd = pd

    def register(self, address: int, length: int, access: int) -> Any:
        return self._pd.reg_mr(address, length, access)

    def register_dmabuf(self, fd: int, offset: int, length: int, address: int, access: int) -> Any:
        return self._pd.reg_dmabuf_mr(offset, length, address, fd, access)

    def pair(self, send: _Queue, receive: _Queue, kind: int, capacity: Capacity) -> _Pair:
        import ibverbs

        init = ibverbs.QPInitAttr(
            send_cq=send.cq,
            recv_cq=receive.cq,
            qp_type=kind,
            max_send_wr=capacity.max_send_wr,
            max_recv_wr=capacity.max_recv_wr,
            max_send_sge=capacity.max_send_sge,
            max_recv_sge=capacity.max_recv_sge,
            max_inline_data=capacity.max_inline,
        )
        return _Pair(self._pd.create_qp(init))

    def close(self) -> None:
        self._pd.close()


class _Context:
    def __init__(self, context: Any) -> None:
        self._context = context

    def port(self, number: int) -> Port:
        found = self._context.query_port(number)
        mtu = {code: size for size, code in MTU_CODES.items()}[int(found.active_mtu)]
        return Port(number, mtu, found.lid, int(found.link_layer) == 2, int(found.state) == 4)

    def gid(self, port: int, index: int) -> str:
        return str(ipaddress.IPv6Address(bytes(self._context.query_gid(port, index).raw)))

    def domain(self) -> _Domain:
        return _Domain(self._context.alloc_pd())

    def queue(self, depth: int) -> _Queue:
        return _Queue(self._context.create_cq(depth))

    def close(self) -> None:
        self._context.close()


class WheelBackend:
    """The ``ibverbs`` wheel, where it can be imported."""

    name = "ibverbs"

    def __init__(self) -> None:
        import ibverbs

        self._wheel = ibverbs
        self.version: str = ibverbs.__version__

    def devices(self) -> list[str]:
        """Return the names of the RDMA devices."""
        return sorted(found.name for found in self._wheel.get_device_list())

    def open(self, name: str) -> _Context:
        """Open one."""
        for found in self._wheel.get_device_list():
            if found.name == name:
                return _Context(found.open())
        raise OSError(19, f"there is no RDMA device {name!r}")
