"""Files that are broken, or meant to break: no exception, no hang, no growth."""

from __future__ import annotations

import os
import sys
import tracemalloc
from pathlib import Path

import pytest

from gdviz.errors import ReaderError
from gdviz.readers import nccl_topology, open_path, xml_positions
from gdviz.readers.notices import MAX_KINDS

sys.path.insert(0, str(Path(__file__).parent))

from hostile import WHOLE, Read, check, check_any

# ------------------------------------------------------------------ broken


def test_the_whole_file_is_fine(read_one: Read) -> None:
    machine = read_one(WHOLE)
    check(machine)
    assert (len(machine.gpus), len(machine.nics), len(machine.bridges)) == (2, 3, 1)


def test_every_truncation_gives_what_stands_before_it(read_one: Read) -> None:
    start = WHOLE.index("<system") + len("<system")
    counts = []
    for end in range(start, len(WHOLE) - 1):
        machine = read_one(WHOLE[:end])
        check(machine)
        counts.append(sum(1 for _part in machine))
        if end < WHOLE.index("</system>"):
            assert any("breaks off" in notice.text for notice in machine.notices), WHOLE[:end][-40:]
    assert counts[0] == 0
    assert max(counts) == counts[-1] == sum(1 for _part in read_one(WHOLE))


def test_the_notice_of_a_truncation_names_the_element_and_the_line(read_one: Read) -> None:
    cut = WHOLE[: WHOLE.index('<net name="mlx5_1"') + 12]
    (notice,) = [n for n in read_one(cut).notices if "breaks off" in n.text]
    assert notice.line == 1 + cut.count("\n")
    assert "<nic>" in notice.text


def test_a_wrong_closing_tag(read_one: Read) -> None:
    machine = read_one('<system version="1">\n<cpu numaid="0">\n</system>')
    assert machine.cpus[0].id == "cpu0"
    (notice,) = machine.notices
    assert notice.line == 3
    assert "inside <cpu>" in notice.text
    assert "mismatched tag" in notice.text


def test_what_follows_the_root(read_one: Read) -> None:
    machine = read_one('<system version="1"><cpu numaid="0"/></system>\n<system/>')
    assert len(machine.cpus) == 1
    assert [(n.line, "after </system>" in n.text) for n in machine.notices] == [(2, True)]


def test_leading_blank_lines_keep_line_numbers(read_one: Read) -> None:
    for head in ("\n\n", '\n\n<?xml version="1.0"?>'):
        machine = read_one(head + '<system version="7"><cpu numaid="0"/></system>')
        assert [notice.line for notice in machine.notices] == [3]


def test_text_between_elements(read_one: Read) -> None:
    machine = read_one('<system version="1">\n<cpu numaid="0">oops</cpu></system>')
    assert [(n.line, "'oops' inside <cpu>" in n.text) for n in machine.notices] == [(2, True)]


# ------------------------------------------------------------------ entities


BOMB = (
    '<?xml version="1.0"?>\n<!DOCTYPE system [\n<!ENTITY a "ha">\n'
    + "".join(
        f'<!ENTITY {new} "{f"&{old};" * 10}">\n' for old, new in zip("abcdefghi", "bcdefghij", strict=True)
    )
    + ']>\n<system version="1"><cpu numaid="0"/>\n<cpu numaid="&j;"/></system>'
)


def test_an_entity_bomb_is_not_lit(read_one: Read) -> None:
    machine = read_one(BOMB)
    check(machine)
    assert [cpu.id for cpu in machine.cpus] == ["cpu0"]
    doctype, undefined = machine.notices
    assert (doctype.line, undefined.line) == (2, BOMB.count("\n") + 1)
    assert "neither read nor expanded" in doctype.text
    assert "undefined entity" in undefined.text


def test_external_entities_are_not_opened(read_one: Read, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("cpu77")
    for doctype in (
        f'<!DOCTYPE system [<!ENTITY x SYSTEM "file://{secret}">]>',
        f'<!DOCTYPE system SYSTEM "file://{secret}">',
        f'<!DOCTYPE system [<!ENTITY % x SYSTEM "file://{secret}"> %x;]>',
    ):
        machine = read_one(f'{doctype}<system version="1"><cpu numaid="0"/><cpu numaid="&x;"/></system>')
        assert [cpu.id for cpu in machine.cpus] == ["cpu0"]
        assert "77" not in "".join(notice.text for notice in machine.notices)


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE system [<!-- ]> --> <!ENTITY a "]>">]>',
        "<!DOCTYPE system PUBLIC 'a>b' \"c]d\">",
        "<!DOCTYPE system [[[]]]>",
    ],
)
def test_a_document_type_ends_where_it_ends(read_one: Read, doctype: str) -> None:
    assert read_one(f'{doctype}<system version="1"><cpu numaid="4"/></system>').cpus[0].numa == 4


@pytest.mark.parametrize("mark", ["<!DOCTYPE", "<!DOCTYPE [", "<!DOCTYPE '", "<!DOCTYPE [<!--", "<!--", "<?"])
def test_what_never_ends_ends(mark: str) -> None:
    check_any(mark + "<!--" * 100_000)
    check_any(mark + "'\"[" * 100_000)


@pytest.mark.parametrize("piece", ["<!---->", "<?a?>"])
def test_an_endless_prolog_is_given_up(monkeypatch: pytest.MonkeyPatch, piece: str) -> None:
    text = piece * 50 + '<system version="1"/>'
    assert nccl_topology.looks_like(text)
    monkeypatch.setattr(xml_positions, "MAX_STEPS", 40)
    assert not nccl_topology.looks_like(text)


# ------------------------------------------------------------------ encodings


def test_utf_16(read_one: Read) -> None:
    text = WHOLE.replace("UTF-8", "UTF-16").replace("mlx5_0", "网卡")
    for data in (
        text.encode("utf-16"),
        text.replace("<?xml", "<?xml", 1).encode("utf-16-le"),
        text.encode("utf-16-be"),
    ):
        assert read_one(data).nic("网卡").index == 0


def test_latin_1_with_a_declaration(read_one: Read) -> None:
    text = WHOLE.replace("UTF-8", "ISO-8859-1").replace("mlx5_0", "Gerät")
    assert read_one(text.encode("latin-1")).nic("Gerät").index == 0


def test_latin_1_without_a_declaration(read_one: Read) -> None:
    data = WHOLE.replace("mlx5_0", "Gerät").encode("latin-1")
    machine = read_one(data)
    assert len(machine.nics) == 3
    (notice,) = [n for n in machine.notices if "utf-8" in n.text]
    assert notice.line == 1 + WHOLE[: WHOLE.index("mlx5_0")].count("\n")


@pytest.mark.parametrize("encoding", ["zlib", "hex", "rot13", "utf-7", "punycode", "nonsense", "idna"])
def test_strange_declared_encodings(read_one: Read, encoding: str) -> None:
    machine = read_one(WHOLE.replace("UTF-8", encoding).encode())
    assert len(machine.nics) == 3
    assert f"'{encoding}' is unknown" in machine.notices[0].text + machine.notices[1].text


def test_a_byte_order_mark_and_nul_bytes(read_one: Read) -> None:
    assert len(read_one(WHOLE.encode("utf-8-sig")).nics) == 3
    middle = len(WHOLE) // 2
    machine = read_one(WHOLE[:middle] + "\0" + WHOLE[middle:])
    check(machine)
    assert any("breaks off" in notice.text for notice in machine.notices)
    check_any(b"\0" * 100)
    check_any("\ud800<system>")


# ------------------------------------------------------------------ sizes


def test_a_hundred_thousand_levels(read_one: Read) -> None:
    level = '<pci busid="0000:01:00.0" class="0x060400" link_speed="8 GT/s" link_width="8">'
    depth = 100_000
    text = f'<system version="1"><cpu numaid="0">{level * depth}<nic/>'
    machine = read_one(text)
    assert len(machine.bridges) == depth
    assert len(machine.ancestors(machine.nics[0].id)) == depth + 2
    assert len(machine.notices) < 10


@pytest.mark.slow
def test_two_hundred_thousand_elements(read_one: Read) -> None:
    body = '<pci busid="0000:01:00.0" class="0x030200"/>' * 200_000
    machine = read_one(f'<system version="1"><cpu numaid="0">{body}</cpu></system>')
    assert len(machine.gpus) == 200_000
    assert len(machine.notices) < 10


def test_more_elements_than_are_read(read_one: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xml_positions, "MAX_ELEMENTS", 100)
    machine = read_one('<system version="1"><cpu numaid="0">' + "<nic/>\n" * 1000)
    assert len(machine.nics) == 98
    assert any("first 100 elements" in n.text and n.line == 99 for n in machine.notices)


def test_memory_stays_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xml_positions, "MAX_ELEMENTS", 5_000)
    text = '<system version="1"><cpu numaid="0">' + "<a/>" * 500_000
    tracemalloc.start()
    try:
        nccl_topology.read(text)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # Some copies of the text, and five thousand elements.
    assert peak < 4 * len(text) + 5_000 * 1_000


def test_a_megabyte_in_one_attribute(read_one: Read) -> None:
    long = "x" * 2**20
    machine = read_one(WHOLE.replace("mlx5_0", long).replace("0000:17:00.0", long))
    check(machine)
    assert all(len(part.id) <= 300 for part in machine)
    assert any("was cut" in notice.text for notice in machine.notices)


def test_a_thousand_kinds_of_nonsense_give_few_notices(read_one: Read) -> None:
    body = "".join(f"<e{n}/>" for n in range(1000))
    machine = read_one(f'<system version="1"><cpu numaid="0">{body}</cpu></system>')
    assert len(machine.notices) == MAX_KINDS + 1
    assert "800 more notices" in machine.notices[-1].text


# ------------------------------------------------------------------ names that would be more than names


@pytest.mark.parametrize(
    "name", ["<img src=x onerror=alert(1)>", "{{ 7*7 }}", "%n%n", "a\nb", "\x9b31m", "\u202egnp"]
)
def test_names_are_kept_as_they_are(read_one: Read, name: str) -> None:
    quoted = name.replace("<", "&lt;").replace("\n", "&#10;")
    machine = read_one(WHOLE.replace("mlx5_0", quoted))
    assert machine.nics[0].name == name
    for notice in machine.notices:
        assert notice.text.isprintable()


# ------------------------------------------------------------------ files


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"", "is empty"),
        (b"  \n ", "is empty"),
        (bytes(range(256)) * 4, "binary"),
        (b"NCCL INFO Bootstrap\n", "no reader knows"),
        (b'<drawing version="1"/>', "<drawing>"),
        (b"<!-- only a comment", "no reader knows"),
    ],
)
def test_what_is_no_topology_is_refused_with_one_line(tmp_path: Path, content: bytes, word: str) -> None:
    path = tmp_path / "topo.xml"
    path.write_bytes(content)
    with pytest.raises(ReaderError, match=word) as caught:
        open_path(path)
    assert "topo.xml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_cannot_be_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for path, word in (
        (tmp_path, "Nothing in"),
        (tmp_path / "pipe", "not a regular file"),
        (tmp_path / "loop", "cannot be read"),
        (tmp_path / "missing", "cannot be read"),
        (tmp_path / ("n" * 300), "cannot be read"),
        ("a\0b", "cannot be read"),
    ):
        with pytest.raises(ReaderError, match=word):
            open_path(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_no_permission(tmp_path: Path) -> None:
    path = tmp_path / "topo.xml"
    path.write_text(WHOLE)
    path.chmod(0)
    with pytest.raises(ReaderError, match="cannot be read"):
        open_path(path)


def test_a_huge_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "topo.xml"
    with path.open("wb") as file:
        file.truncate(2**31)
    with pytest.raises(ReaderError, match="larger than 64 MiB"):
        open_path(path)


def test_a_good_file_gets_its_name_from_the_path(tmp_path: Path) -> None:
    path = tmp_path / "rack 7.xml"
    path.write_text(WHOLE)
    opened = open_path(path)
    assert opened.kind == "nccl_topo_xml"
    assert (opened.machines[0].name, opened.machines[0].source) == ("rack 7", str(path))
    assert opened.notices == opened.machines[0].notices
