"""Published measurements beside the default constants.

Some constants were fitted to these very tables (`FITTED`): those tests pin the fit. Nothing in the large
sizes' bandwidths of the 100 Gb/s table, or in the host memory of the A30 server, was fitted.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from gdviz.machine import LinkLayer, Machine, reference_machine
from gdviz.model import DEFAULTS, FITTED, DataPath, Endpoint, Fabric, Op, Workload, predict

# H100 + ConnectX-7, 400 Gb/s RoCEv2, PIX, RC WRITE from Python: size, p50 us, GB/s (16 QPs, depth 64).
H100_PIX = [
    (8, 5.022, 0.114),
    (64, 5.035, 0.912),
    (1 << 10, 5.135, 14.026),
    (4 << 10, 5.364, 42.347),
    (16 << 10, 5.842, 46.910),
    (64 << 10, 6.844, 48.126),
    (256 << 10, 13.046, 48.470),
    (1 << 20, 29.260, 48.549),
    (4 << 20, 94.247, 48.525),
    (16 << 20, 353.884, 48.459),
    (64 << 20, 1390.150, 48.433),
]

# GPUDirect over 100 GbE, MTU 1024, one queue pair: size, Gb/s.
HUNDRED_GIGABIT = [
    (64, 3.59), (256, 14.98), (512, 29.73), (1024, 58.81), (2048, 91.47), (4096, 92.06), (8192, 92.31),
    (16384, 92.46), (65536, 92.38), (1 << 20, 92.40), (8 << 20, 92.39),
]  # fmt: skip


@pytest.mark.parametrize(("size", "p50_us", "gigabytes"), H100_PIX)
def test_h100_connectx7(pair, size, p50_us, gigabytes):
    python = replace(DEFAULTS, program_s=DEFAULTS.python_program_s)
    work = Workload(Op.WRITE, DataPath.DIRECT, size, 64, 16)
    found = predict(*pair, work, constants=python, messages=2000)
    assert found.bandwidth_bytes_per_s / 1e9 == pytest.approx(gigabytes, rel=0.05)
    assert found.latency.p50 * 1e6 == pytest.approx(p50_us, rel=0.05)


@pytest.mark.parametrize(("qps", "gigabytes"), [(1, 48.130), (2, 48.369), (4, 48.478), (16, 48.548)])
def test_h100_queue_pairs(pair, qps, gigabytes):
    found = predict(*pair, Workload(Op.WRITE, DataPath.DIRECT, 1 << 20, 64, qps), messages=100)
    assert found.bandwidth_bytes_per_s / 1e9 == pytest.approx(gigabytes, rel=0.02)


@pytest.mark.parametrize(("size", "gigabits"), HUNDRED_GIGABIT)
def test_hundred_gigabit_ethernet(size, gigabits):
    machine = reference_machine("dgx-a100")
    nics = tuple(
        replace(nic, speed_bytes_per_s=12.5e9, link_layer=LinkLayer.ETHERNET) for nic in machine.nics
    )
    slower = Machine("100GbE", replace(machine.parts, nics=nics))
    ends = [Endpoint(slower, nics[index].id, slower.gpus[index].id) for index in (0, 2)]
    workload = Workload(Op.WRITE, DataPath.DIRECT, size, 128, 1)
    found = predict(*ends, workload, fabric=Fabric(mtu_bytes=1024), messages=100)
    assert found.bandwidth_bytes_per_s * 8 / 1e9 == pytest.approx(gigabits, rel=0.05)


def test_a30_across_sockets_is_half_of_host_memory():
    machine = reference_machine("pcie-a30")
    far = Endpoint(machine, machine.nics[0].id, machine.gpus[1].id)
    host = Endpoint(machine, machine.nics[0].id)
    workload = Workload(Op.WRITE, DataPath.DIRECT, 1 << 20)
    gpu, memory = predict(far, far, workload), predict(host, host, workload)
    assert 10.35e9 < gpu.bandwidth_bytes_per_s < 12.65e9
    assert 22e9 < memory.bandwidth_bytes_per_s < 25e9
    assert "peer-to-peer" in gpu.bottleneck.name


def test_fitted_constants_exist():
    assert all(hasattr(DEFAULTS, name) for name in FITTED if "." not in name)
