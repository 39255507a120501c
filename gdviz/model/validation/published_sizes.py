"""Tables by message size: bandwidth, rate and latency."""

from __future__ import annotations

from gdviz.machine import LinkLayer
from gdviz.model.constants import Constants
from gdviz.model.validation.hardware import A100_CX6, H100_CX7, MELLANOX
from gdviz.model.validation.questions import (
    GIGABITS,
    GIGABYTES,
    bandwidth,
    exactly,
    from_python,
    latency_us,
    round_trip_us,
)
from gdviz.model.validation.table import Point, Question, Table
from gdviz.model.wire import efficiency
from gdviz.model.workload import DataPath, Fabric, Op, Workload
from gdviz.quantities import format_size

KIB, MIB = 2**10, 2**20

_H100 = "H100 + ConnectX-7 400G, PIX, RC WRITE, rdma4py ibverbs/BENCHMARKS.md"
_100G = "GPUDirect over 100GbE, MTU 1024, cloud-native-docs gpu-operator-rdma.rst"
_VF = "HDR InfiniBand through a virtual function, AKS, aks-rdma-infiniband"

# Size, p50 and p99 in microseconds (one in flight), GB/s (16 queue pairs, depth 64).
_H100_SIZES = [
    (8, 5.022, 6.705, 0.114), (64, 5.035, 5.753, 0.912), (KIB, 5.135, 5.897, 14.026),
    (4 * KIB, 5.364, 5.995, 42.347), (16 * KIB, 5.842, 6.464, 46.910), (64 * KIB, 6.844, 7.667, 48.126),
    (256 * KIB, 13.046, 14.368, 48.470), (MIB, 29.260, 29.583, 48.549), (4 * MIB, 94.247, 95.107, 48.525),
    (16 * MIB, 353.884, 354.902, 48.459), (64 * MIB, 1390.150, 1594.362, 48.433),
]  # fmt: skip
_H100_QPS = [(1, 48.130), (2, 48.369), (4, 48.478), (8, 48.529), (16, 48.548)]

# Size, Gb/s (one queue pair, depth 128).
_100G_SIZES = [
    (2, 0.11), (64, 3.59), (256, 14.98), (512, 29.73), (KIB, 58.81), (2 * KIB, 91.47), (4 * KIB, 92.06),
    (8 * KIB, 92.31), (16 * KIB, 92.46), (64 * KIB, 92.38), (MIB, 92.40), (8 * MIB, 92.39),
]  # fmt: skip

# Size, Gb/s read, Gb/s write, host memory.
_VF_SIZES = [
    (2, 0.045, 0.046), (64, 1.45, 1.46), (256, 5.74, 5.80), (KIB, 22.47, 23.07), (2 * KIB, 44.12, 45.54),
    (4 * KIB, 76.33, 89.61), (8 * KIB, 116.65, 147.61), (16 * KIB, 154.71, 168.13),
    (32 * KIB, 184.51, 186.48), (64 * KIB, 185.13, 190.24), (128 * KIB, 193.47, 192.64),
    (256 * KIB, 190.46, 193.66), (MIB, 193.95, 196.29), (8 * MIB, 197.48, 196.55),
]  # fmt: skip

_PAIR = (H100_CX7.end(name="a"), H100_CX7.end(name="b"))
_SLOWER = A100_CX6.but(gigabits=100, layer=LinkLayer.ETHERNET)
_100G_PAIR = (_SLOWER.end(name="a"), _SLOWER.end(name="b"))
_VIRTUAL = A100_CX6.but(nic=(MELLANOX, 0x101E))
_VF_PAIR = (_VIRTUAL.end(gpu=None, name="a"), _VIRTUAL.end(gpu=None, name="b"))


def _work(size: int, depth: int, qps: int, op: Op = Op.WRITE) -> Workload:
    return Workload(op, DataPath.DIRECT, size, depth, qps)


def _h100_bandwidth(size: int, measured: float) -> Point:
    # At this size the limit on messages and the wire meet, and neither is reached.
    tolerance = 0.15 if size == 4 * KIB else 0.05
    return exactly(format_size(size), measured, _h100(size, 16), tolerance)


def _h100(size: int, qps: int) -> Question:
    return from_python(bandwidth(_PAIR, _work(size, 64, qps), GIGABYTES))


def _h100_latency(size: int, which: str) -> Question:
    return from_python(latency_us(_PAIR, _work(size, 1, 1), which))


def _vf(size: int, measured: float, op: Op) -> Point:
    tolerance = 0.10 if size > 32 * KIB else 0.15
    ask = bandwidth(_VF_PAIR, _work(size, 128, 1, op), GIGABITS)
    return exactly(f"{op.value} {format_size(size)}", measured, ask, tolerance)


def _wire(fabric: Fabric, gigabits: float) -> Question:
    def ask(_constants: Constants) -> float:
        return efficiency(fabric) * gigabits

    return ask


BY_SIZE: tuple[Table, ...] = (
    Table(
        "V1",
        "2x H100 + ConnectX-7 on one switch each, 400G RoCEv2, MTU 4096, 16 QPs, depth 64, from Python",
        _H100,
        "bandwidth by size",
        "GB/s",
        tuple(_h100_bandwidth(size, rate) for size, _p50, _p99, rate in _H100_SIZES),
    ),
    Table(
        "V1 QPs",
        "the same, 1 MiB, by number of queue pairs",
        _H100,
        "bandwidth by queue pairs",
        "GB/s",
        tuple(exactly(f"{qps} QPs", rate, _h100(MIB, qps), 0.05) for qps, rate in _H100_QPS),
    ),
    Table(
        "V1 p50",
        "the same, one in flight, post to completion",
        _H100,
        "median latency by size",
        "us",
        tuple(
            exactly(format_size(size), p50, _h100_latency(size, "p50"), 0.05)
            for size, p50, _p99, _rate in _H100_SIZES
        ),
    ),
    Table(
        "V1 p99",
        "the same",
        _H100,
        "99th percentile of the latency by size",
        "us",
        tuple(
            exactly(format_size(size), p99, _h100_latency(size, "p99"), 0.20)
            for size, _p50, p99, _rate in _H100_SIZES
        ),
        unjudged="one run's tail, and no tolerance is agreed",
    ),
    Table(
        "V2",
        "GPU memory over 100 GbE, MTU 1024, ib_write_bw, 1 QP, depth 128 (GPU and NIC not stated)",
        _100G,
        "bandwidth by size",
        "Gb/s",
        tuple(
            exactly(
                format_size(size),
                rate,
                bandwidth(_100G_PAIR, _work(size, 128, 1), GIGABITS, Fabric(mtu_bytes=1024)),
                0.05,
            )
            for size, rate in _100G_SIZES
        ),
    ),
    Table(
        "V3",
        "host memory, HDR200 InfiniBand through SR-IOV, ib_read_bw and ib_write_bw, 1 QP",
        _VF,
        "bandwidth by size",
        "Gb/s",
        tuple(
            _vf(size, rate, op)
            for size, read, write in _VF_SIZES
            for op, rate in ((Op.READ, read), (Op.WRITE, write))
        ),
    ),
    Table(
        "V3 latency",
        "the same, one in flight: ib_read_lat of 2 B, ibv_rc_pingpong of 4 KiB",
        _VF,
        "latency",
        "us",
        (
            exactly("read 2 B", 5.49, latency_us(_VF_PAIR, _work(2, 1, 1, Op.READ), "p50"), 0.10),
            exactly("send 4 KiB, there and back", 8.57, round_trip_us(_VF_PAIR, 4 * KIB), 0.10),
        ),
    ),
    Table(
        "V4",
        "payload rate of large messages: 100G RoCE at MTU 1024 and 4096, 400G RoCE, HDR InfiniBand",
        "large sizes of V1, V2 and V3; 100G RoCE host to host, oci-hpc-oke",
        "share of the wire",
        "Gb/s",
        (
            exactly("100G RoCE, MTU 1024", 92.40, _wire(Fabric(mtu_bytes=1024), 100), 0.02),
            exactly("100G RoCE, MTU 4096", 98.01, _wire(Fabric(), 100), 0.02),
            exactly("400G RoCE, MTU 4096", 388.39, _wire(Fabric(), 400), 0.02),
            exactly("HDR InfiniBand", 197.48, _wire(Fabric(LinkLayer.INFINIBAND), 200), 0.02),
        ),
    ),
)
