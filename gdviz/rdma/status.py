"""Completion statuses, with the names and numbers of ``enum ibv_wc_status``."""

from __future__ import annotations

from enum import IntEnum

from gdviz.messages import _


class WcStatus(IntEnum):
    """How a work request ended."""

    SUCCESS = 0
    LOC_LEN_ERR = 1
    LOC_QP_OP_ERR = 2
    LOC_EEC_OP_ERR = 3
    LOC_PROT_ERR = 4
    WR_FLUSH_ERR = 5
    MW_BIND_ERR = 6
    BAD_RESP_ERR = 7
    LOC_ACCESS_ERR = 8
    REM_INV_REQ_ERR = 9
    REM_ACCESS_ERR = 10
    REM_OP_ERR = 11
    RETRY_EXC_ERR = 12
    RNR_RETRY_EXC_ERR = 13
    LOC_RDD_VIOL_ERR = 14
    REM_INV_RD_REQ_ERR = 15
    REM_ABORT_ERR = 16
    INV_EECN_ERR = 17
    INV_EEC_STATE_ERR = 18
    FATAL_ERR = 19
    RESP_TIMEOUT_ERR = 20
    GENERAL_ERR = 21
    TM_ERR = 22
    TM_RNDV_INCOMPLETE = 23

    @property
    def meaning(self) -> str:
        """One sentence: what happened and where to look."""
        return _meanings().get(self, _("An error of the device or the driver."))


def _meanings() -> dict[WcStatus, str]:
    # A function, so that the sentences follow the language chosen at run time.
    return {
        WcStatus.SUCCESS: _("Done: the bytes are where they were sent."),
        WcStatus.LOC_LEN_ERR: _("The message is longer than this side's buffers, or than the port carries."),
        WcStatus.LOC_QP_OP_ERR: _(
            "The work request is not one that this queue pair can do. "
            "Soft-RoCE says so, too, where a local address or lkey is wrong."
        ),
        WcStatus.LOC_PROT_ERR: _(
            "A local address is outside of its memory region, the lkey names none of this protection domain, "
            "or the region does not allow local writes."
        ),
        WcStatus.WR_FLUSH_ERR: _(
            "Given back undone: the queue pair was in the error state. Look for the first error before it."
        ),
        WcStatus.MW_BIND_ERR: _("A memory window could not be bound."),
        WcStatus.BAD_RESP_ERR: _("The other side's answer made no sense."),
        WcStatus.LOC_ACCESS_ERR: _("Data that arrived could not be written into local memory."),
        WcStatus.REM_INV_REQ_ERR: _(
            "The other side refused the request: its queue pair does not allow the operation, "
            "or its receive buffer is too short."
        ),
        WcStatus.REM_ACCESS_ERR: _(
            "The other side refused access: the rkey is wrong, the address is outside of the region, "
            "or the region lacks the flag for this operation."
        ),
        WcStatus.REM_OP_ERR: _("The other side could not finish the operation, through a fault of its own."),
        WcStatus.RETRY_EXC_ERR: _(
            "No answer after all retries: the other side is gone, its queue pair is not ready, "
            "or the cable is cut."
        ),
        WcStatus.RNR_RETRY_EXC_ERR: _(
            "Receiver not ready: the other side had no receive posted, after all retries."
        ),
        WcStatus.REM_ABORT_ERR: _("The other side aborted the operation."),
        WcStatus.FATAL_ERR: _("The device failed."),
        WcStatus.RESP_TIMEOUT_ERR: _("The other side's answer took too long."),
        WcStatus.GENERAL_ERR: _(
            "An error that no other status describes; in the simulator: out of host memory."
        ),
    }
