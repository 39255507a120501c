from __future__ import annotations

from typing import Any

import pytest

from gdviz.doctor.verdict import (
    Question,
    counted_distance,
    nccl_verdict,
    ucx_knows_cuda,
    ucx_verdict,
    verbs_verdict,
)
from gdviz.doctor.versions import NcclVersion


def ask(distance: str | None, **more: Any) -> bool | None:
    more.setdefault("nic_gdr", True)
    more.setdefault("version", NcclVersion(2, 27, 5))
    return nccl_verdict(Question(distance, **more)).gdr


def test_near_pairs_use_it_and_far_ones_do_not() -> None:
    assert [ask(kind) for kind in ("PIX", "PXB", "PHB", "NODE", "SYS")] == [True, True, False, False, False]


def test_support_comes_before_distance() -> None:
    assert ask("PIX", nic_gdr=False) is False
    assert ask("PIX", gpu_gdr=False) is False
    assert ask("PIX", nic_gdr=None) is None
    assert ask("SYS", nic_gdr=None) is False, "beyond the level whatever the NIC can"
    assert ask(None) is None


@pytest.mark.parametrize(
    ("level", "kind", "used"),
    [
        ("LOC", "PIX", False),
        ("PIX", "PXB", False),
        ("PHB", "PHB", True),
        ("PHB", "SYS", False),
        ("SYS", "SYS", True),
    ],
)
def test_level_of_the_user(level: str, kind: str, used: bool) -> None:
    assert ask(kind, level=level) is used


@pytest.mark.parametrize(
    ("version", "c2c", "level", "counted", "used"),
    [
        ((2, 25, 1), None, None, "PHB", False),
        ((2, 25, 1), None, "PHB", "PHB", True),
        ((2, 26, 2), None, None, "PHB", False),
        ((2, 26, 2), True, None, "C2C", True),
        ((2, 27, 5), None, None, "C2C", True),
        ((2, 27, 5), None, "PXB", "C2C", True),
        ((2, 28, 9), False, None, "P2C", False),
        ((2, 29, 2), None, None, "P2C", True),
        ((2, 29, 2), None, "PXB", "P2C", False),
        ((2, 30, 7), None, "PIX", "P2C", False),
        ((2, 30, 7), False, None, "P2C", False),
    ],
)
def test_over_nvlink_c2c_each_release_differs(
    version: tuple[int, ...], c2c: bool | None, level: str | None, counted: str, used: bool
) -> None:
    question = Question("P2C", NcclVersion(*version), True, True, level, c2c)
    assert counted_distance(question) == counted
    assert nccl_verdict(question).gdr is used


def test_over_nvlink_c2c_without_a_version_it_cannot_be_told() -> None:
    assert nccl_verdict(Question("P2C", None, True, True)).gdr is None


@pytest.mark.parametrize(
    ("capability", "nvlink", "gpus", "setting", "sends"),
    [
        (75, False, 4, None, False),
        (70, True, 8, None, None),
        (75, False, 1, None, None),
        (80, False, 4, None, None),
        (90, False, 4, False, False),
        (75, False, 4, True, None),
    ],
)
def test_sends_of_old_gpus_are_staged(
    capability: int, nvlink: bool, gpus: int, setting: bool | None, sends: bool | None
) -> None:
    verdict = nccl_verdict(
        Question("PIX", NcclVersion(2, 20), True, True, None, None, setting, capability, nvlink, gpus)
    )
    assert verdict.gdr is True
    assert verdict.sends is sends


def test_a_proxy_gpu_counts_with_its_own_distance() -> None:
    assert ask("SYS", proxy_distance="PIX") is True


@pytest.mark.parametrize(
    ("tls", "knows"),
    [
        ("rc_x,sm,self,gdr_copy", False), ("rc,cuda_copy", True), ("all", True), ("^sm", True), ("^cuda_copy", False),
        ("rc,cuda", True), ("", True),
    ],
)  # fmt: skip
def test_what_ucx_tls_leaves(tls: str, knows: bool) -> None:
    assert ucx_knows_cuda(tls) is knows


def test_ucx_and_verbs_only_need_registration() -> None:
    assert ucx_verdict(True).gdr is True
    assert ucx_verdict(True, tls="rc,sm").gdr is False
    assert ucx_verdict(True, direct_rdma="n").gdr is False
    assert ucx_verdict(None).gdr is None
    assert [verbs_verdict(known).gdr for known in (True, False, None)] == [True, False, None]
