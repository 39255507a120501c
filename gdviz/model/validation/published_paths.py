"""Tables by the way that the bytes take: switch, CPU, both sockets; one flow or several."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gdviz.machine import LinkLayer
from gdviz.model.sharing import Transfer
from gdviz.model.validation.hardware import (
    A30_CX6,
    A100_CX6,
    AMD_MILAN,
    H100_CX7,
    INTEL_EMERALD_RAPIDS,
    V100_EPYC,
    Way,
)
from gdviz.model.validation.questions import (
    GIGABITS,
    GIGABYTES,
    bandwidth,
    exactly,
    share_in_order,
    together,
)
from gdviz.model.validation.table import Point, Table
from gdviz.model.workload import DataPath, Endpoint, Op, Workload

_EPYC = "EPYC 7452 + V100, StackOverflow 59277346"
_A30 = "A30 + ConnectX-6 at SYS, perftest #241 and ucx #9212"
_STRICT = "relaxed ordering off, ucx PR #8062 (AMD) and PR #10955 (Emerald Rapids)"

_MIB = 2**20
_LARGE = Workload(Op.WRITE, DataPath.DIRECT, _MIB, 128, 4)
_64K = replace(_LARGE, size_bytes=65536)

#: See `assumed` of the table.
_MPS_512: dict[str, Any] = {"mps_bytes": 512}

_V100_GPU = (V100_EPYC.end(name="a"), V100_EPYC.end(name="b"))
_V100_HOST = (V100_EPYC.end(gpu=None, name="a"), V100_EPYC.end(gpu=None, name="b"))
_A30_GPU = (A30_CX6.end(gpu=1, name="a"), A30_CX6.end(gpu=1, name="b"))
_A30_HOST = (A30_CX6.end(gpu=None, name="a"), A30_CX6.end(gpu=None, name="b"))
_H100_PAIR = (H100_CX7.end(name="a"), H100_CX7.end(name="b"))

_MILAN = A100_CX6.but(cpu=AMD_MILAN, way=Way.ROOT, layer=LinkLayer.ETHERNET)
_MILAN_HOST = (_MILAN.end(gpu=None, name="a"), _MILAN.end(gpu=None, name="b"))
_EMERALD = H100_CX7.but(cpu=INTEL_EMERALD_RAPIDS, way=Way.ROOT)
_EMERALD_HOST = (_EMERALD.end(gpu=None, name="a"), _EMERALD.end(gpu=None, name="b"))


def _pair(gpu: int) -> tuple[Endpoint, Endpoint]:
    return A100_CX6.end(gpu=gpu, name="a"), A100_CX6.end(gpu=gpu, name="b")


_BOTH_GPUS = tuple(Transfer(*_pair(gpu), _LARGE) for gpu in (0, 1))
_BOTH_WAYS = tuple(Transfer(*ends, _64K) for ends in (_H100_PAIR, _H100_PAIR[::-1]))

PATHS: tuple[Table, ...] = (
    Table(
        "V6",
        "EPYC 7452, V100 (Gen3) and ConnectX-6 HDR200 through the CPU",
        _EPYC,
        "bandwidth by direction",
        "GB/s",
        (
            exactly("host to host", 24.48, bandwidth(_V100_HOST, _LARGE, GIGABYTES), 0.05),
            exactly(
                "NIC writes GPU",
                14.29,
                bandwidth((_V100_HOST[0], _V100_GPU[1]), _LARGE, GIGABYTES, **_MPS_512),
                0.05,
            ),
            exactly(
                "NIC reads GPU",
                6.11,
                bandwidth((_V100_GPU[0], _V100_HOST[1]), _LARGE, GIGABYTES, **_MPS_512),
                0.05,
            ),
            exactly("GPU to GPU", 6.12, bandwidth(_V100_GPU, _LARGE, GIGABYTES, **_MPS_512), 0.05),
        ),
        assumed="PCIe packets of 512 B, as ConnectX-6 has them on such boards (lspci in ucx #7257); "
        "with the usual 256 B the write into the GPU comes out 9 % low",
    ),
    Table(
        "V7",
        "A30 on the other socket than its ConnectX-6 200G, against host memory",
        _A30,
        "bandwidth by memory",
        "GB/s",
        (
            Point("GPU, SYS", 11.0, 12.0, bandwidth(_A30_GPU, _LARGE, GIGABYTES), 0.10),
            Point("host memory", 23.0, 24.0, bandwidth(_A30_HOST, _LARGE, GIGABYTES), 0.10),
        ),
    ),
    Table(
        "V8",
        "relaxed ordering on and off: AMD EPYC with 200G, Emerald Rapids with 400G, host memory",
        _STRICT,
        "bandwidth by ordering",
        "Gb/s",
        (
            exactly("AMD, on", 200, bandwidth(_MILAN_HOST, _LARGE, GIGABITS, relaxed_ordering=True), 0.05),
            exactly("AMD, off", 150, bandwidth(_MILAN_HOST, _LARGE, GIGABITS, relaxed_ordering=False), 0.05),
            Point(
                "Emerald Rapids, on",
                320,
                400,
                bandwidth(_EMERALD_HOST, _LARGE, GIGABITS, relaxed_ordering=True),
                0.0,
            ),
            exactly(
                "Emerald Rapids, off",
                128,
                bandwidth(_EMERALD_HOST, _LARGE, GIGABITS, relaxed_ordering=False),
                0.05,
            ),
        ),
    ),
    Table(
        "V9",
        "A100 and HDR200 behind one Gen4 switch: one GPU, and two that share the NIC",
        "Inspur, MLPerf Training v1.1 system description",
        "bandwidth of each GPU, at least",
        "GB/s",
        (
            Point("one GPU", 22.0, 25.0, bandwidth(_pair(0), _LARGE, GIGABYTES), 0.10),
            Point("the slower of two", 11.0, 12.5, together(_BOTH_GPUS, min, GIGABYTES), 0.10),
        ),
    ),
    Table(
        "V10",
        "which path is faster: H100 + ConnectX-7 behind a switch; A30 and NIC on different sockets",
        "nccl #465, perftest #241",
        "share of sizes in this order",
        "",
        (
            exactly(
                "PIX: direct first, 2 B to 64 MiB", 1.0, share_in_order(_H100_PAIR, direct_first=True), 0.0
            ),
            exactly(
                "SYS: staged first, from 1 MiB",
                1.0,
                share_in_order(_A30_GPU, [_MIB, 4 * _MIB, 16 * _MIB, 64 * _MIB], direct_first=False),
                0.0,
            ),
        ),
        leans_on=(_A30,),
    ),
    Table(
        "V11",
        "H100 + ConnectX-7 behind a switch, 64 KiB, both directions at once",
        "imbue-ai host_validation, p2p_ib_test.py (pass limits)",
        "sum of both directions",
        "Gb/s",
        (Point("GPU memory", 720.0, 2 * 392.0, together(_BOTH_WAYS, sum, GIGABITS), 0.0),),
    ),
)
