"""Copies inside a node: between host and GPU memory, and from GPU to GPU directly or through the host."""

from __future__ import annotations

from gdviz.machine import Cpu, Gpu, Machine
from gdviz.model.ceilings import Usage, add_route
from gdviz.model.constants import DEFAULTS, Constants
from gdviz.model.results import Side
from gdviz.model.route import route


def host_copy_s(
    machine: Machine, gpu: Gpu, size_bytes: int, *, to_gpu: bool, constants: Constants = DEFAULTS
) -> float:
    """Return seconds that a GPU's copy engine takes for one copy from or to pinned host memory.

    The host memory is that of the GPU's own socket. The call of the driver is not counted.
    """
    found = Usage()
    host = route(machine, Side.LOCAL, _cpu(machine, gpu), gpu, constants)
    add_route(found, constants, host, size_bytes, reads=to_gpu)
    return constants.copy_start_s + found.busy_hardware()


def peer_copy_bytes_per_s(
    machine: Machine, source: Gpu, target: Gpu, *, constants: Constants = DEFAULTS
) -> float:
    """Return bytes a second of a long copy that the source's engine writes into the target over PCIe."""
    found = Usage()
    add_route(
        found,
        constants,
        route(machine, Side.LOCAL, target, source, constants),
        constants.chunk_bytes,
        reads=False,
    )
    return constants.chunk_bytes / found.busy_hardware()


def host_staged_bytes_per_s(
    machine: Machine, source: Gpu, target: Gpu, *, constants: Constants = DEFAULTS
) -> float:
    """Return bytes a second of a long copy between GPUs that goes through host memory.

    This is what the driver does where two GPUs cannot reach each other (peer access off): chunks are
    copied out and in, the two overlapping; the next chunk of each starts when the CPU has seen the end of
    the one before it. Copies both ways between one pair use the same staging, and share this rate.
    """
    chunk = constants.chunk_bytes
    out_s = host_copy_s(machine, source, chunk, to_gpu=False, constants=constants)
    in_s = host_copy_s(machine, target, chunk, to_gpu=True, constants=constants)
    return chunk / (max(out_s, in_s) + constants.copy_wait_s)


def _cpu(machine: Machine, gpu: Gpu) -> Cpu | None:
    return machine.cpu_of(gpu.id) or (machine.cpus[0] if machine.cpus else None)
