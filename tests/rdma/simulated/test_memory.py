from __future__ import annotations

import errno

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdviz.errors import AllocationError, VerbsError
from gdviz.rdma.patterns import NAMES, Pattern
from gdviz.rdma.simulated import memory as module
from gdviz.rdma.simulated.memory import CHUNK_BYTES, CommitLimit, SparseMemory


def array(data: bytes) -> np.ndarray:
    return np.frombuffer(data, np.uint8)


def test_untouched_memory_costs_nothing() -> None:
    limit = CommitLimit(CHUNK_BYTES)
    memory = SparseMemory(2**40, limit)
    assert not memory.read(2**39, 100).any()
    memory.write(2**39, array(b"x"))
    assert limit.used_bytes == memory.committed_bytes == CHUNK_BYTES
    memory.clear()
    assert limit.used_bytes == 0


def test_limit_names_itself_and_the_remedy() -> None:
    limit = CommitLimit(3 * CHUNK_BYTES)
    memory = SparseMemory(4 * CHUNK_BYTES, limit)
    with pytest.raises(AllocationError, match=r"3 MiB.*memory_limit_bytes") as caught:
        memory.fill(Pattern.parse("random"))
    assert caught.value.errno == errno.ENOMEM
    assert memory.committed_bytes == 0


def test_default_limit_is_sane() -> None:
    assert 2**26 < module.default_limit_bytes() <= 2**32


def test_zeros_take_their_room_back() -> None:
    limit = CommitLimit(2**24)
    source, target = SparseMemory(2 * CHUNK_BYTES, limit), SparseMemory(2 * CHUNK_BYTES, limit)
    target.fill(Pattern.parse(7))
    target.copy_from(source, 0, 0, 2 * CHUNK_BYTES)
    assert target.committed_bytes == 0
    target.fill(Pattern.parse(7))
    target.copy_from(source, 5, 10, 20)
    assert target.read(0, 40).tobytes() == b"\x07" * 10 + bytes(20) + b"\x07" * 10


@given(
    st.lists(
        st.tuples(st.integers(0, 1), st.integers(0, 89), st.integers(0, 89), st.binary(max_size=60)),
        max_size=12,
    )
)
def test_behaves_as_two_plain_arrays(steps) -> None:
    size = 90
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CHUNK_BYTES", 16)
        limit = CommitLimit(10**6)
        memories = [SparseMemory(size, limit) for _ in range(2)]
        plain = [bytearray(size) for _ in range(2)]
        for which, at, other_at, data in steps:
            if data:
                fitting = data[: size - at]
                memories[which].write(at, array(fitting))
                plain[which][at : at + len(fitting)] = fitting
            else:
                length = size - max(at, other_at)
                memories[which].copy_from(memories[1 - which], other_at, at, length)
                plain[which][at : at + length] = plain[1 - which][other_at : other_at + length]
            for memory, wanted in zip(memories, plain, strict=True):
                assert memory.read(0, size).tobytes() == bytes(wanted)
        assert limit.used_bytes == sum(memory.committed_bytes for memory in memories)


@pytest.mark.parametrize("pattern", [*NAMES, 5, b"abc", b"abcde"])
def test_blocks_fit_together(pattern) -> None:
    made = Pattern.parse(pattern)
    if made.name in ("random", "zeros"):
        return
    whole = made.block(0, 4096).tobytes()
    assert made.block(1024, 512).tobytes() == whole[1024:1536]


def test_text_names_its_offset() -> None:
    assert Pattern.parse("text").block(0x1A40, 32).tobytes() == b"gdviz byte 0x0000000000001a40 .\n"


def test_counter_counts_words() -> None:
    assert Pattern.parse("counter").block(64, 8).view("<u4").tolist() == [16, 17]


@pytest.mark.parametrize("pattern", ["stripes", -1, 256, b"", True, 1.5])
def test_no_pattern(pattern) -> None:
    with pytest.raises(VerbsError) as caught:
        Pattern.parse(pattern)
    assert caught.value.errno == errno.EINVAL
