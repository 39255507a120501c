"""What a staged chunk costs: copies, and the CPU work around them."""

from __future__ import annotations

from gdviz.model.constants import Constants
from gdviz.model.network import busy_s
from gdviz.model.results import Side
from gdviz.model.setup import End, Setup
from gdviz.model.workload import Op


def chunks_of(size_bytes: int, chunk_bytes: int) -> list[int]:
    """Return the sizes of a message's chunks: full ones, then what is left."""
    full, rest = divmod(size_bytes, chunk_bytes)
    return [chunk_bytes] * full + ([rest] if rest else [])


def by_cpu(end: End, setup: Setup, size_bytes: int) -> bool:
    """Return whether a CPU copies: memory of a host, or a small piece of GPU memory through the BAR."""
    return end.cpu_copies or (end.copy is not None and size_bytes <= setup.constants.gdrcopy_bytes)


def launch_s(end: End, setup: Setup, size_bytes: int) -> float:
    """Return CPU seconds to launch a copy; a CPU that copies itself launches nothing."""
    return 0.0 if by_cpu(end, setup, size_bytes) else setup.constants.copy_launch_s


def wait_s(end: End, setup: Setup, size_bytes: int) -> float:
    """Return CPU seconds to wait for a copy's end."""
    return 0.0 if by_cpu(end, setup, size_bytes) else setup.constants.copy_wait_s


def copy_s(end: End, setup: Setup, size_bytes: int) -> float:
    """Return seconds for which one copy keeps the copy engine (or the CPU that copies) busy."""
    constants = setup.constants
    if end.cpu_copies:
        return size_bytes / constants.memcpy_bytes_per_s
    assert end.copy is not None
    reads = end is setup.sink
    if by_cpu(end, setup, size_bytes):
        return bar_copy_s(constants, size_bytes, to_gpu=reads)
    return constants.copy_start_s + busy_s(setup, end.copy, size_bytes, reads=reads)


def bar_copy_s(constants: Constants, size_bytes: int, *, to_gpu: bool) -> float:
    """Return seconds that a CPU takes to copy to or from GPU memory through the BAR."""
    if to_gpu:
        return constants.gdrcopy_write_s + size_bytes / constants.gdrcopy_write_bytes_per_s
    return constants.gdrcopy_read_s + size_bytes / constants.gdrcopy_read_bytes_per_s


def cpu_s(end: End, setup: Setup, size_bytes: int, batch: int) -> float:
    """Return CPU seconds of one end for one chunk."""
    constants = setup.constants
    total = launch_s(end, setup, size_bytes) + wait_s(end, setup, size_bytes)
    if by_cpu(end, setup, size_bytes):
        total += copy_s(end, setup, size_bytes)
    if end.side is Side.LOCAL:
        total += constants.post_s + constants.program_s / batch
    if end is setup.sink or setup.op is Op.READ:
        total += constants.notice_s
    return total


def near_s(setup: Setup, size_bytes: int) -> float:
    """Return CPU seconds at the source that a message of one chunk waits for."""
    end = setup.source
    return _hands_s(end, setup, size_bytes)


def far_s(setup: Setup, size_bytes: int) -> float:
    """Return CPU seconds at the sink that a message of one chunk waits for."""
    end = setup.sink
    return _hands_s(end, setup, size_bytes) + notice_s(setup)


def _hands_s(end: End, setup: Setup, size_bytes: int) -> float:
    if by_cpu(end, setup, size_bytes):
        return copy_s(end, setup, size_bytes)
    return launch_s(end, setup, size_bytes) + wait_s(end, setup, size_bytes)


def notice_s(setup: Setup) -> float:
    """Return CPU seconds until the sink knows of a chunk; a reader learns it from its completion."""
    return 0.0 if setup.op is Op.READ else setup.constants.notice_s
