"""Captures: the script on this host, what it may hold, and how they are read."""

from __future__ import annotations

import ast
import base64
import json
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "sysfs"))

from click.testing import CliRunner
from sysfs_samples import NIC, config_space, files, links

from gdviz.cli.main import main
from gdviz.errors import ReaderError
from gdviz.readers import open_case, open_path
from gdviz.readers.capture import is_capture, read_capture
from gdviz.readers.capture_script import Names, anonymised, collect
from gdviz.readers.host import Environment, KernelModules

SCRIPT = Path(__file__).parents[2] / "gdviz" / "readers" / "capture_script.py"


def capture_of(host: str = "node-a") -> dict[str, object]:
    """A capture of the invented host of the sysfs tests."""
    port = NIC.rpartition("/")[0]
    packed = base64.b64encode(zlib.compress(config_space(acs=0x1D, kind=6))).decode()
    stored: dict[str, object] = {path: content.decode() for path, content in files().items()}
    return {
        "gdviz_capture": 1,
        "host": host,
        "needs_root": ["the kernel log (dmesg)"],
        "environment": {"NCCL_DEBUG": "INFO"},
        "commands": {
            "ofed_info -s": {"rc": 0, "out": "MLNX_OFED_LINUX-23.10-9.9.9.9:\n"},
            "x": {"error": "y"},
        },
        "links": links(),
        "files": {**stored, f"{port}/config": {"z": packed}, "boot/config": "CONFIG_PCI_P2PDMA=y"},
    }


def test_a_capture_reads_as_if_the_files_were_there() -> None:
    host, readings = read_capture(json.dumps(capture_of()), source="a.json")
    kinds = [reading.kind for reading in readings]
    assert host == "node-a"
    assert kinds[:3] == ["capture", "sysfs", "lspci"]
    assert set(kinds) == {
        *("capture", "sysfs", "lspci", "ibstat", "show_gids", "counters", "host_notes", "cmdline", "uname"),
        *("lsmod", "product", "kernel_config", "environment"),
    }
    (machine,) = (machine for reading in readings for machine in reading.machines)
    assert (len(machine.gpus), len(machine.nics)) == (1, 2)
    by_kind = {reading.kind: reading for reading in readings}
    variables = by_kind["environment"].facts
    assert isinstance(variables, Environment)
    assert by_kind["environment"].cite(variables.settings[0].line).text == "NCCL_DEBUG=INFO"
    assert isinstance(by_kind["lsmod"].facts, KernelModules)
    (notice,) = by_kind["capture"].notices
    assert "without root" in notice.text


def test_captures_are_hosts_of_a_case(tmp_path: Path) -> None:
    for host in ("node-a", "node-b"):
        (tmp_path / f"{host}.json").write_text(json.dumps(capture_of(host)))
    case = open_case(tmp_path)
    assert [node.name for node in case.nodes] == ["node-a", "node-b"]
    opened = open_path(tmp_path)
    assert [machine.name for machine in opened.machines] == ["node-a", "node-b"]
    assert open_path(tmp_path / "node-a.json").kind == "capture"


def test_a_capture_of_two_captures_of_one_host_is_one_node(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"{number}.json").write_text(json.dumps(capture_of("node-a")))
    (node,) = open_case(tmp_path).nodes
    assert len(node.of("sysfs")) == 2


@pytest.mark.parametrize(
    "text",
    [
        '{"gdviz_capture": 1',
        '{"gdviz_capture": "x"}',
        '{"gdviz_capture":' + "[" * 100_000,
    ],
)
def test_broken_captures(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    assert is_capture(text.encode())
    with pytest.raises(ReaderError):
        open_path(path)


@pytest.mark.parametrize("value", [None, 3, "x", [1], {"a": None}, {"a": {"z": "!"}}, {"sys/devices": "x"}])
def test_odd_values_are_no_harm(value: object) -> None:
    for key in ("host", "needs_root", "environment", "commands", "links", "files"):
        read_capture(json.dumps({**capture_of(), key: value}))


def test_what_unpacks_to_too_much_is_cut() -> None:
    bomb = base64.b64encode(zlib.compress(bytes(64 * 2**20))).decode()
    _host, readings = read_capture(json.dumps({"gdviz_capture": 1, "files": {"boot/x": {"z": bomb}}}))
    assert [reading.kind for reading in readings] == ["capture"]


def test_the_script_speaks_python_3_6_and_stands_alone() -> None:
    tree = ast.parse(SCRIPT.read_text(), feature_version=(3, 6))
    modules = {
        name.name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for name in node.names
    } | {
        node.module.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
    }
    assert modules <= set(sys.stdlib_module_names)
    assert "__future__" not in modules, "postponed annotations came with 3.7"
    calls = {
        node.func.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    assert not calls & {"removeprefix", "removesuffix"}, "these came with 3.9"


@pytest.mark.slow
def test_the_script_runs_from_standard_input(tmp_path: Path) -> None:
    with SCRIPT.open() as script:
        done = subprocess.run(
            [sys.executable, "-I", "-", "--anonymise", "--key", "k"],
            stdin=script, capture_output=True, text=True, timeout=120, check=True, cwd=tmp_path,
        )  # fmt: skip
    (tmp_path / "a.json").write_text(done.stdout)
    opened = open_path(tmp_path / "a.json")
    assert opened.kind == "capture"
    assert opened.machines[0].name.startswith("host-")


def test_nothing_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
    monkeypatch.setenv("NCCL_DEBUG", "INFO")
    monkeypatch.setenv("NVIDIA_VISIBLE_DEVICES", "all")
    monkeypatch.setenv("NVIDIA_API_KEY", "hunter3")
    capture = collect(run_commands=False)
    assert capture["environment"] == {"NCCL_DEBUG": "INFO", "NVIDIA_VISIBLE_DEVICES": "all"}
    assert "hunter" not in json.dumps(capture)
    words = capture["files"]["proc/cmdline"].split()
    assert not [word for word in words if word.startswith("root=") and word != "root=hidden"]


NAMES = """\
node-a.example.org and node-a, not node-ab; 10.30.1.11 on MLNX_OFED_LINUX-5.8-3.0.7.0 at 0000:17:00.0
GUID 0x00000000000000a1 is 0000:0000:0000:00a1, MAC 02:42:ac:11:00:02, GPU-11111111-2222-3333-4444-555555555555
GID 0000:0000:0000:0000:0000:ffff:0a1e:010b fe80:0000:0000:0000:0000:0000:0000:00a1 fe80::1 12:30:45
Serial Number : 1322100000 and Serial Number : N/A, driver 550.127.05
"""


def test_anonymised() -> None:
    names = Names(b"key", {"node-a", "node-a.example.org"})
    text = names.replaced(NAMES)
    for secret in (
        "node-a.",
        "node-a,",
        "10.30.1.11",
        "00a1",
        "02:42:ac",
        "11111111",
        "0a1e:010b",
        "1322100000",
    ):
        assert secret not in text, secret
    for kept in (
        "node-ab",
        "5.8-3.0.7.0",
        "0000:17:00.0",
        "550.127.05",
        "12:30:45",
        "N/A",
        "fe80:0000:0000:0000:",
    ):
        assert kept in text, kept
    assert text == Names(b"key", {"node-a", "node-a.example.org"}).replaced(NAMES)
    assert text != Names(b"other", {"node-a"}).replaced(NAMES)
    address = text.split(" on MLNX")[0].rsplit(" ", 1)[1]
    inside = "".join(f"{int(part):02x}" for part in address.split("."))
    assert f"ffff:{inside[:4]}:{inside[4:]}" in text, "a GID keeps the address that it holds"
    guid = text.split("GUID 0x")[1][:16]
    assert ":".join(guid[at : at + 4] for at in (0, 4, 8, 12)) in text, "both spellings of a GUID agree"


def test_an_anonymised_capture_reads_the_same() -> None:
    plain = capture_of("node-a")
    hidden = anonymised(plain, "key")
    assert "node-a" not in json.dumps(hidden)
    host, readings = read_capture(json.dumps(hidden))
    assert host == anonymised(plain, "key")["host"] != anonymised(plain, "other")["host"]
    _plain_host, before = read_capture(json.dumps(plain))
    assert [reading.kind for reading in readings] == [reading.kind for reading in before]
    (machine,) = readings[1].machines
    (known,) = before[1].machines
    assert [gpu.busid for gpu in machine.gpus] == [gpu.busid for gpu in known.gpus]


def test_command_line(tmp_path: Path) -> None:
    script = CliRunner().invoke(main, ["capture", "--script"])
    assert script.output == SCRIPT.read_text()
    path = tmp_path / "a.json"
    done = CliRunner().invoke(main, ["capture", "-o", str(path), "--anonymise"])
    assert done.exit_code == 0, done.output
    assert is_capture(path.read_bytes())


def test_this_host_opens() -> None:
    opened = open_path("live:")
    assert opened.kind == "capture"
    assert len(opened.machines) == 1
