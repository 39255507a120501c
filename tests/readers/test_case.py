"""Files and folders of one or several hosts as one case."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from gdviz.errors import ReaderError
from gdviz.readers import open_case, open_path
from gdviz.readers.case_files import Why

TOPOLOGY = '<system version="1"><cpu numaid="0"/></system>'
LSMOD = "Module                  Size  Used by\nmlx5_ib 1 0\n"
UNAME = "5.15.0-99-generic\n"
CONFIG = "CONFIG_PCI_P2PDMA=y\n"


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def nodes(*paths: Path) -> dict[str, list[str]]:
    return {node.name: [reading.kind for reading in node.readings] for node in open_case(*paths).nodes}


def test_a_folder_of_files_is_one_node(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": LSMOD, "b.txt": UNAME, "c.xml": TOPOLOGY})
    assert nodes(tmp_path) == {"node": ["lsmod", "uname", "nccl_topo_xml"]}


def test_subfolders_are_hosts(tmp_path: Path) -> None:
    write(tmp_path, {"node-a/m.txt": LSMOD, "node-b/k.txt": UNAME, "t.xml": TOPOLOGY})
    assert nodes(tmp_path) == {"node": ["nccl_topo_xml"], "node-a": ["lsmod"], "node-b": ["uname"]}
    assert open_case(tmp_path).node("node-a") is not None
    assert open_case(tmp_path).node("node-c") is None


def test_folders_that_only_sort_files_are_no_hosts(tmp_path: Path) -> None:
    write(tmp_path, {"n1/logs/m.txt": LSMOD, "n1/boot/config": CONFIG, "n2/m.txt": LSMOD})
    assert nodes(tmp_path) == {"n1": ["kernel_config", "lsmod"], "n2": ["lsmod"]}


def test_one_hosts_files_partly_in_a_folder(tmp_path: Path) -> None:
    write(tmp_path, {"m.txt": LSMOD, "more/k.txt": UNAME})
    assert nodes(tmp_path) == {"node": ["lsmod", "uname"]}


def test_several_folders_given_are_hosts(tmp_path: Path) -> None:
    write(tmp_path, {"a/m.txt": LSMOD, "b/m.txt": LSMOD})
    assert list(nodes(tmp_path / "a", tmp_path / "b")) == ["a", "b"]
    assert list(nodes(tmp_path / "a")) == ["node"]


def test_hosts_of_one_name_are_told_apart(tmp_path: Path) -> None:
    write(tmp_path, {"x/a/m.txt": LSMOD, "y/a/m.txt": LSMOD})
    assert list(nodes(tmp_path)) == ["a", "y/a"]


def test_what_is_not_used_is_told_and_stops_nothing(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "m.txt": LSMOD,
            "empty.log": b"",
            "blank.log": " \n\n",
            "binary": bytes(range(256)) * 4,
            "entities.xml": '<!DOCTYPE a [<!ENTITY x "y">]>' + TOPOLOGY,
            "README": "What this is about.\n",
            ".hidden": "x",
        },
    )
    (tmp_path / "loop").symlink_to("loop")
    case = open_case(tmp_path)
    assert [node.name for node in case.nodes] == ["node"]
    assert {Path(unread.file).name: unread.why for unread in case.unreadable} == {
        "empty.log": Why.EMPTY,
        "blank.log": Why.EMPTY,
        "binary": Why.BINARY,
        "entities.xml": Why.REFUSED,
        "README": Why.UNKNOWN,
        "loop": Why.REFUSED,
    }
    assert all(unread.reason for unread in case.unreadable)


def test_a_case_without_anything(tmp_path: Path) -> None:
    case = open_case(tmp_path / "missing")
    assert not case.nodes
    assert "No such file" in case.unreadable[0].reason
    assert open_case(tmp_path).nodes == ()
    with pytest.raises(ReaderError, match="holds no file"):
        open_path(tmp_path)
    with pytest.raises(ReaderError):
        open_case()
    with pytest.raises(ReaderError):
        open_case("")


def test_sources_are_as_the_person_gave_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"case/m.txt": LSMOD})
    monkeypatch.chdir(tmp_path)
    (reading,) = open_case("case").readings
    assert reading.source == "case/m.txt"


def test_a_packed_file_reads_like_its_content(tmp_path: Path) -> None:
    write(tmp_path, {"m.gz": gzip.compress(LSMOD.encode())})
    assert nodes(tmp_path) == {"node": ["lsmod"]}
    assert open_path(tmp_path / "m.gz").readings[0].kind == "lsmod"


def test_a_case_of_the_case_folder(shared: Path) -> None:
    case = open_case(shared / "cases" / "gid-index-3-is-link-local-on-node-b")
    assert [node.name for node in case.nodes if node.name != "node"] == ["node-a", "node-b"]
    assert {reading.kind for reading in case.nodes[-1].readings} >= {
        "show_gids",
        "ibv_devinfo",
        "environment",
    }
