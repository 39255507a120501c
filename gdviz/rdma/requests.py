"""Work requests and completions, as plain records."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from gdviz.rdma.status import WcStatus


class Opcode(IntEnum):
    """What a send work request asks for (``enum ibv_wr_opcode``)."""

    RDMA_WRITE = 0
    RDMA_WRITE_WITH_IMM = 1
    SEND = 2
    SEND_WITH_IMM = 3
    RDMA_READ = 4

    @property
    def takes_receive(self) -> bool:
        """Whether it uses up a receive that the other side has posted."""
        return self in (Opcode.SEND, Opcode.SEND_WITH_IMM, Opcode.RDMA_WRITE_WITH_IMM)

    @property
    def has_immediate(self) -> bool:
        """Whether it carries four bytes of immediate data."""
        return self in (Opcode.SEND_WITH_IMM, Opcode.RDMA_WRITE_WITH_IMM)


class WcOpcode(IntEnum):
    """What has completed (``enum ibv_wc_opcode``)."""

    SEND = 0
    RDMA_WRITE = 1
    RDMA_READ = 2
    RECV = 128
    RECV_RDMA_WITH_IMM = 129

    @classmethod
    def of(cls, opcode: Opcode) -> WcOpcode:
        """Return the sender's completion opcode for a work request's."""
        if opcode is Opcode.RDMA_READ:
            return cls.RDMA_READ
        return cls.SEND if opcode in (Opcode.SEND, Opcode.SEND_WITH_IMM) else cls.RDMA_WRITE


@dataclass(frozen=True, slots=True)
class Sge:
    """One piece of local memory: `length` bytes at `address` in the region that `lkey` names."""

    address: int
    length: int
    lkey: int


@dataclass(frozen=True, slots=True)
class SendRequest:
    """A work request for the send queue.

    Attributes
    ----------
    wr_id
        The caller's number, given back in the completion.
    sges
        Local memory: sent from, or (READ) written to.
    remote_address, rkey
        For WRITE and READ: where in the other side's memory.
    imm
        Immediate data, 32 bits, for the ``..._WITH_IMM`` opcodes.
    signaled
        Whether success makes a completion. Errors always do. An unsignaled request holds its place in the
        queue until a later signaled one has been polled.
    inline
        Copy the payload into the queue when posting: needs no lkey, and the memory is free at once.
    """

    wr_id: int
    opcode: Opcode
    sges: tuple[Sge, ...] = ()
    remote_address: int = 0
    rkey: int = 0
    imm: int | None = None
    signaled: bool = True
    inline: bool = False

    @property
    def length(self) -> int:
        """Bytes of the message."""
        return sum(sge.length for sge in self.sges)


@dataclass(frozen=True, slots=True)
class RecvRequest:
    """A work request for the receive queue: memory that a SEND may fill."""

    wr_id: int
    sges: tuple[Sge, ...] = ()

    @property
    def length(self) -> int:
        """Bytes that fit."""
        return sum(sge.length for sge in self.sges)


@dataclass(frozen=True, slots=True)
class Completion:
    """What a completion queue holds.

    Attributes
    ----------
    byte_len
        Bytes moved; meaningful for receives and READ, and 0 after an error.
    vendor_error
        The device's own code; 0 in the simulator.
    """

    wr_id: int
    status: WcStatus
    opcode: WcOpcode
    byte_len: int
    qp_num: int
    vendor_error: int = 0
    imm: int | None = None

    @property
    def ok(self) -> bool:
        """Whether it succeeded."""
        return self.status is WcStatus.SUCCESS

    def __str__(self) -> str:
        return f"wr {self.wr_id} on QP {self.qp_num:#x}: {self.opcode.name} {self.status.name}"


@dataclass(frozen=True, slots=True)
class QpAddress:
    """What two sides tell each other before they connect.

    Attributes
    ----------
    psn
        First packet sequence number, 24 bits.
    gid
        Address of the port in the fabric.
    lid
        Its address in an InfiniBand subnet; 0 on Ethernet.
    """

    node: str
    nic: str
    qp_num: int
    psn: int
    gid: str
    lid: int = 0
