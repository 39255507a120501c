from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from gdviz.model import (
    DEFAULTS,
    DataPath,
    Op,
    PlaceKind,
    Side,
    Stage,
    Workload,
    breakdown,
    predict,
    timeline,
)

MIB = 1 << 20
CASES = [(op, path, size) for op in Op for path in DataPath for size in (1, 4096, 65536, 2 * MIB)]


def keys(stages):
    return [stage.key for stage in stages]


def stage(stages: tuple[Stage, ...], key: str, side: Side | None = None) -> Stage:
    return next(one for one in stages if one.key == key and side in (None, one.side))


@pytest.mark.parametrize(("op", "path", "size"), CASES)
def test_every_timeline(pair, op, path, size):
    stages = timeline(*pair, Workload(op, path, size))
    assert stages[0].start_s == 0
    assert all(one.end_s >= one.start_s for one in stages)
    assert all(one.places and one.text and one.name for one in stages)
    assert [one.start_s for one in stages] == sorted(one.start_s for one in stages)
    assert max(Counter((one.key, one.side) for one in stages).values()) == 1
    # Something is always going on: no hole between the first start and the last end.
    reached = 0.0
    for one in stages:
        assert one.start_s <= reached + 1e-12
        reached = max(reached, one.end_s)
    assert reached == pytest.approx(
        predict(*pair, Workload(op, path, size), messages=4000).latency.p50, rel=0.03
    )


def test_direct_write_in_order(pair):
    stages = timeline(*pair, Workload(Op.WRITE, DataPath.DIRECT, 4096))
    assert keys(stages) == [
        "post", "doorbell", "wqe_fetch", "dma_read", "wire", "dma_write", "ack", "completion", "poll",
    ]  # fmt: skip
    for before, after in (
        ("post", "doorbell"),
        ("doorbell", "wqe_fetch"),
        ("wqe_fetch", "dma_read"),
        ("ack", "completion"),
        ("completion", "poll"),
    ):
        assert stage(stages, after).start_s == stage(stages, before).end_s
    assert [one.key for one in stages if one.cpu] == ["post", "poll"]
    assert [one.key for one in stages if one.moves_bytes] == ["dma_read", "wire", "dma_write"]


def test_large_messages_overlap(pair):
    stages = timeline(*pair, Workload(Op.WRITE, DataPath.DIRECT, 16 * MIB))
    read, wire, write = (stage(stages, key) for key in ("dma_read", "wire", "dma_write"))
    assert read.start_s < wire.start_s < write.start_s < read.end_s < wire.end_s < write.end_s
    # The NIC does not read megabytes ahead of the wire.
    assert wire.end_s - read.end_s < 5e-6


def test_a_long_message_waits_once_for_an_acknowledgement(pair):
    short, long = (
        timeline(*pair, Workload(size_bytes=size))
        for size in (DEFAULTS.first_burst_bytes, DEFAULTS.first_burst_bytes + 1)
    )
    assert "first_ack" not in keys(short)
    assert "first_ack" in keys(long)
    gap = stage(long, "poll").end_s - stage(short, "poll").end_s
    assert gap == pytest.approx(stage(long, "first_ack").duration_s, rel=0.05)


def test_read_flows_the_other_way(pair):
    stages = timeline(*pair, Workload(Op.READ, DataPath.DIRECT, 4096))
    assert "request" in keys(stages)
    assert "ack" not in keys(stages)
    assert stage(stages, "dma_read").side is Side.REMOTE
    assert stage(stages, "dma_write").side is Side.LOCAL


def test_send_takes_a_receive_entry(pair):
    stages = timeline(*pair, Workload(Op.SEND, DataPath.DIRECT, 4096))
    assert stage(stages, "receive_wqe").side is Side.REMOTE
    assert stage(stages, "completion", Side.REMOTE).end_s < stage(stages, "completion", Side.LOCAL).end_s


def test_staged_write_copies_at_both_ends(pair):
    stages = timeline(*pair, Workload(Op.WRITE, DataPath.STAGED, 65536))
    out = [stage(stages, key, Side.LOCAL) for key in ("copy_launch", "copy", "copy_wait", "post")]
    for before, after in pairwise(out):
        assert after.start_s == pytest.approx(before.end_s)
    back = [stage(stages, key, Side.REMOTE) for key in ("notice", "copy_launch", "copy", "copy_wait")]
    for before, after in pairwise(back):
        assert after.start_s == pytest.approx(before.end_s)
    assert back[0].start_s == pytest.approx(stage(stages, "dma_write").end_s)
    assert back[-1].end_s == max(one.end_s for one in stages)


def test_bytes_touch_the_places_of_the_path(pair, h100):
    stages = timeline(*pair, Workload(Op.WRITE, DataPath.DIRECT, 4096))
    read = stage(stages, "dma_read")
    path = h100.path(0, 0)
    assert tuple(place.id for place in read.places if place.kind is PlaceKind.PART) == path.parts
    assert [place.id for place in read.places if place.kind is PlaceKind.LINK] == [
        hop.link_of for hop in path.hops
    ]
    assert all(place.kind is not PlaceKind.MEMORY for place in read.places)
    staged = timeline(*pair, Workload(Op.WRITE, DataPath.STAGED, 4096))
    assert stage(staged, "copy", Side.LOCAL).places[-1].kind is PlaceKind.MEMORY
    assert stage(staged, "dma_read").places[0].kind is PlaceKind.MEMORY
    assert stage(staged, "copy", Side.REMOTE).places[-1].id == h100.gpus[4].id


def test_host_memory_staged_is_copied_by_the_cpu(hosts):
    stages = timeline(*hosts, Workload(Op.WRITE, DataPath.STAGED, MIB))
    copies = [one for one in stages if one.key == "copy"]
    assert len(copies) == 2
    assert all(one.cpu and one.moves_bytes for one in copies)
    assert "copy_launch" not in keys(stages)


@pytest.mark.parametrize(("op", "path", "size"), CASES)
def test_breakdown_adds_up(pair, op, path, size):
    stages = timeline(*pair, Workload(op, path, size))
    shares = breakdown(stages)
    assert [one for one, _share in shares] == list(stages)
    assert sum(share for _one, share in shares) == pytest.approx(max(one.end_s for one in stages))
    assert all(0 <= share <= one.duration_s * (1 + 1e-9) for one, share in shares)


def test_breakdown_gives_the_bulk_to_what_sets_the_pace(pair):
    shares = {
        (one.key, one.side): share for one, share in breakdown(timeline(*pair, Workload(size_bytes=16 * MIB)))
    }
    assert shares["wire", Side.WIRE] == max(shares.values())
