"""Run in a guest by the benchmark: gdviz and perftest in turn, on the same soft-RoCE device.

Prints one JSON object: for each question a list of pairs. Bandwidths are in bytes a second, latencies and CPU
times in seconds.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from gdviz.model import DataPath, Op
from gdviz.rdma import DEFAULT_ACCESS, Bounce, Location, RemoteRegion, TransferSpec
from gdviz.rdma.hardware import HardwareProvider
from tests.conformance import soft_roce

#: Message size and number of messages: each takes about a second on an emulated processor.
SIZES = {8: 50_000, 4096: 24_000, 65536: 1_600, 2**20: 128}
LATENCY_ROUNDS = 2_000
DEPTH = 128
HOST = Location("host", "cpu0")


class Side:
    """A node with the usual things on it."""

    def __init__(self, provider: HardwareProvider) -> None:
        self.provider = provider
        self.device = provider.device("rxe0")
        self.domain = self.device.alloc_pd()
        self.queue = self.device.create_cq(1024)

    def region(self, size_bytes: int) -> Any:
        return self.domain.register(self.provider.alloc(HOST, size_bytes), DEFAULT_ACCESS)


def gdviz(one: Side, other: Side, spec: TransferSpec) -> Any:
    """Run a transfer to its end; return the result."""
    local, remote = one.region(spec.size_bytes), other.region(spec.size_bytes)
    bounce = 4 * max(spec.size_bytes, 65536)
    near, far = one.region(bounce), other.region(bounce)
    pairs = [side.domain.create_qp(side.queue, side.queue, max_inline=220) for side in (one, other)]
    for mine, theirs in (pairs, pairs[::-1]):
        mine.connect(theirs.address)
    run = one.provider.start_transfer(
        pairs[:1], local, RemoteRegion.of(remote), spec, bounce=Bounce(near, RemoteRegion.of(far))
    )
    while not run.state.final:
        time.sleep(0.2)
        run.advance()
    assert run.result.state.value == "completed", run.result
    for pair in pairs:
        pair.destroy()
    for region in (local, remote, near, far):
        region.deregister()
        region.buffer.free()
    return run.result


def perftest(program: str, size: int, count: int, depth: int | None = None) -> list[str]:
    """Run both ends of a perftest program; return the fields of its row."""
    command = [program, "-d", "rxe0", "-x", "1", "-m", "4096", "-s", str(size), "-n", str(count), "-F"]
    if depth is not None:
        command += ["-t", str(depth)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _attempt in range(200):
            listening = subprocess.run(["ss", "-ltn"], capture_output=True, text=True, check=True).stdout
            if ":18515" in listening:
                break
            time.sleep(0.05)
        answer = subprocess.run([*command, "10.77.0.1"], capture_output=True, text=True, timeout=120)
        server.wait(20)
    finally:
        if server.poll() is None:
            server.kill()
    for line in answer.stdout.splitlines():
        if line.split()[:2] == [str(size), str(count)] and float(line.split()[4]) > 0:
            return line.split()
    raise RuntimeError(answer.stdout + answer.stderr)


def main(repeats: int, bindings: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {"binding": "", "write_bw": {}, "write_lat": [], "paths": {}}
    for providers in soft_roce.pair(bindings=bindings):
        one, other = (Side(provider) for provider in providers)
        found["binding"] = one.provider.binding
        for size, count in SIZES.items():
            depth = min(DEPTH, count)
            spec = TransferSpec(Op.WRITE, DataPath.DIRECT, size, depth, count=count)
            rows = found["write_bw"][size] = []
            for _repeat in range(repeats):
                # The message rate has more digits than the bandwidth.
                theirs = float(perftest("ib_write_bw", size, count, depth)[4]) * 1e6 * size
                rows.append((gdviz(one, other, spec).bandwidth_bytes_per_s, theirs))
        spec = TransferSpec(Op.WRITE, size_bytes=8, depth=1, count=LATENCY_ROUNDS, ping_pong=True)
        for _repeat in range(repeats):
            theirs = float(perftest("ib_write_lat", 8, LATENCY_ROUNDS)[4]) * 1e-6
            found["write_lat"].append((gdviz(one, other, spec).latency.p50, theirs))
        for size in (4096, 65536, 2**20):
            rows = found["paths"][size] = []
            for _repeat in range(repeats):
                row = {}
                for path in DataPath:
                    count = max(64, SIZES[size] // 4)
                    spec = TransferSpec(Op.WRITE, path, size, min(DEPTH, count), count=count)
                    result = gdviz(one, other, spec)
                    cpu_s = result.cpu_share * result.duration_s
                    row[path.value] = (result.bandwidth_bytes_per_s, cpu_s / result.bytes)
                rows.append(row)
    return found


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]), tuple(sys.argv[2:]))))
