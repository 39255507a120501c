from __future__ import annotations

from pathlib import Path

import pytest

from gdviz.readers import nccl_log
from gdviz.readers.nccl_log import NcclLog

LOG = """\
NCCL version 2.21.5+cuda12.4
rack1-n03:900:917 [2] NCCL INFO NCCL_IB_GID_INDEX set by environment to 3.
rack1-n03:900:917 [2] NCCL INFO NET/IB : Using [0]mlx5_4:1/RoCE [1]mlx5_7:1/IB [RO]; OOB eth9:10.1.2.3<0>
rack1-n03:900:917 [2] NCCL INFO NET/IB : GPU Direct RDMA Enabled for HCA 0 'mlx5_4'
rack1-n03:900:917 [2] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 1 'mlx5_7'
rack1-n03:900:917 [2] NCCL INFO comm 0x55aa rank 10 nranks 16 cudaDev 2 nvmlDev 2 busId 4c000 commId 0x9 - Init START
rack1-n03:900:917 [2] NCCL INFO GPU Direct RDMA Enabled for GPU 4c000 / HCA 0 (distance 4 <= 4), read 1
rack1-n03:900:917 [2] NCCL INFO GPU Direct RDMA Disabled for GPU 4c000 / HCA 1 (distance 7 > 4)
rack1-n03:900:917 [2] NCCL INFO Channel 03/0 : 10[2] -> 2[2] [send] via NET/IB/0/GDRDMA
rack1-n03:900:917 [2] NCCL INFO Channel 03/0 : 2[2] -> 10[2] [receive] via NET/IB/1
"""


def facts(text: str) -> NcclLog:
    assert nccl_log.looks_like(text)
    found = nccl_log.read(text, source="job.log").facts
    assert isinstance(found, NcclLog)
    return found


def test_a_rank_says_what_it_found() -> None:
    log = facts(LOG)
    assert (log.version, log.version_line, log.is_rccl) == ("2.21.5", 1, False)
    assert (log.hosts, log.plugins) == (("rack1-n03",), ("IB",))
    assert [(s.name, s.value, s.line, s.host) for s in log.env] == [
        ("NCCL_IB_GID_INDEX", "3", 2, "rack1-n03")
    ]
    assert [(n.index, n.name, n.port, n.layer, n.line) for n in log.nics] == [
        (0, "mlx5_4", 1, "RoCE", 3),
        (1, "mlx5_7", 1, "IB", 3),
    ]
    assert [(h.index, h.name, h.enabled, h.gpu) for h in log.hcas] == [
        (0, "mlx5_4", True, 2),
        (1, "mlx5_7", False, 2),
    ]
    (rank,) = log.ranks
    assert (rank.rank, rank.ranks, rank.gpu, rank.busid, rank.pid) == (10, 16, 2, "4c000", 900)
    assert [(d.gpu_text, d.nic, d.enabled, d.distance, d.level, d.reads) for d in log.decisions] == [
        ("4c000", 0, True, 4, 4, True),
        ("4c000", 1, False, 7, 4, None),
    ]
    assert [(c.channel, c.source, c.target, c.sends, c.nic, c.gdr, c.line) for c in log.channels] == [
        (3, 10, 2, True, 0, True, 9),
        (3, 2, 10, False, 1, False, 10),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "{}",
        "[1,3]<stdout>:{}",
        "3: {}",
        "\x1b[36m(Worker pid=7)\x1b[0m {}",
        "2026-05-05T06:16:47.1Z stdout F {}",
        "May 05 06:16:47 rack launcher[9]: {}",
        "[2026-05-05 06:16:47] {}",
        "worker-0 | {}",
        "{}\r",
    ],
)
def test_prefixes_of_launchers_do_not_matter(line: str) -> None:
    text = "\n".join(line.format(each) for each in LOG.splitlines())
    log = facts(text)
    plain = facts(LOG)
    assert (log.version, log.hosts) == (plain.version, plain.hosts)
    assert log.channels == plain.channels
    assert log.decisions == plain.decisions
    assert log.env == plain.env


@pytest.mark.parametrize(
    ("via", "expected"),
    [
        ("NET/IB/0/GDRDMA", ("IB", 0, True, "")),
        ("NET/IB/0", ("IB", 0, False, "")),
        ("NET/IB/2(5)/GDRDMA", ("IB", 2, True, "")),
        ("NET/IB/0/GDRDMA(PCI)", ("IB", 0, True, "PCI")),
        ("NET/IB/0/GDRDMA/Shared", ("IB", 0, True, "Shared")),
        ("NET/AWS Libfabric/3/GDRDMA", ("AWS Libfabric", 3, True, "")),
        ("NET/Socket/0", ("Socket", 0, False, "")),
    ],
)
def test_ways_over_the_network(via: str, expected: tuple[str, int, bool, str]) -> None:
    (channel,) = facts(f"h:1:2 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via {via}").channels
    assert (channel.plugin, channel.nic, channel.gdr, channel.mode) == expected


def test_old_releases_name_rings_and_bus_ids() -> None:
    log = facts(
        "NCCL version 2.4.8+cuda10.1\n"
        "h:1:2 [3] NCCL INFO NET/IB : GPU Direct RDMA Enabled for GPU 3[5e000] / HCA 0 (distance 1 <= 2), read 0\n"
        "h:1:2 [3] NCCL INFO Ring 00 : 3 -> 4 [send] via NET/IB/0/GDRDMA\n"
        "h:1:2 [3] NCCL INFO Channel 01 : 3[5e000] -> 4[1a000] [send] via NET/IB/0\n"
    )
    assert log.version == "2.4.8"
    assert (log.decisions[0].gpu_text, log.decisions[0].reads) == ("3[5e000]", False)
    assert [(c.source_gpu, c.gdr) for c in log.channels] == [("", True), ("5e000", False)]


@pytest.mark.parametrize(
    ("line", "version", "rccl"),
    [
        ("NCCL version 2.30.3+cuda13.0", "2.30.3", False),
        ("RCCL version 2.18.3+hip6.0 HEAD:1234", "2.18.3", True),
        ("RCCL version : 2.22.3-develop:abc", "2.22.3", True),
        ("h:1:1 [0] NCCL INFO NCCL version 2.28.9+cuda13.0", "2.28.9", False),
    ],
)
def test_versions(line: str, version: str, rccl: bool) -> None:
    log = facts(line)
    assert (log.version, log.is_rccl) == (version, rccl)


@pytest.mark.parametrize(
    ("text", "call", "errno", "status", "vendor"),
    [
        ("Call to ibv_reg_mr failed with error Bad address", "ibv_reg_mr", 14, None, None),
        ("Call to ibv_reg_mr failed with error Cannot allocate memory", "ibv_reg_mr", 12, None, None),
        (
            "Call to ibv_reg_dmabuf_mr failed with error Unknown error 524 errno 524",
            "ibv_reg_dmabuf_mr",
            524,
            None,
            None,
        ),
        (
            "Call to ibv_modify_qp failed with error Connection timed out errno 110",
            "ibv_modify_qp",
            110,
            None,
            None,
        ),
        (
            "NET/IB : Got completion from peer 10.0.0.1<5> with status=12 opcode=0 len=0 vendor err 129 (Send)",
            None,
            None,
            12,
            129,
        ),
        (
            "NET/IB : Got completion from peer 10.0.0.1<5> with error 4, opcode 1, len 2, vendor err 81 (Recv)",
            None,
            None,
            4,
            81,
        ),
        ("Cuda failure 'out of memory'", None, None, None, None),
    ],
)
def test_warnings_name_call_and_number(
    text: str, call: str | None, errno: int | None, status: int | None, vendor: int | None
) -> None:
    (found,) = facts(f"h:1:2 [0] misc/ibvwrap.cc:186 NCCL WARN {text}").warnings
    assert (found.call, found.errno, found.status, found.vendor_error) == (call, errno, status, vendor)
    assert (found.host, found.gpu, found.line) == ("h", 0, 1)


def test_devices_of_newer_releases_give_speed_and_bus() -> None:
    text = (
        "h:1:2 [1] NCCL INFO NET/IB: [1] mlx5_1:uverbs1:1/RoCE provider=Mlx5 speed=400000 context=0x7 "
        "pciPath=/sys/devices/pci0000:4a/0000:4a:02.0/0000:4B:00.1 ar=0"
    )
    (nic,) = facts(text).nics
    assert (nic.speed_bytes_per_s, nic.busid, nic.layer) == (50e9, "0000:4b:00.1", "RoCE")


def test_two_ranks_in_one_line_and_a_torn_table() -> None:
    lines = [
        f"node-a:1:2 [0] NCCL INFO Channel 0{n}/0 : 1[0] -> 0[0] [receive] via NET/IB/0" for n in range(6)
    ]
    lines += [
        "  64   16  float  sumnode-a:1:2 [0] NCCL INFO Using network IB",
        "node-a:1:2 [0] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'a'node-a:1:3 [1] NCCL INFO NET/IB : GPU Direct RDMA Enabled for HCA 1 'b'",
    ]
    log = facts("\n".join(lines))
    assert log.hosts == ("node-a",)
    assert [(h.gpu, h.name, h.enabled) for h in log.hcas] == [(0, "a", False), (1, "b", True)]


def test_what_is_no_log_is_left_alone() -> None:
    assert not nccl_log.looks_like("Set NCCL_DEBUG=INFO and look for NET/IB.")
    assert not nccl_log.looks_like("")
    assert nccl_log.read("").facts == NcclLog()


def test_evidence_is_the_line_itself() -> None:
    reading = nccl_log.read(LOG, source="job.log")
    cited = reading.cite(8)
    assert (cited.file, cited.line) == ("job.log", 8)
    assert cited.text.endswith("(distance 7 > 4)")


def test_the_real_logs(shared: Path) -> None:
    text = (shared / "corpus/nccl_log/timez-nccl-2.27.7-A100-gdr-disabled.log").read_text()
    log = facts(text)
    assert (log.version, log.hosts, log.plugins) == ("2.27.7", ("node-a",), ("IB",))
    assert {h.enabled for h in log.hcas} == {False}
    assert [(n.name, n.speed_bytes_per_s) for n in log.nics] == [("mlx5_0", 12.5e9), ("mlx5_1", 12.5e9)]
    assert [r.rank for r in log.ranks] == [0, 1]


WHOLE = (
    "n7:31:40 [1] NCCL INFO Channel 00/0 : 9[1] -> 1[1] [receive] via NET/IB/2/GDRDMA\n"
    "n7:31:40 [1] NCCL INFO Channel 00/0 : 1[1] -> 9[1] [send] via NET/IB/2/GDRDMA\n"
)
HEAD = "n7:31:40 [1] NCCL INFO Channel 01/0 : 1[1] "


@pytest.mark.parametrize(
    "tail",
    [
        "-> 9[1] [send] via NET/IB/2/GDR",
        "-> 9[1] [send] via NET/IB/2/",
        "-> 9[1] [send] via NET/IB/2(3",
        "-> 9[1] [send] via NET/IB/2/GDRDMA/Sha",
        "-> 9[1] [send] via NET/IB/2",
        "-> 9[1] [send] via NET/IB/",
        "-> 9[1] [send] via NE",
        "-> 9[1] [se",
        "-> 9[",
        "-",
    ],
)
def test_a_channel_that_was_cut_off_at_the_end_does_not_count(tail: str) -> None:
    reading = nccl_log.read(WHOLE + HEAD + tail)
    assert reading.truncated
    assert isinstance(reading.facts, NcclLog)
    assert [channel.line for channel in reading.facts.channels] == [1, 2]
    assert [notice.line for notice in reading.notices] == [3]
    whole = nccl_log.read(WHOLE + HEAD + tail + "\n")
    assert not whole.truncated
    assert not whole.notices


@pytest.mark.parametrize(
    ("text", "channels"),
    [
        (WHOLE.strip(), 2),
        (WHOLE + HEAD + "-> 9[1] [send] via NET/IB/2/GDRDMA/Shared", 3),
        (WHOLE + HEAD + "-> 9[1] [send] via NET/IB/2/GDRDMA(PCI)", 3),
        (WHOLE + HEAD + "-> 9[1] [send] via NET/IB/2/GDRDMA comm 0x5 nRanks 1", 3),
        (WHOLE + HEAD + "-> 9[1] [send] via NET/Socket/0", 3),
        (WHOLE + HEAD + "-> 2[2] via P2P/CUMEM", 2),
        (WHOLE + "n7:31:40 [1] NCCL INFO Channel 00/02 :    0   1   2", 2),
        (WHOLE + "n7:31:40 [1] NCCL INFO Connected all rings", 2),
        (WHOLE.replace("/GDRDMA", "").strip(), 2),
        (
            WHOLE.replace("send] via NET/IB/2/GDRDMA", "send] via NET/IB/2")
            + HEAD
            + "-> 9[1] [send] via NET/IB/2",
            3,
        ),
        ("", 0),
    ],
)
def test_a_log_that_only_lacks_its_last_line_break_is_whole(text: str, channels: int) -> None:
    reading = nccl_log.read(text)
    assert not reading.truncated
    assert isinstance(reading.facts, NcclLog)
    assert len(reading.facts.channels) == channels
