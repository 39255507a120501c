"""Published figures beyond the numbered checks: other hosts, whole nodes, rings, copies by the CPU."""

from __future__ import annotations

from dataclasses import replace

from gdviz.machine import LinkLayer
from gdviz.model.collectives import ring_busbw_bytes_per_s
from gdviz.model.constants import Constants
from gdviz.model.copies import bar_copy_s
from gdviz.model.validation.hardware import (
    A100_CX6,
    AMAZON,
    AMD_MILAN,
    H100_CX7,
    INTEL_BROADWELL,
    POWER_9,
    V100_EPYC,
    Server,
    Way,
)
from gdviz.model.validation.questions import GIGABITS, GIGABYTES, bandwidth, exactly, times
from gdviz.model.validation.table import Point, Question, Table
from gdviz.model.workload import DataPath, Endpoint, Op, Workload
from gdviz.quantities import format_size

_POWER = "39 Gb/s on AC922, nv_peer_memory #66"
_THREADRIPPER = "180 Gb/s on Threadripper PRO, open-gpu-kernel-modules #1253"
_P40 = "E5-2650 v4 + P40, forums.developer.nvidia.com 55564"
_GDRCOPY = "gdrcopy_copylat on a V100, GDRCopy README"

_WRITE = Workload(Op.WRITE, DataPath.DIRECT, 2**20, 128, 4)
_READ = replace(_WRITE, op=Op.READ)

_100G = V100_EPYC.but(gigabits=100, nic_gen=3)
_AC922 = _100G.but(cpu=POWER_9, gpu_gen=4, nic_gen=4)
_BROADWELL = _100G.but(cpu=INTEL_BROADWELL)
_ZEN_3 = A100_CX6.but(cpu=AMD_MILAN, way=Way.ROOT)
_NDR200 = A100_CX6.but(nic=(0x15B3, 0x1021), gpu=(0x10DE, 0x2330), gpu_gen=5, nic_gen=5)
_NDR = H100_CX7.but(layer=LinkLayer.INFINIBAND)
_EFA = H100_CX7.but(nic=(AMAZON, 0xEFA1))

# Size, microseconds to the GPU, microseconds from it; None where it was not given.
_COPIES = [
    (1, 0.0889, 0.907), (64, None, 3.10), (4096, 0.4366, 7.98), (65536, 6.49, 114.1),
    (2**20, 103.8, 1970.7), (16 * 2**20, 1661, 36758.8),
]  # fmt: skip


def _ends(server: Server, *, from_host: bool = False, to_host: bool = False) -> tuple[Endpoint, Endpoint]:
    gpus = (None if from_host else 0, None if to_host else 0)
    return server.end(gpu=gpus[0], name="a"), server.end(gpu=gpus[1], name="b")


_P40_ENDS = _ends(_BROADWELL, from_host=True)


def _ring(server: Server, nics: int) -> Question:
    alone = bandwidth(_ends(server), _WRITE, GIGABYTES)
    return lambda constants: ring_busbw_bytes_per_s(alone(constants), nics)


def _node(gigabits: float, nics: int, work: Workload) -> Question:
    return times(nics, bandwidth(_ends(_EFA.but(gigabits=gigabits)), work, GIGABYTES))


def _bar(size: int, *, to_gpu: bool) -> Question:
    def ask(constants: Constants) -> float:
        return bar_copy_s(constants, size, to_gpu=to_gpu) * 1e6

    return ask


MORE: tuple[Table, ...] = (
    Table(
        "rings",
        "NCCL AllReduce over all NICs of large nodes: DGX A100 with 8x HDR, H100 nodes with 8x NDR",
        "nccl #778, nccl-tests #290, CoreWeave nccl-tests (64x H100)",
        "bus bandwidth",
        "GB/s",
        (
            exactly("DGX A100, 8x HDR", 192, _ring(A100_CX6, 8), 0.05),
            Point("H100, each NDR NIC", 46, 48, _ring(_NDR, 1), 0.05),
            exactly("64x H100, 8x NDR, 8 GiB", 386.56, _ring(_NDR, 8), 0.05),
        ),
    ),
    Table(
        "NDR200",
        "GPU memory over NDR200 InfiniBand, osu_bw of 4 MiB",
        "ucx #9287 (as it was with UCX 1.13)",
        "bandwidth",
        "GB/s",
        (exactly("GPU to GPU", 24.756, bandwidth(_ends(_NDR200), _WRITE, GIGABYTES), 0.05),),
        assumed="GPU and NIC behind one PCIe switch",
    ),
    Table(
        "POWER9",
        "AC922 with V100 and ConnectX-5 100G",
        _POWER,
        "bandwidth by memory",
        "Gb/s",
        (
            exactly(
                "host", 97, bandwidth(_ends(_AC922, from_host=True, to_host=True), _WRITE, GIGABITS), 0.05
            ),
            exactly("GPU", 39, bandwidth(_ends(_AC922), _WRITE, GIGABITS), 0.05),
        ),
    ),
    Table(
        "Zen 3",
        "Threadripper PRO, GPU and a 200G NIC through the CPU",
        _THREADRIPPER,
        "bandwidth",
        "Gb/s",
        (exactly("GPU", 180, bandwidth(_ends(_ZEN_3), _WRITE, GIGABITS), 0.05),),
    ),
    Table(
        "P40",
        "Xeon E5-2650 v4: devices write P40 memory through the CPU",
        _P40,
        "bandwidth",
        "GB/s",
        (exactly("into the GPU", 7.1, bandwidth(_P40_ENDS, _WRITE, GIGABYTES), 0.05),),
        assumed="a 100G NIC in place of the three SSDs that were measured",
    ),
    Table(
        "EFA",
        "GPU memory of a whole node: p5 (32x 100G), p6-b200 (8x 400G), p6-b300 (16x 400G)",
        "Mooncake, efa_transport.md",
        "sum over the node",
        "GB/s",
        (
            exactly("p5, write", 388.9, _node(100, 32, _WRITE), 0.05),
            exactly("p5, read", 381.6, _node(100, 32, _READ), 0.05),
            exactly("p6-b200, write", 302, _node(400, 8, _WRITE), 0.05),
            exactly("p6-b200, read", 313, _node(400, 8, _READ), 0.05),
            exactly("p6-b300, write", 780.3, _node(400, 16, _WRITE), 0.05),
            exactly("p6-b300, read", 755.8, _node(400, 16, _READ), 0.05),
        ),
        unjudged="EFA's protocol is not modelled; RoCEv2 stands for it",
    ),
    Table(
        "GDRCopy",
        "V100, the CPU copies through the BAR",
        _GDRCOPY,
        "time of one copy by size",
        "us",
        tuple(
            exactly(f"{format_size(size)} {way} the GPU", us, _bar(size, to_gpu=way == "to"), 0.2)
            for size, there, back in _COPIES
            for us, way in ((there, "to"), (back, "from"))
            if us is not None
        ),
        unjudged="a start and a bandwidth are read off its ends, and no tolerance is agreed",
    ),
)  # fmt: skip
