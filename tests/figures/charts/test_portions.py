from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdviz.figures.charts.portions import critical, own_times, portions
from gdviz.machine import reference_machine
from gdviz.model import DataPath, Endpoint, Side, Stage, Workload, predict
from tests.figures.charts.samples import GPU, WIRE, stage


def told(stages: tuple[Stage, ...], **settings: object) -> list[tuple[str, float, bool]]:
    return [
        (one.stage.key if one.stage else "-", round(one.duration_s * 1e6, 6), one.cpu)
        for one in portions(stages, **settings)  # type: ignore[arg-type]
    ]


def test_stages_one_after_the_other_keep_their_time() -> None:
    assert told((stage("post", 0, 1, cpu=True), stage("wire", 1, 4), stage("poll", 4, 5, cpu=True))) == [
        ("post", 1, True),
        ("wire", 3, False),
        ("poll", 1, True),
    ]


def test_a_gap_belongs_to_nobody() -> None:
    assert told((stage("post", 0, 1), stage("poll", 3, 4))) == [
        ("post", 1, False),
        ("-", 2, False),
        ("poll", 1, False),
    ]


def test_of_a_pipeline_the_longest_has_the_overlap() -> None:
    read = stage("read", 0, 8, moves_bytes=True)
    wire = stage("wire", 1, 11, moves_bytes=True)
    write = stage("write", 2, 11.5, moves_bytes=True)
    assert told((read, wire, write)) == [("read", 1, False), ("wire", 10, False), ("write", 0.5, False)]


def test_of_equal_paces_the_narrowest_place_has_it() -> None:
    read = stage("read", 0, 100, moves_bytes=True, places=(GPU,))
    wire = stage("wire", 1, 101, moves_bytes=True, places=(WIRE,))
    assert told((read, wire)) == [("read", 100, False), ("wire", 1, False)]
    assert told((read, wire), capacities={GPU: 57e9, WIRE: 48e9}) == [
        ("read", 1, False),
        ("wire", 100, False),
    ]


def test_bytes_go_before_news_and_the_cpu_shows() -> None:
    launch = stage("launch", 0, 9, cpu=True)
    copy = stage("copy", 2, 12, moves_bytes=True)
    assert told((launch, copy)) == [("launch", 2, True), ("copy", 7, True), ("copy", 3, False)]


def test_of_news_the_critical_path_has_it() -> None:
    write = stage("write", 0, 10, moves_bytes=True)
    ack = stage("ack", 9, 14)
    notice = stage("notice", 10, 11, cpu=True)
    launch = stage("launch", 11, 16, cpu=True)
    assert critical((write, ack, notice, launch)) == {
        ("launch", Side.LOCAL),
        ("notice", Side.LOCAL),
        ("write", Side.LOCAL),
    }
    assert told((write, ack, notice, launch)) == [
        ("write", 10, False),
        ("notice", 1, True),
        ("launch", 5, True),
    ]


def test_nothing() -> None:
    assert portions(()) == ()
    assert critical(()) == frozenset()
    assert own_times(()) == []


times = st.integers(0, 50)
some = st.lists(
    st.tuples(times, times, st.booleans(), st.booleans()).map(
        lambda t: (min(t[:2]), max(t[:2]) + 1, t[2], t[3])
    ),
    min_size=1,
    max_size=12,
)


@given(some)
def test_shares_add_up_to_the_whole(raw: list[tuple[int, int, bool, bool]]) -> None:
    stages = tuple(
        stage(f"s{n}", start, end, cpu=cpu, moves_bytes=moves)
        for n, (start, end, cpu, moves) in enumerate(raw)
    )
    cut = portions(stages)
    total = max(one.end_s for one in stages)
    assert cut[0].start_s == 0
    assert cut[-1].end_s == total
    assert all(left.end_s == right.start_s for left, right in itertools.pairwise(cut))
    assert sum(seconds for _stage, seconds in own_times(cut)) == pytest.approx(total)
    for one in cut:
        if one.stage is not None:
            assert one.stage.start_s <= one.start_s
            assert one.end_s <= one.stage.end_s


@pytest.mark.parametrize("path", list(DataPath))
@pytest.mark.parametrize("size", [2, 4096, 2**20, 2**26])
def test_the_models_messages_add_up(path: DataPath, size: int) -> None:
    machine = reference_machine("hgx-h100")
    end = Endpoint(machine, machine.nics[0].id, machine.gpus[0].id)
    message = predict(end, end, Workload(path=path, size_bytes=size, depth=1), messages=64)
    cut = portions(message.stages, message.capacities)
    assert sum(one.duration_s for one in cut) == pytest.approx(max(one.end_s for one in message.stages))
    assert all(one.stage is not None for one in cut)
