"""Pages with several listings: blocks, right line numbers, each format its own."""

from __future__ import annotations

import pytest

from gdviz.readers import open_text
from gdviz.readers.pages import cut
from gdviz.readers.text_lines import command_of, split_lines, transcript

LSMOD = "Module                  Size  Used by\nmlx5_ib 1 0"
TOPOLOGY = '<?xml version="1.0"?>\n<system version="1"><cpu numaid="0"/><odd/></system>'
IBSTAT = "CA 'mlx5_0'\n\tNumber of ports: 1\n\tPort 1:\n\t\tState: Down"

PAGES = {
    "markdown": f"# Title\n\nText.\n\n```console\n{LSMOD}\n```\n\n~~~\n{IBSTAT}\n~~~\n```xml\n{TOPOLOGY}\n```\n",
    "quoted": f"> ```\n{LSMOD}\n> ```\nthen\n```\n{IBSTAT}\n```\n```\n{TOPOLOGY}",
    "html": f"<p>Text</p>\n<pre>\n{LSMOD}\n</pre>\n<pre class='x'>\n{IBSTAT}\n</pre>\n<pre>\n{TOPOLOGY}\n</pre>\n",
    "transcript": f"$ lsmod\n{LSMOD}\n[root@a ~]# ibstat\n{IBSTAT}\nme@b:~$ cat topo.xml\n{TOPOLOGY}\n",
}
PAGES["rst"] = "Title\n=====\n\n.. code-block:: text\n\n" + "\n\nText::\n\n".join(
    "\n".join("   " + line for line in part.split("\n")) for part in (LSMOD, IBSTAT, TOPOLOGY)
)


@pytest.mark.parametrize("name", PAGES)
def test_each_listing_is_read_with_its_own_lines(name: str) -> None:
    page = PAGES[name]
    opened = open_text(page, name="n")
    by_kind = {reading.kind: reading for reading in opened.readings}
    assert set(by_kind) == {"lsmod", "ibstat", "nccl_topo_xml"}
    assert len(opened.readings) == 3
    lines = split_lines(page)
    module = by_kind["lsmod"].facts.loaded[0]  # type: ignore[attr-defined]
    adapter = by_kind["ibstat"].facts.adapters[0]  # type: ignore[attr-defined]
    assert "mlx5_ib" in lines[module.line - 1]
    assert "CA 'mlx5_0'" in lines[adapter.line - 1]
    assert adapter.ports[0].state == "Down"
    (notice,) = by_kind["nccl_topo_xml"].notices
    assert notice.line is not None
    assert "<odd/>" in lines[notice.line - 1]
    for reading in opened.readings:
        assert reading.lines == tuple(lines)
    assert opened.kind == "nccl_topo_xml", "the reading with a machine names the file"
    assert len(opened.machines) == 1


def test_a_plain_file_is_one_block() -> None:
    assert len(cut(["a", "b", "# c", "", "d"])) == 1


def test_too_many_blocks_are_one() -> None:
    assert len(cut(["$ a", "b"] * 1000)) == 1


def test_an_open_fence_goes_to_the_end() -> None:
    (reading,) = open_text(f"Text\n```\n{LSMOD}\n").readings
    assert reading.kind == "lsmod"


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("$ uname -r", "uname -r"),
        ("user@host:~/a b$ ls", "ls"),
        ("[root@host ~]# lspci", "lspci"),
        ("root@3f2a:/# env", "env"),
        ("# a remark", None),
        ("$HOME is set", None),
        ("costs $ 5", None),
    ],
)
def test_prompts(line: str, command: str | None) -> None:
    assert command_of(line) == command


def test_transcripts() -> None:
    answers = list(transcript(["before", "$ a", "", "x", "$ b"]))
    assert [(answer.command, answer.line, answer.first) for answer in answers] == [
        ("", 0, (1, "before")),
        ("a", 2, (4, "x")),
        ("b", 5, None),
    ]


def test_lines_end_as_in_editors() -> None:
    assert split_lines("a\r\nb\rc\x0bd\u2028e\n") == ["a", "b", "c\x0bd\u2028e"]
