"""Tables of copies inside a node, of whole clusters, and of what nobody has published."""

from __future__ import annotations

from gdviz.model.collectives import ring_busbw_bytes_per_s, socket_bytes_per_s
from gdviz.model.constants import Constants
from gdviz.model.inside import host_copy_s, host_staged_bytes_per_s, peer_copy_bytes_per_s
from gdviz.model.predict import predict
from gdviz.model.validation.hardware import (
    A40_EPYC,
    A100_CX6,
    H100_CX7,
    INTEL_SAPPHIRE_RAPIDS,
    MELLANOX,
    NVIDIA,
    V100_EPYC,
    Server,
)
from gdviz.model.validation.questions import GIGABYTES, exactly
from gdviz.model.validation.table import Point, Question, Table
from gdviz.model.workload import DataPath, Op, Workload

_SOCKETS = "NCCL AllReduce over IPoIB, aks-rdma-infiniband"
_COPY_BYTES = 256 * 2**20
_NDV4 = A100_CX6.but(nic=(MELLANOX, 0x101E))
_NDV4_NICS = 8
_H200 = H100_CX7.but(gpu=(NVIDIA, 0x2335), cpu=INTEL_SAPPHIRE_RAPIDS)


def _copy(server: Server, *, to_gpu: bool) -> Question:
    machine = server.machine()

    def ask(constants: Constants) -> float:
        seconds = host_copy_s(machine, machine.gpus[0], _COPY_BYTES, to_gpu=to_gpu, constants=constants)
        return _COPY_BYTES / seconds / GIGABYTES

    return ask


def _rdma_busbw(constants: Constants) -> float:
    ends = (_NDV4.end(name="a"), _NDV4.end(name="b"))
    work = Workload(Op.WRITE, DataPath.DIRECT, 2**20, 128, 1)
    nic = predict(*ends, work, constants=constants, messages=50).bandwidth_bytes_per_s
    return ring_busbw_bytes_per_s(nic, _NDV4_NICS) / GIGABYTES


def _over_sockets(constants: Constants) -> float:
    return _rdma_busbw(constants) / (socket_bytes_per_s(constants) / GIGABYTES)


def _staged(server: Server) -> Question:
    machine = server.machine()

    def ask(constants: Constants) -> float:
        return host_staged_bytes_per_s(machine, *machine.gpus[:2], constants=constants) / GIGABYTES

    return ask


def _peer_both_ways(server: Server) -> Question:
    machine = server.machine()

    def ask(constants: Constants) -> float:
        return 2 * peer_copy_bytes_per_s(machine, *machine.gpus[:2], constants=constants) / GIGABYTES

    return ask


INSIDE: tuple[Table, ...] = (
    Table(
        "V5",
        "pinned host memory to and from one GPU: H200 and H100 (Gen5), A100 (Gen4)",
        "nvbandwidth in stas00/ml-engineering; Azure AI-benchmarking-guide; NVIDIA developer forum",
        "copy bandwidth",
        "GB/s",
        (
            exactly("H200, to the GPU", 55.43, _copy(_H200, to_gpu=True), 0.07),
            exactly("H200, from the GPU", 55.06, _copy(_H200, to_gpu=False), 0.07),
            exactly("H200 in Azure, to the GPU", 52.0, _copy(_H200, to_gpu=True), 0.07),
            Point("H100 in Azure, to the GPU", 51.0, 52.0, _copy(H100_CX7, to_gpu=True), 0.07),
            exactly("A100 in Azure, to the GPU", 26.28, _copy(A100_CX6, to_gpu=True), 0.07),
            exactly("A100, to the GPU", 24.8, _copy(A100_CX6, to_gpu=True), 0.07),
        ),
    ),
    Table(
        "V5 Gen3",
        "Gen3 GPUs in hosts that are not described",
        "NVIDIA developer forum; rCUDA (K40); usadellab/Helixer #22 (RTX 2080 Ti)",
        "copy bandwidth",
        "GB/s",
        (
            exactly("V100, to the GPU", 9.6, _copy(V100_EPYC, to_gpu=True), 0.07),
            exactly("V100, from the GPU", 11.4, _copy(V100_EPYC, to_gpu=False), 0.07),
            exactly("T4, to the GPU", 9.7, _copy(V100_EPYC, to_gpu=True), 0.07),
            exactly("T4, from the GPU", 11.1, _copy(V100_EPYC, to_gpu=False), 0.07),
            exactly("K40, to the GPU", 10.06, _copy(V100_EPYC, to_gpu=True), 0.07),
            Point("RTX 2080 Ti, to the GPU", 7.1, 13.1, _copy(V100_EPYC, to_gpu=True), 0.07),
        ),
        unjudged="neither the host nor its packet size is stated",
    ),
    Table(
        "V12",
        "2 nodes with 8x A100 and 8 HDR virtual functions, AllReduce 8 GiB: RDMA against IPoIB sockets",
        _SOCKETS,
        "bus bandwidth, and its ratio",
        "GB/s, times",
        (
            exactly("RDMA", 187.2, _rdma_busbw, 0.20),
            exactly("RDMA over sockets", 187.2 / 3.15, _over_sockets, 0.20),
        ),
    ),
    Table(
        "V13",
        "GPU to GPU in one node, peer access off (H100; A40 both ways) and on (A40 both ways, no NVLink)",
        "nccl #1264 (H100), nccl-tests #74 (A40, EPYC 7302)",
        "copy bandwidth",
        "GB/s",
        (
            Point("H100, through the host", 36.0, 38.1, _staged(H100_CX7), 0.10),
            Point("A40 both ways, through the host", 19.1, 21.2, _staged(A40_EPYC), 0.10),
            Point("A40 both ways, direct", 39.2, 50.4, _peer_both_ways(A40_EPYC), 0.10),
        ),
        assumed="the driver stages in chunks of 512 KiB, waits for each, and stages both ways at once",
    ),
    Table(
        "staged",
        "GPU to GPU over ConnectX-6 or -7 through host memory, by size",
        "",
        "latency and bandwidth of the staged path",
        "",
        unjudged="no public measurement",
    ),
)
