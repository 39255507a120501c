"""Every reader takes whatever a file of its format has become: no exception, no hang, no growth.

``GDVIZ_FUZZ=20000`` sets how many mutated inputs each reader is given; a few by default. A reader is fed
with small own files anywhere, and with real ones where the folder of them is there.
"""

from __future__ import annotations

import os
import random
import time
import tracemalloc
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gdviz.readers import FORMATS, Format, Reading
from gdviz.readers.source import to_text
from tests.readers.mutations import NUMBERS, SIGNS, mutated
from tests.readers.own_samples import SAMPLES

RUNS = int(os.environ.get("GDVIZ_FUZZ", "60"))

#: Seconds that a reader may take, and bytes that it may hold for each byte of its input.
LIMIT_S, GROWTH = 2.0, 20

#: PyYAML holds a node with two marks for each word; the reader takes 2 MiB at most.
_GROWTH_OF = {"k8s_resourceslice": 60}

#: Inputs smaller than this are not weighed: a reader's own tables cost as much.
_SMALL_BYTES = 200_000

HERE = Path(__file__).parent
SEEDS = 8


@cache
def seeds() -> tuple[str, ...]:
    """Return small files of many formats: the doctor's cases here and, where they are, real ones."""
    roots = [
        HERE.parent / "doctor" / "cases",
        *(HERE.parents[2] / "shared" / name for name in ("cases", "corpus")),
    ]
    found = (path for root in roots for path in sorted(root.rglob("*")) if path.is_file())
    texts = [
        to_text(path.read_bytes())[0]
        for path in found
        if path.stat().st_size < 120_000 and path.suffix not in (".json", ".py", ".bz2")
    ]
    return tuple(dict.fromkeys((*SAMPLES, *texts)))


@cache
def seeds_of(known: Format) -> tuple[str, ...]:
    """Return those that a reader takes for its own; there is one at least."""
    own = [text for text in seeds() if known.looks_like(text)]
    assert own, f"tests/readers/own_samples.py has no file of the format {known.kind}"
    return (own[0], *own[1:][-SEEDS:])


def check(known: Format, data: str | bytes) -> None:
    """Assert what holds of every input."""
    text = to_text(data)[0]
    begin = time.process_time()
    known.looks_like(text)
    reading = known.read(data, name="node", source="somewhere")
    spent = time.process_time() - begin
    assert spent < LIMIT_S, f"{known.kind}: {spent:.1f} s for {len(data)} characters"
    assert isinstance(reading, Reading)
    for notice in reading.notices:
        assert notice.text
        assert notice.line is None or notice.line >= 1
    for machine in reading.machines:
        ids = [part.id for part in machine]
        assert len(ids) == len(set(ids))


@pytest.mark.slow
@pytest.mark.timeout(0 if RUNS > 1000 else 120)
@pytest.mark.parametrize("known", FORMATS, ids=lambda known: known.kind)
def test_mutated_inputs(known: Format) -> None:
    own = seeds_of(known)
    rng = random.Random(known.kind)
    for _run in range(RUNS):
        check(known, mutated(rng.choice(own), rng.choice(seeds()), rng))


@pytest.mark.parametrize("known", FORMATS, ids=lambda known: known.kind)
@pytest.mark.parametrize(
    "data", ["", "\n", "\0" * 50, b"\xff\xfe\x00", "x" * 10_000, "<a>" * 500, "{" * 500, "[" * 500]
)
def test_what_is_nothing(known: Format, data: str | bytes) -> None:
    check(known, data)


@pytest.mark.slow
@pytest.mark.parametrize("known", FORMATS, ids=lambda known: known.kind)
def test_memory_keeps_to_the_input(known: Format) -> None:
    text = max(seeds_of(known), key=len)
    text = "\n".join([text] * (_SMALL_BYTES // len(text) + 1)) if not text.lstrip().startswith("<") else text
    if len(text) < _SMALL_BYTES // 2:
        pytest.skip("no large file of this format is here")
    known.read(text)
    tracemalloc.start()
    try:
        known.read(text)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < _GROWTH_OF.get(known.kind, GROWTH) * len(text), f"{peak / len(text):.1f} times the input"


#: What formats are made of, for hypothesis to put together.
_WORDS = st.one_of(
    st.sampled_from([*NUMBERS, *SIGNS, "\n", "\n\n", "\t", ": ", "=", '"', "/>", "0000:1b:00.0", "mlx5_0"]),
    st.text(max_size=8),
)


@pytest.mark.slow
@pytest.mark.parametrize("known", FORMATS, ids=lambda known: known.kind)
def test_any_text_after_a_true_beginning(known: Format) -> None:
    own = seeds_of(known)

    @settings(max_examples=max(10, RUNS // 10), deadline=None, database=None)
    @given(
        st.integers(0, len(own) - 1), st.floats(0, 1), st.lists(_WORDS, max_size=30), st.binary(max_size=40)
    )
    def run(which: int, part: float, words: list[str], tail: bytes) -> None:
        text = own[which][:20_000]
        beginning = text[: int(len(text) * part)] + "".join(words)
        check(known, beginning)
        check(known, beginning.encode("utf-8", "replace") + tail)

    run()
