"""A fuzzer over the reader: no exception, no hang, no growth."""

from __future__ import annotations

import random
import string
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))

from hostile import FUZZ_RUNS, WHOLE, check_any

# ------------------------------------------------------------------ the fuzzer


TOKENS = [
    *("<", ">", '"', "'", "/", "&", "=", "\0", "\n", "<!--", "-->", "<![CDATA[", "]]>", "<?", "?>"),
    *("<pci>", "</pci>", "<gpu>", "<nic>", "<net/>", "<cpu>", "</cpu>", "<system>", "</system>", "&lt;"),
    *("&#0;", "&#x9b;", "&x;", "<!DOCTYPE a [", "]>", "0x", "-1", "9" * 30, "1e9", "\ufffe", "\ud800", "é"),
]


def mutate(text: str, rng: random.Random) -> str:
    for _ in range(rng.randint(1, 6)):
        at, other = sorted((rng.randrange(len(text) + 1), rng.randrange(len(text) + 1)))
        match rng.randrange(6):
            case 0:
                text = text[:at] + rng.choice(TOKENS) + text[at:]
            case 1:
                text = text[:at] + text[min(other, at + rng.randint(1, 40)) :]
            case 2:
                text = text[:at] + text[at:other] + text[at:other] + text[other:]
            case 3:
                text = text[:at] + rng.choice(string.printable) + text[at + 1 :]
            case 4:
                quoted = text.split('"')
                if len(quoted) > 3:
                    first, second = (rng.randrange(0, len(quoted) // 2) * 2 + 1 for _ in range(2))
                    second = min(second, len(quoted) - 1)
                    first = min(first, len(quoted) - 1)
                    quoted[first], quoted[second] = quoted[second], quoted[first]
                    text = '"'.join(quoted)
            case 5:
                text = text[:at] if rng.random() < 0.2 else text[:at] + text[at:].upper()
        text = text[:20_000]
    return text


@pytest.mark.slow
def test_mutated_files() -> None:
    rng = random.Random(20)
    read = 0
    for run in range(FUZZ_RUNS):
        text = mutate(WHOLE, rng)
        data: str | bytes = text
        if run % 3 == 1:
            data = text.encode("utf-8", "surrogatepass")
        elif run % 3 == 2:
            raw = bytearray(text.encode("utf-8", "surrogatepass"))
            for _ in range(rng.randint(1, 4)):
                raw[rng.randrange(len(raw))] = rng.randrange(256)
            data = bytes(raw)
        read += check_any(data)
    # Most are still taken for a topology: the fuzzer reaches what lies behind the front door.
    assert read > FUZZ_RUNS / 2


VALUES = st.one_of(
    st.sampled_from(
        ["0000:01:00.0", "ffff:ff:01.0", "0", "1", "-1", "0x030200", "0x020700", "0x060400", "16 GT/s", ""]
    ),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters='<&"'), max_size=12),
)
NAMES = st.sampled_from(
    [
        *("busid", "class", "link_speed", "link_width", "dev", "sm", "gcn", "gdr", "name", "speed", "port"),
        *("target", "count", "tclass", "bw", "numaid", "affinity", "vendor", "device", "host_hash"),
    ]
)
TAGS = st.sampled_from(["cpu", "pci", "gpu", "nic", "net", "nvlink", "xgmi", "c2c", "pcilink", "odd"])


def element(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds(
        lambda tag, attributes, inside: "<{}{}>{}</{}>".format(
            tag, "".join(f' {key}="{value}"' for key, value in attributes.items()), "".join(inside), tag
        ),
        TAGS,
        st.dictionaries(NAMES, VALUES, max_size=6),
        st.lists(children, max_size=4),
    )


TREES = st.recursive(st.just(""), element, max_leaves=25)


@settings(max_examples=300, deadline=None)
@given(st.lists(TREES, max_size=3))
def test_any_tree(trees: list[str]) -> None:
    check_any(f'<system version="1"><cpu numaid="0">{"".join(trees)}</cpu>{"".join(trees)}</system>')


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(), st.binary()), st.sampled_from(["", "<system ", "<system>", WHOLE[:700]]))
def test_anything(tail: str | bytes, head: str) -> None:
    check_any(head.encode() + tail if isinstance(tail, bytes) else head + tail)
