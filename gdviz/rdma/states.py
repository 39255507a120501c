"""The states of a queue pair, and the one table of what leads from each to each.

After the table of the InfiniBand specification (volume 1, 10.3 and 11.2.5.2) as ``ibv_modify_qp(3)`` gives
it. Everything that affects the state of a queue pair by a call lives here; what errors do to it lives with
the provider. Attribute names are those of ``struct ibv_qp_attr``.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import TypedDict

from gdviz.errors import QueuePairStateError
from gdviz.messages import _
from gdviz.rdma.flags import AccessFlags


class QpType(IntEnum):
    """Transport service (``enum ibv_qp_type``)."""

    RC = 2
    UC = 3
    UD = 4


class QpState(Enum):
    """State of a queue pair (``enum ibv_qp_state``)."""

    RESET = 0
    INIT = 1
    RTR = 2
    RTS = 3
    SQD = 4
    SQE = 5
    ERR = 6

    @property
    def takes_sends(self) -> bool:
        """Whether `post_send` is allowed (in ERR and SQE the request is flushed)."""
        return self in (QpState.RTS, QpState.SQD, QpState.SQE, QpState.ERR)

    @property
    def takes_receives(self) -> bool:
        """Whether `post_recv` is allowed."""
        return self is not QpState.RESET

    @property
    def answers(self) -> bool:
        """Whether requests of the other side are answered."""
        return self in (QpState.RTR, QpState.RTS, QpState.SQD, QpState.SQE)

    @property
    def meaning(self) -> str:
        """One sentence."""
        return {
            QpState.RESET: _("New, or reset: nothing can be posted."),
            QpState.INIT: _("Receives can be posted; nothing is answered yet."),
            QpState.RTR: _("Ready to receive: requests of the other side are answered."),
            QpState.RTS: _("Ready to send."),
            QpState.SQD: _("Send queue drained: new sends wait."),
            QpState.SQE: _("Send queue error: sends are flushed, receives go on (not for RC)."),
            QpState.ERR: _("Error: everything in the queues is flushed."),
        }[self]


class QpAttributes(TypedDict, total=False):
    """Attributes of a change of state.

    `ah_attr` is the other port's GID; `path_mtu` is in bytes; `timeout` is the exponent of the local ACK
    timeout (4.096 µs times two to it, 0 for ever); `min_rnr_timer` is the code of the wait before a retry
    (`RNR_TIMER_S`); `rnr_retry` 7 retries for ever.
    """

    pkey_index: int
    port_num: int
    qp_access_flags: AccessFlags
    qkey: int
    ah_attr: str
    path_mtu: int
    dest_qp_num: int
    rq_psn: int
    max_dest_rd_atomic: int
    min_rnr_timer: int
    timeout: int
    retry_cnt: int
    rnr_retry: int
    sq_psn: int
    max_rd_atomic: int
    en_sqd_async_notify: bool


@dataclass(frozen=True, slots=True)
class Transition:
    """One allowed change of state.

    Attributes
    ----------
    types
        Services that have it.
    required, optional
        Names of attributes that must, and that may, be given.
    """

    source: QpState
    target: QpState
    types: frozenset[QpType]
    required: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()


def _row(source: QpState, target: QpState, types: str, required: str = "", optional: str = "") -> Transition:
    kinds = frozenset(QpType[name] for name in types.split())
    return Transition(source, target, kinds, frozenset(required.split()), frozenset(optional.split()))


_S = QpState
TRANSITIONS: tuple[Transition, ...] = (
    _row(_S.RESET, _S.INIT, "RC UC", "pkey_index port_num qp_access_flags"),
    _row(_S.RESET, _S.INIT, "UD", "pkey_index port_num qkey"),
    _row(_S.INIT, _S.INIT, "RC UC", "", "pkey_index port_num qp_access_flags"),
    _row(_S.INIT, _S.INIT, "UD", "", "pkey_index port_num qkey"),
    _row(
        _S.INIT,
        _S.RTR,
        "RC",
        "ah_attr path_mtu dest_qp_num rq_psn max_dest_rd_atomic min_rnr_timer",
        "pkey_index qp_access_flags",
    ),
    _row(_S.INIT, _S.RTR, "UC", "ah_attr path_mtu dest_qp_num rq_psn", "pkey_index qp_access_flags"),
    _row(_S.INIT, _S.RTR, "UD", "", "pkey_index qkey"),
    _row(
        _S.RTR,
        _S.RTS,
        "RC",
        "sq_psn timeout retry_cnt rnr_retry max_rd_atomic",
        "qp_access_flags min_rnr_timer",
    ),
    _row(_S.RTR, _S.RTS, "UC", "sq_psn", "qp_access_flags"),
    _row(_S.RTR, _S.RTS, "UD", "sq_psn", "qkey"),
    _row(_S.RTS, _S.RTS, "RC", "", "qp_access_flags min_rnr_timer"),
    _row(_S.RTS, _S.RTS, "UC", "", "qp_access_flags"),
    _row(_S.RTS, _S.RTS, "UD", "", "qkey"),
    _row(_S.RTS, _S.SQD, "RC UC UD", "", "en_sqd_async_notify"),
    _row(_S.SQD, _S.RTS, "RC", "", "qp_access_flags min_rnr_timer"),
    _row(_S.SQD, _S.RTS, "UC", "", "qp_access_flags"),
    _row(_S.SQD, _S.RTS, "UD", "", "qkey"),
    _row(
        _S.SQD,
        _S.SQD,
        "RC",
        "",
        "pkey_index port_num qp_access_flags ah_attr max_rd_atomic max_dest_rd_atomic min_rnr_timer timeout "
        "retry_cnt rnr_retry",
    ),
    _row(_S.SQD, _S.SQD, "UC", "", "pkey_index qp_access_flags ah_attr"),
    _row(_S.SQD, _S.SQD, "UD", "", "pkey_index qkey"),
    _row(_S.SQE, _S.RTS, "UC", "", "qp_access_flags"),
    _row(_S.SQE, _S.RTS, "UD", "", "qkey"),
    *(_row(state, _S.RESET, "RC UC UD") for state in QpState),
    *(_row(state, _S.ERR, "RC UC UD") for state in QpState),
)

#: Seconds that each `min_rnr_timer` code stands for (InfiniBand specification, volume 1, table 45).
RNR_TIMER_S: tuple[float, ...] = tuple(
    milliseconds / 1000
    for milliseconds in (
        *(655.36, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.12, 0.16, 0.24, 0.32, 0.48, 0.64, 0.96, 1.28, 1.92),
        *(2.56, 3.84, 5.12, 7.68, 10.24, 15.36, 20.48, 30.72, 40.96, 61.44, 81.92, 122.88, 163.84, 245.76),
        *(327.68, 491.52),
    )
)

#: Values that a valid attribute lies in, both ends included.
_RANGES = {
    "timeout": (0, 31),
    "retry_cnt": (0, 7),
    "rnr_retry": (0, 7),
    "min_rnr_timer": (0, 31),
    "rq_psn": (0, 2**24 - 1),
    "sq_psn": (0, 2**24 - 1),
    "dest_qp_num": (0, 2**24 - 1),
}


def ack_timeout_s(timeout: int) -> float:
    """Return the seconds of a local ACK timeout's exponent (4.096 µs times two to it; 0 is for ever)."""
    return 4.096e-6 * 2**timeout if timeout else float("inf")


def find_transition(source: QpState, target: QpState, qp_type: QpType) -> Transition | None:
    """Return the row of the table for a change of state, or None if there is none."""
    for row in TRANSITIONS:
        if row.source is source and row.target is target and qp_type in row.types:
            return row
    return None


def check_transition(source: QpState, target: QpState, qp_type: QpType, given: QpAttributes) -> None:
    """Refuse a change of state that the table does not have, or that lacks or has too many attributes.

    Raises
    ------
    QueuePairStateError
        EINVAL; the sentence names what is missing.
    """
    row = find_transition(source, target, qp_type)
    if row is None:
        ways = [r.target.name for r in TRANSITIONS if r.source is source and qp_type in r.types]
        raise QueuePairStateError(
            _("A queue pair does not go from {source} to {target}.").format(
                source=source.name, target=target.name
            ),
            _("From {source} it goes to {ways}.").format(
                source=source.name, ways=", ".join(dict.fromkeys(ways))
            ),
            errno=errno.EINVAL,
        )
    names = set(given)
    if missing := row.required - names:
        raise QueuePairStateError(
            _("From {source} to {target}, these attributes are missing: {names}.").format(
                source=source.name, target=target.name, names=", ".join(sorted(missing))
            ),
            errno=errno.EINVAL,
        )
    if extra := names - row.required - row.optional:
        raise QueuePairStateError(
            _("From {source} to {target}, these attributes cannot be set: {names}.").format(
                source=source.name, target=target.name, names=", ".join(sorted(extra))
            ),
            errno=errno.EINVAL,
        )
    for name, (low, high) in _RANGES.items():
        value = given.get(name)
        if isinstance(value, int) and not low <= value <= high:
            raise QueuePairStateError(
                _("{name} goes from {low} to {high}, not {value}.").format(
                    name=name, low=low, high=high, value=value
                ),
                errno=errno.EINVAL,
            )
