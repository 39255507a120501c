from __future__ import annotations

import pytest

from gdviz.doctor.versions import MODULE, NcclVersion, level_of, rank_of


@pytest.mark.parametrize(
    ("version", "number", "kind"),
    [
        ((2, 7, 8), 3, "PXB"),
        ((2, 7, 8), 5, "SYS"),
        ((2, 10, 3), 6, "SYS"),
        ((2, 12, 7), 7, "SYS"),
        ((2, 19, 3), 6, "PHB"),
        ((2, 21, 5), 4, "PXB"),
        ((2, 26, 2), 7, "PHB"),
        ((2, 26, 2), 3, "C2C"),
        ((2, 27, 3), 7, "P2C"),
        ((2, 27, 3), 6, "PXN"),
        ((2, 27, 7), 6, "P2C"),
        ((2, 28, 9), 8, "PHB"),
        ((2, 30, 3), 9, "SYS"),
        ((2, 19, 3), 99, None),
    ],
)
def test_numbers_by_release(version: tuple[int, int, int], number: int, kind: str | None) -> None:
    assert NcclVersion(*version).type_of(number) == kind


@pytest.mark.parametrize(
    ("version", "c2c", "level"),
    [
        ((2, 10), True, "PXB"),
        ((2, 26, 2), True, "PXB"),
        ((2, 29, 1), True, "PXB"),
        ((2, 29, 2), True, "P2C"),
        ((2, 29, 2), False, "PXB"),
    ],
)
def test_default_level(version: tuple[int, ...], c2c: bool, level: str) -> None:
    assert NcclVersion(*version).default_level(c2c=c2c) == level


def test_where_it_looks_for_the_module() -> None:
    assert MODULE not in NcclVersion(2, 22, 3).peermem_places
    assert MODULE in NcclVersion(2, 23, 4).peermem_places
    assert len(NcclVersion(2, 8).peermem_places) == 1


def test_levels_as_words_and_as_old_integers() -> None:
    assert [level_of(str(n)) for n in range(7)] == ["LOC", "PIX", "PXB", "PHB", "SYS", "SYS", "SYS"]
    assert level_of("sys") == "SYS"
    assert level_of("nonsense") is None
    assert level_of("NET") is None


def test_parse() -> None:
    assert NcclVersion.parse("NCCL version 2.13.4+cuda11.7") == NcclVersion(2, 13, 4)
    assert NcclVersion.parse("no number") is None
    assert str(NcclVersion.parse("2.26")) == "2.26.0"
    assert NcclVersion(2, 9) < NcclVersion(2, 12)


def test_ranks_are_ordered() -> None:
    kinds = ("LOC", "NVL", "C2C", "PIX", "PXB", "P2C", "PHB", "SYS")
    assert sorted(kinds, key=rank_of) == list(kinds)
