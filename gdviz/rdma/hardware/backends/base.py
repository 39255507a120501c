"""What gdviz needs of a Python binding of libibverbs.

Numbers are those of ``infiniband/verbs.h``; immediate data are in the host's byte order on this side of the
Protocol, whatever a binding does with them. Every call that fails raises `OSError` with the errno.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from gdviz.rdma.requests import RecvRequest, SendRequest

#: Opcodes of `gdviz.rdma.Opcode` as ``enum ibv_wr_opcode`` has them: they are the same numbers.
SIGNALED, INLINE = 1 << 1, 1 << 3

#: ``enum ibv_qp_attr_mask``, by the names of `gdviz.rdma.QpAttributes`.
ATTRIBUTE_BITS: Mapping[str, int] = {
    "en_sqd_async_notify": 1 << 2,
    "qp_access_flags": 1 << 3,
    "pkey_index": 1 << 4,
    "port_num": 1 << 5,
    "qkey": 1 << 6,
    "ah_attr": 1 << 7,
    "path_mtu": 1 << 8,
    "timeout": 1 << 9,
    "retry_cnt": 1 << 10,
    "rnr_retry": 1 << 11,
    "rq_psn": 1 << 12,
    "max_rd_atomic": 1 << 13,
    "min_rnr_timer": 1 << 15,
    "sq_psn": 1 << 16,
    "max_dest_rd_atomic": 1 << 17,
    "dest_qp_num": 1 << 20,
}
STATE_BIT = 1 << 0

#: ``enum ibv_wc_flags``: immediate data came with it.
WITH_IMM = 1 << 1

#: ``enum ibv_mtu``.
MTU_CODES: Mapping[int, int] = {256: 1, 512: 2, 1024: 3, 2048: 4, 4096: 5}


@dataclass(frozen=True, slots=True)
class Port:
    """A port, as ``ibv_query_port`` gives it.

    Attributes
    ----------
    mtu_bytes
        The active path MTU.
    active
        Whether its state is ACTIVE.
    """

    number: int
    mtu_bytes: int
    lid: int
    ethernet: bool
    active: bool


@dataclass(frozen=True, slots=True)
class Path:
    """The way to another port (``struct ibv_ah_attr``)."""

    gid: str
    lid: int
    port: int
    gid_index: int
    ethernet: bool


@dataclass(frozen=True, slots=True)
class Capacity:
    """What a queue pair shall hold (``struct ibv_qp_cap``)."""

    max_send_wr: int
    max_recv_wr: int
    max_send_sge: int
    max_recv_sge: int
    max_inline: int


#: A completion: wr_id, status, opcode, byte_len, qp_num, vendor error, immediate data or None.
Completed = tuple[int, int, int, int, int, int, int | None]


class Closable(Protocol):
    """Something that is given back."""

    def close(self) -> None:
        """Give it back."""


class Region(Closable, Protocol):
    """A memory region."""

    lkey: int
    rkey: int


class Queue(Closable, Protocol):
    """A completion queue."""

    def poll(self, most: int) -> list[Completed]:
        """Take completions, oldest first."""

    def poll_ids(self, most: int) -> list[tuple[int, int, int]] | None:
        """Take completions in a hurry: (wr_id, status, qp_num) each, None where there are none."""


class Chain(Closable, Protocol):
    """Work requests that were built once and can be posted many times, all by one call."""

    @property
    def post(self) -> Callable[[], Any]:
        """What posts all of them, and does nothing else; a failure is the binding's own error."""

    def retarget(self, number: int, local: int, remote: int) -> None:
        """Change the addresses of one, before the next `post`."""

    def immediate(self, number: int, value: int) -> None:
        """Change the immediate data of one."""


class Pair(Closable, Protocol):
    """A queue pair."""

    qp_num: int

    def modify(self, state: int, attributes: Mapping[str, Any], path: Path | None) -> None:
        """Change state and attributes; `attributes` by the names of `ATTRIBUTE_BITS`, without ah_attr."""

    def state(self) -> int:
        """Ask the device for its state."""

    def send(self, request: SendRequest) -> None:
        """Post one request."""

    def receive(self, request: RecvRequest) -> None:
        """Post one receive."""

    def chain(self, requests: Sequence[SendRequest]) -> Chain:
        """Build requests to be posted many times."""

    def receive_chain(self, requests: Sequence[RecvRequest]) -> Chain:
        """Build receives to be posted many times."""


class Domain(Closable, Protocol):
    """A protection domain."""

    def register(self, address: int, length: int, access: int) -> Region:
        """Register host memory (or GPU memory, where nvidia-peermem is loaded)."""

    def register_dmabuf(self, fd: int, offset: int, length: int, address: int, access: int) -> Region:
        """Register a dma-buf.

        Parameters
        ----------
        offset
            Where in the dma-buf the region begins.
        address
            What work requests shall call its first byte.

        Raises
        ------
        NotImplementedError
            This binding cannot, or not with this address.
        """

    def pair(self, send: Any, receive: Any, kind: int, capacity: Capacity) -> Pair:
        """Create a queue pair of two of this context's queues."""


class Context(Closable, Protocol):
    """An opened device."""

    def port(self, number: int) -> Port:
        """Ask for a port."""

    def gid(self, port: int, index: int) -> str:
        """Return a GID as an IPv6 address in its short form."""

    def domain(self) -> Domain:
        """Allocate a protection domain."""

    def queue(self, depth: int) -> Queue:
        """Create a completion queue."""


class Backend(Protocol):
    """A binding."""

    name: str
    version: str

    def devices(self) -> list[str]:
        """Return the names of the RDMA devices."""

    def open(self, name: str) -> Context:
        """Open one."""
