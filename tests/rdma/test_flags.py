from __future__ import annotations

import errno

import pytest

from gdviz.errors import VerbsError
from gdviz.rdma import AccessFlags, WcOpcode, WcStatus


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("local_write|remote_write", 3),
        ("LOCAL_WRITE, remote read", 5),
        ("IBV_ACCESS_REMOTE_READ", 4),
        ("", 0),
        ("local_read", 0),
        (AccessFlags.REMOTE_READ, 4),
        (["local_write", AccessFlags.RELAXED_ORDERING], 1 + (1 << 20)),
    ],
)
def test_parse(value, wanted) -> None:
    assert AccessFlags.parse(value) == wanted


def test_text_is_read_back() -> None:
    flags = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ
    assert flags.text == "local_write|remote_read"
    assert AccessFlags.parse(flags.text) == flags
    assert AccessFlags(0).text == "local_read"


def test_unknown_flag_names_the_known_ones() -> None:
    with pytest.raises(VerbsError, match="remote_write") as caught:
        AccessFlags.parse("remote_wirte")
    assert caught.value.errno == errno.EINVAL


def test_numbers_are_those_of_verbs() -> None:
    assert (WcStatus.WR_FLUSH_ERR, WcStatus.RNR_RETRY_EXC_ERR, WcStatus.GENERAL_ERR) == (5, 13, 21)
    assert (WcOpcode.RDMA_READ, WcOpcode.RECV, WcOpcode.RECV_RDMA_WITH_IMM) == (2, 128, 129)


def test_every_status_has_a_meaning() -> None:
    assert all(status.meaning.endswith(".") for status in WcStatus)
    assert "rkey" in WcStatus.REM_ACCESS_ERR.meaning
