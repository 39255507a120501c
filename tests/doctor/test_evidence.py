"""Evidence: devices under several names, distances of the best machine, logs given to their hosts."""

from __future__ import annotations

from pathlib import Path

import pytest

from gdviz.doctor import diagnose
from gdviz.doctor.evidence.devices import Devices
from gdviz.doctor.evidence.fabric import HcaList
from gdviz.doctor.evidence.log import busid_of
from gdviz.doctor.failures import errno_of
from gdviz.doctor.support import CONSUMER

LOG = """\
{host}:1:2 [0] NCCL INFO NCCL version 2.27.7+cuda12.9
{host}:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.1<0>
{host}:1:2 [0] NCCL INFO NET/IB : GPU Direct RDMA {state} for HCA 0 'mlx5_0'
"""


def test_a_gpu_is_one_under_index_and_bus_id() -> None:
    gpus = Devices(gpus=True)
    first = gpus.add(index=0)
    assert gpus.add(busid="00000000:1B:00.0", index=0) is first
    assert gpus.add(busid="1b:00.0") is first
    assert gpus.add(busid="3b:00.0", index=1) is not first
    assert first.ids == ("GPU0", "0", "0000:1b:00.0", "1b:00.0")


def test_two_ports_of_one_function_stay_two() -> None:
    nics = Devices(gpus=False)
    one = nics.add(busid="1c:00.0", name="mlx5_0")
    assert nics.add(busid="1c:00.0", name="mlx5_1") is not one
    assert nics.add(name="mlx5_0") is one


@pytest.mark.parametrize(
    ("packed", "busid"),
    [("1b000", "0000:1b:00.0"), ("50", "0000:00:05.0"), ("901000", "0009:01:00.0"), ("zz", None), ("", None)],
)
def test_packed_bus_ids(packed: str, busid: str | None) -> None:
    assert busid_of(packed) == busid


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Couldn't allocate MR with error=12", 12),
        ("failed with error Bad address", 14),
        ("failed with error Unknown error 524 errno 524", 524),
        ("failed with error Protocol not supported", 93),
        ("all is well", None),
    ],
)
def test_errno_by_number_or_words(text: str, number: int | None) -> None:
    assert errno_of(text) == number


@pytest.mark.parametrize(
    ("text", "device", "allowed"),
    [
        ("mlx5", "mlx5_3", True),
        ("=mlx5_1", "mlx5_10", False),
        ("mlx5_1", "mlx5_10", True),
        ("^mlx5_2", "mlx5_2", False),
        ("^=mlx5_1", "mlx5_10", True),
        ("mlx5_0:1,mlx5_1:1", "mlx5_1", True),
    ],
)
def test_lists_of_devices(text: str, device: str, allowed: bool) -> None:
    assert HcaList.parse(text).allows(device) is allowed


@pytest.mark.parametrize(
    ("product", "consumer"),
    [
        ("NVIDIA GeForce RTX 3090", True),
        ("TITAN RTX", True),
        ("NVIDIA RTX 6000 Ada Generation", False),
        ("Quadro RTX 8000", False),
        ("NVIDIA A100-SXM4-80GB", False),
        ("Tesla T4", False),
    ],
)
def test_cards_without_gpudirect_rdma(product: str, consumer: bool) -> None:
    assert bool(CONSUMER.search(product)) is consumer


def test_a_jobs_log_beside_the_hosts_folders_is_given_to_each_host(tmp_path: Path) -> None:
    (tmp_path / "nccl.log").write_text(
        LOG.format(host="left", state="Enabled") + LOG.format(host="right", state="Disabled")
    )
    for host in ("left", "right"):
        (tmp_path / host).mkdir()
        (tmp_path / host / "uname.txt").write_text(
            f"Linux {host} 6.8.0-45-generic #45 SMP x86_64 GNU/Linux\n"
        )
    report = diagnose(tmp_path)
    assert report.nodes == ("left", "right")
    assert {pair.node: pair.gdr for pair in report.pairs}["right"] is False
    (found,) = report.of("one-sided-gdr")
    assert found.node == "right"


def test_a_host_without_files_of_its_own_is_known_from_the_log(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(LOG.format(host="left", state="Enabled"))
    assert diagnose(tmp_path).nodes == ("left",)


def test_an_unknown_text_counts_where_an_error_stands_in_it(tmp_path: Path) -> None:
    (tmp_path / "job.out").write_text(
        "UCX  ERROR ibv_reg_mr(address=0x7f00, length=1073741824, access=0xf) failed: Cannot allocate memory\n"
    )
    (tmp_path / "ulimit.txt").write_text("$ ulimit -l\n64\n")
    report = diagnose(tmp_path)
    assert "memlock-limit" in report.codes
    assert not report.unread


def test_a_size_that_is_none_is_no_size(tmp_path: Path) -> None:
    text = (
        "cuMemAlloc() of a {size} bytes GPU buffer\nCouldn't allocate MR with error=12\nfailed to create mr\n"
    )
    (tmp_path / "perftest.txt").write_text("$ ib_write_bw --use_cuda=0\n" + text.format(size="9" * 400))
    (tmp_path / "ulimit.txt").write_text("$ ulimit -l\n64\n")
    report = diagnose(tmp_path)
    assert report.findings
