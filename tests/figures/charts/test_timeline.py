from __future__ import annotations

from itertools import pairwise

import pytest

from gdviz.figures import SlowMotion
from gdviz.figures.charts import timeline as tl
from gdviz.model import DataPath, Side
from tests.figures.charts.samples import HOSTILE, stage

STAGES = (
    stage("wire", 1, 4, side=Side.WIRE, text="Packets cross the wire."),
    stage("post", 0, 1, cpu=True, text="The CPU posts."),
    stage("dma_write", 2, 5, side=Side.REMOTE, text="The NIC writes."),
)


def test_what_is_active() -> None:
    motion = SlowMotion(STAGES, "One write")
    assert [one.key for one in motion.stages] == ["post", "wire", "dma_write"]
    assert [one.key for one in motion.at(0.0)] == ["post"]
    assert [one.key for one in motion.at(1e-6)] == ["wire"]
    assert [one.key for one in motion.at(3e-6)] == ["wire", "dma_write"]
    assert motion.at(5e-6) == ()
    assert motion.end_s == 5e-6


def test_steps_are_the_times_of_change() -> None:
    assert SlowMotion(STAGES).steps == (0.0, 1e-6, 2e-6, 4e-6, 5e-6)
    assert SlowMotion(()).steps == ()


def test_the_cursor_moves_and_the_active_stage_stands_out() -> None:
    motion = SlowMotion(STAGES)
    motion.set_time(3e-6)
    assert motion._cursor.data["x"] == pytest.approx([0.6])
    assert motion.source.data["alpha"] == [tl.OVER, tl.ACTIVE, tl.ACTIVE]
    assert [alpha > 0 for alpha in motion.source.data["band"]] == [False, True, True]
    assert motion._sentence.data["text"] == ["Packets cross the wire. The NIC writes."]
    motion.set_time(0.5e-6)
    assert motion.source.data["alpha"] == [tl.ACTIVE, tl.TO_COME, tl.TO_COME]
    motion.set_time(6e-6)
    assert motion._sentence.data["text"] == ["Done."]


def test_sentences() -> None:
    together = [stage(f"s{n}", 0, 1) for n in range(7)]
    assert tl.sentence(together[:3], 0.0) == "At once, on different parts of the message: s0, s1, s2."
    assert tl.sentence(together, 0.0) == "7 stages at once, each on another part of the message."
    assert tl.sentence([stage("a", 0, 1), stage("b", 2, 3)], 1.5e-6) == "Nothing happens at this moment."


def test_the_path_gives_the_colour() -> None:
    assert SlowMotion(STAGES).source.data["kind"] == ["direct cpu", "direct", "direct"]
    assert SlowMotion((stage("copy", 0, 1),)).source.data["kind"] == ["staged"]
    assert SlowMotion((stage("copy", 0, 1),), path=DataPath.DIRECT).source.data["kind"] == ["direct"]


def test_short_stages_can_be_seen() -> None:
    rows = tl.rows((stage("tiny", 0, 0.0001), stage("long", 0, 1000)), DataPath.DIRECT)
    assert rows["right"] == [tl.SHORTEST, 1.0]
    assert rows["text"] == ["0.100 ns", "1.00 ms"]


def test_update_goes_back_to_the_start() -> None:
    motion = SlowMotion(STAGES)
    motion.set_time(3e-6)
    motion.update(STAGES[:1], title="Another")
    assert motion.time_s == 0.0
    assert motion._title.text == "Another, simulated"
    assert len(motion.source.data["alpha"]) == 1


def test_the_axis_never_changes() -> None:
    # So ticks of one message cannot stand in the scale of another.
    motion = SlowMotion(())
    before = motion._plot.x_range.start, motion._plot.x_range.end
    for stages in (STAGES, (stage("long", 0, 4000),), (stage("short", 0, 0.002),), ()):
        motion.update(stages)
        assert (motion._plot.x_range.start, motion._plot.x_range.end) == before
        ticks = motion._plot.xaxis[0].ticker.ticks
        assert all(0 <= tick <= tl.END for tick in ticks)
        assert all(right - left > 0.1 for left, right in pairwise(ticks))


def test_a_long_sentence_takes_two_lines() -> None:
    text = "The copy engine reads 64 MiB from the bounce buffer in host memory. " * 2
    (shown,) = tl.saying(text)["text"]
    first, second = shown.split("\n")
    assert f"{first} {second}" == text.strip()


def test_empty() -> None:
    motion = SlowMotion((), title="")
    assert motion._sentence.data["text"] == ["Choose a message to play it in slow motion"]
    assert motion._cursor.data == {"x": [], "top": [], "bottom": []}
    assert str(motion) == "Choose a message to play it in slow motion"


def test_hostile_strings() -> None:
    motion = SlowMotion((stage("x", 0, 1, name=HOSTILE, text=HOSTILE),), HOSTILE)
    assert motion.source.data["name"] == ["<img src=x onerror=alert(1)>, local"]
    assert motion._sentence.data["text"] == ["<img src=x onerror=alert(1)>"]
    assert "\x07" not in motion._title.text


def test_text_twin() -> None:
    motion = SlowMotion(STAGES, "One write of 4 KiB, direct")
    motion.set_time(1.5e-6)
    assert str(motion) == (
        "One write of 4 KiB, direct, simulated\n"
        "   stage      side            from       to     time\n"
        "   post       local   CPU        0  1.00 µs  1.00 µs\n"
        ">  wire       wire         1.00 µs  4.00 µs  3.00 µs\n"
        "   dma_write  remote       2.00 µs  5.00 µs  3.00 µs\n"
        "\n"
        "1.50 µs: Packets cross the wire."
    )
