from __future__ import annotations

import pytest

from gdviz.errors import GdvizError, TransferError
from gdviz.rdma import LIFE_CYCLE, TransferEvent, TransferSpec, TransferState
from gdviz.rdma.transfer import next_state


def test_every_state_is_in_the_table_and_reached() -> None:
    reached = {target for row in LIFE_CYCLE.values() for target in row.values()}
    assert set(LIFE_CYCLE) == set(TransferState)
    assert reached == set(TransferState) - {TransferState.CREATED}


def test_final_states() -> None:
    assert {state for state in TransferState if state.final} == {
        TransferState.COMPLETED,
        TransferState.STOPPED,
        TransferState.FAILED,
    }


def test_no_way_back() -> None:
    with pytest.raises(TransferError, match="completed"):
        next_state(TransferState.COMPLETED, TransferEvent.STOP)


@pytest.mark.parametrize(
    "change",
    [
        {"count": 0},
        {"duration_s": 0},
        {"local_offset": -1},
        {"remote_offset": -1},
        {"size_bytes": 0},
        {"depth": 0},
        {"qps": 0},
    ],
)
def test_spec_refuses(change) -> None:
    with pytest.raises(GdvizError):
        TransferSpec(**change)
