from __future__ import annotations

import errno

import pytest

from gdviz.errors import QueuePairStateError
from gdviz.rdma.states import (
    RNR_TIMER_S,
    TRANSITIONS,
    QpState,
    QpType,
    ack_timeout_s,
    check_transition,
    find_transition,
)

# From ibv_modify_qp(3), the table of the RC service.
RC_REQUIRED = {
    ("RESET", "INIT"): {"pkey_index", "port_num", "qp_access_flags"},
    ("INIT", "RTR"): {
        *("ah_attr", "path_mtu", "dest_qp_num", "rq_psn", "max_dest_rd_atomic", "min_rnr_timer"),
    },
    ("RTR", "RTS"): {"sq_psn", "max_rd_atomic", "retry_cnt", "rnr_retry", "timeout"},
}


@pytest.mark.parametrize("step", RC_REQUIRED)
def test_required_attributes(step) -> None:
    row = find_transition(QpState[step[0]], QpState[step[1]], QpType.RC)
    assert row is not None
    assert row.required == RC_REQUIRED[step]


def test_each_step_is_in_the_table_once() -> None:
    steps = [(row.source, row.target, kind) for row in TRANSITIONS for kind in row.types]
    assert len(steps) == len(set(steps))


def test_every_state_leads_to_reset_and_error() -> None:
    for state in QpState:
        for kind in QpType:
            assert find_transition(state, QpState.RESET, kind)
            assert find_transition(state, QpState.ERR, kind)


def test_no_send_queue_error_for_reliable_connections() -> None:
    assert find_transition(QpState.SQE, QpState.RTS, QpType.RC) is None
    assert find_transition(QpState.SQE, QpState.RTS, QpType.UD) is not None


def test_attributes_that_do_not_belong() -> None:
    with pytest.raises(QueuePairStateError, match="timeout") as caught:
        check_transition(QpState.RTS, QpState.RTS, QpType.RC, {"timeout": 14})
    assert caught.value.errno == errno.EINVAL
    check_transition(QpState.RTS, QpState.RTS, QpType.RC, {"min_rnr_timer": 3})


def test_values_out_of_range() -> None:
    with pytest.raises(QueuePairStateError, match="min_rnr_timer"):
        check_transition(QpState.RTS, QpState.RTS, QpType.RC, {"min_rnr_timer": 32})


def test_a_wrong_step_names_the_right_ones() -> None:
    with pytest.raises(QueuePairStateError, match="INIT"):
        check_transition(QpState.RESET, QpState.RTS, QpType.RC, {})


def test_timers() -> None:
    assert ack_timeout_s(14) == pytest.approx(67.1e-3, rel=1e-3)
    assert ack_timeout_s(0) == float("inf")
    assert len(RNR_TIMER_S) == 32
    assert (RNR_TIMER_S[0], RNR_TIMER_S[1], RNR_TIMER_S[12], RNR_TIMER_S[31]) == pytest.approx(
        (0.65536, 1e-5, 0.64e-3, 0.49152)
    )
    assert list(RNR_TIMER_S[1:]) == sorted(RNR_TIMER_S[1:])
