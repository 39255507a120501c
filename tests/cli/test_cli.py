from __future__ import annotations

import doctest
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gdviz import cli
from gdviz.cli import output
from gdviz.machine import reference_machine
from gdviz.quantities import format_bits

EVIL = "<img src=x onerror=alert(1)>\x9b31m\u202e"

TOPOLOGY = """<system version="1">
<cpu numaid="0" affinity="ff" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
  <pci busid="0000:17:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
    <pci busid="0000:19:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16"/>
    <pci busid="0000:1a:00.0" class="0x020700" link_speed="16 GT/s" link_width="8">
      <nic><net name="mlx5_0" speed="200000"/></nic>
    </pci>
  </pci>
  <nic><net name="NAME" dev="1"/></nic>
</cpu>
<cpu><odd/></cpu>
</system>
"""

TWO_HOSTS = (
    '<system version="1"><cpu numaid="0" host_hash="0x1"><pci busid="0000:01:00.0" class="0x030200"/></cpu>'
    '<cpu numaid="0" host_hash="0x2"><pci busid="0000:02:00.0" class="0x030200"/>'
    '<nic><net name="a"/></nic></cpu></system>'
)


@pytest.fixture
def topology(tmp_path: Path) -> str:
    path = tmp_path / "topo.xml"
    path.write_text(TOPOLOGY.replace("NAME", EVIL.replace("<", "&lt;")), encoding="utf-8")
    return str(path)


def gdviz(*arguments: str) -> Result:
    return CliRunner().invoke(cli.main, arguments)


def as_json(*arguments: str) -> Any:
    result = gdviz(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def refused(*arguments: str) -> str:
    """Return the one line on standard error of a command that must fail."""
    result = gdviz(*arguments)
    assert result.exit_code == 2
    assert not result.stdout
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("gdviz: ")
    return result.stderr


def test_examples() -> None:
    result = doctest.testmod(output)
    assert result.attempted
    assert not result.failed


# ------------------------------------------------------------------ open


def test_open_as_json(topology: str) -> None:
    assert as_json("open", topology) == {
        "kind": "nccl_topo_xml",
        "nodes": [
            {
                "name": "topo",
                "gpus": [{"id": "0000:19:00.0", "busid": "0000:19:00.0", "name": "GPU", "numa": 0}],
                "nics": [
                    {
                        "id": "mlx5_0",
                        "busid": "0000:1a:00.0",
                        "name": "mlx5_0",
                        "speed_gbps": 200.0,
                        "numa": 0,
                    },
                    {"id": EVIL, "busid": None, "name": EVIL, "speed_gbps": None, "numa": 0},
                ],
                "bridges": 1,
                "cpus": 2,
            }
        ],
        "warnings": [
            {"line": 11, "text": "A <cpu> has no numaid."},
            {"line": 11, "text": "<odd> in <cpu> is no element that NCCL knows; it was skipped."},
        ],
    }


def test_open_for_people(topology: str) -> None:
    result = gdviz("open", topology)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "topo: 1 GPUs, 2 NICs, 1 bridges, 2 CPUs"
    assert "mlx5_0 (PIX)" in result.stdout
    assert "200 Gb/s" in result.stdout
    assert "line 11: A <cpu> has no numaid." in lines


def test_columns_stand_below_each_other(topology: str) -> None:
    lines = gdviz("open", topology).stdout.splitlines()
    head = next(line for line in lines if line.startswith("GPU"))
    row = lines[lines.index(head) + 1]
    for word, value in (("bus id", "0000:19:00.0"), ("link", "Gen4 x16"), ("nearest NIC", "mlx5_0")):
        assert head.index(word) == row.index(value)


def test_names_reach_the_terminal_without_their_control_characters(topology: str) -> None:
    for arguments in (("open", topology), ("path", topology, "--gpu", "0", "--nic", "1")):
        for more in ((), ("--json",)):
            out = gdviz(*arguments, *more).stdout
            assert all(ch.isprintable() or ch == "\n" for ch in out)
            assert "onerror=alert(1)" in out
    assert "\\x9b31m\\u202e" in gdviz("open", topology).stdout


def test_del_is_escaped_in_json(tmp_path: Path) -> None:
    path = tmp_path / "t.xml"
    path.write_text('<system version="1"><cpu numaid="0"><nic><net name="a\x7fb"/></nic></cpu></system>')
    result = gdviz("open", str(path), "--json")
    assert "\x7f" not in result.stdout
    assert json.loads(result.stdout)["nodes"][0]["nics"][0]["name"] == "a\x7fb"


def test_open_the_catalogue() -> None:
    opened = as_json("open", "catalogue:hgx-h100")
    assert opened["kind"] == "catalogue"
    assert len(opened["nodes"][0]["gpus"]) == 8
    assert opened["warnings"] == []


def test_a_truncated_file_is_opened_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "cut.xml"
    path.write_text(TOPOLOGY[: TOPOLOGY.index("</pci>")])
    opened = as_json("open", str(path))
    assert len(opened["nodes"][0]["gpus"]) == 1
    assert any("breaks off inside <pci>" in warning["text"] for warning in opened["warnings"])


# ------------------------------------------------------------------ path


@pytest.mark.parametrize(("gpu", "nic"), [("0", "0"), ("0000:19:00.0", "1a:00.0"), ("GPU", "mlx5_0")])
def test_path_as_json(topology: str, gpu: str, nic: str) -> None:
    first = {
        "from": "0000:19:00.0",
        "to": "0000:17:00.0",
        "kind": "PCIe",
        "gen": 4,
        "width": 16,
        "gbps": 252.062,
    }
    second = {
        "from": "0000:17:00.0",
        "to": "mlx5_0",
        "kind": "PCIe",
        "gen": 4,
        "width": 8,
        "gbps": 126.031,
    }
    assert as_json("path", topology, "--gpu", gpu, "--nic", nic) == {
        "distance": "PIX",
        "nccl": "PIX",
        "hops": [first, second],
        "bottleneck": second,
    }


def test_what_is_unknown_is_null(tmp_path: Path) -> None:
    path = tmp_path / "t.xml"
    path.write_text(TWO_HOSTS)
    found = as_json("path", str(path), "--gpu", "0", "--nic", "a", "--node", "t-1")
    assert found["bottleneck"] is None
    assert {hop["gbps"] for hop in found["hops"]} == {None}
    assert found["hops"][0]["gen"] is None
    people = gdviz("path", str(path), "--gpu", "0", "--nic", "a", "--node", "1").stdout
    assert "No hop's bandwidth is known." in people


def test_path_for_people(topology: str) -> None:
    lines = gdviz("path", topology, "--gpu", "0", "--nic", "0").stdout.splitlines()
    assert lines[0] == "GPU 0 (GPU, 0000:19:00.0) → NIC 0 (mlx5_0)"
    assert lines[1].startswith("PIX: through one PCIe switch")
    assert [line.endswith("narrowest") for line in lines[3:5]] == [False, True]
    assert lines[-1] == "Narrowest: 0000:17:00.0 → mlx5_0, 126 Gb/s"


@pytest.mark.parametrize("key", ["hgx-h100", "pcie-a30"])
def test_a_port_that_carries_less_than_the_path(key: str) -> None:
    machine = reference_machine(key)
    lines = gdviz("path", key, "--gpu", "0", "--nic", "0").stdout.splitlines()
    port = format_bits(machine.nics[0].speed_bytes_per_s or 0)
    assert lines[-1] == f"The port of {machine.nics[0].name} carries less than any hop: {port}"


def test_several_nodes(tmp_path: Path) -> None:
    path = tmp_path / "rack.xml"
    path.write_text(TWO_HOSTS)
    assert [node["name"] for node in as_json("open", str(path))["nodes"]] == ["rack-0", "rack-1"]
    arguments = ("path", str(path), "--gpu", "0", "--nic", "0")
    assert "2 nodes. Say which with --node: rack-0, rack-1." in refused(*arguments)
    assert "no node 'x'" in refused(*arguments, "--node", "x")
    assert "rack-0 has no NIC" in refused(*arguments, "--node", "0")


@pytest.mark.parametrize(
    ("name", "gpu", "nic", "distance"),
    [
        ("azure-ndv5-8xH100-topo.xml", "0", "0", "PIX"),
        ("azure-ndv5-8xH100-topo.xml", "0001:00:00.0", "0108:00:00.0", "SYS"),
        ("aws-p4d-8xA100-4EFA-topo.xml", "0000:10:1c.0", "0000:20:1b.0", "PHB"),
        ("oci-BM.GPU.H100-8-topo.xml", "0", "mlx5_1", "PXB"),
        ("rccl-topo_8p_940.xml", "0", "mlx5_0", "PXB"),
    ],
)
def test_paths_of_real_files(shared: Path, name: str, gpu: str, nic: str, distance: str) -> None:
    path = shared / "corpus" / "nccl_topo_xml" / name
    assert as_json("path", str(path), "--gpu", gpu, "--nic", nic)["distance"] == distance


# ------------------------------------------------------------------ mistakes


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    binary = tmp_path / "binary.xml"
    binary.write_bytes(os.urandom(64).replace(b"<", b"\0") + b"\0" * 64)
    assert "cannot be read" in refused("open", str(tmp_path / "missing\x1b[31m\n.xml"))
    assert "binary.xml" in refused("open", str(tmp_path))
    assert "binary.xml" in refused("path", str(binary), "--gpu", "0", "--nic", "0")
    other = tmp_path / "other.xml"
    other.write_text("<drawing/>")
    assert "<drawing>" in refused("open", str(other), "--json")


def test_unknown_devices(topology: str) -> None:
    assert "has no GPU '9'" in refused("path", topology, "--gpu", "9", "--nic", "0")
    assert "has no NIC 'mlx5_9'" in refused("path", topology, "--gpu", "0", "--nic", "mlx5_9")
    assert "no machine 'x'" in refused("open", "catalogue:x")


def test_help_version_and_machines() -> None:
    assert "path" in gdviz("--help").stdout
    assert gdviz("--version").stdout.startswith("gdviz")
    assert gdviz("--version").exit_code == 0
    assert "catalogue:hgx-h100" in gdviz("machines").stdout
    assert as_json("machines")["hgx-h100"] == 8
    assert gdviz("path", "catalogue:hgx-h100").exit_code == 2


# ------------------------------------------------------------------ the real program


def run_program(*arguments: str, **more: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "gdviz.cli", *arguments],
        cwd=Path(cli.__file__).parents[2],
        capture_output="stdout" not in more,
        timeout=60,
        check=False,
        **more,
    )


@pytest.mark.slow
def test_a_process_of_its_own(topology: str) -> None:
    result = run_program("open", topology, "--json")
    assert (result.returncode, result.stderr) == (0, b"")
    assert json.loads(result.stdout)["kind"] == "nccl_topo_xml"
    result = run_program("open", "/nowhere")
    assert (result.returncode, result.stdout) == (2, b"")
    assert result.stderr.count(b"\n") == 1


@pytest.mark.slow
def test_a_reader_that_has_gone_is_no_error() -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        result = run_program("open", "catalogue:hgx-h100", "--json", stdout=write, stderr=subprocess.PIPE)
    finally:
        os.close(write)
    assert result.stderr == b""


@pytest.mark.slow
def test_a_terminal_without_letters(topology: str) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    result = run_program("path", topology, "--gpu", "0", "--nic", "0", env=environment)
    assert (result.returncode, result.stderr) == (0, b"")
    assert b"\\u2192" in result.stdout


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_one_line() -> None:
    with Path("/dev/full").open("wb") as full:
        result = run_program("open", "catalogue:hgx-h100", stdout=full, stderr=subprocess.PIPE)
    assert result.returncode == 2
    assert result.stderr.startswith(b"gdviz: ")
    assert result.stderr.count(b"\n") == 1


def test_no_path_at_all_is_said() -> None:
    assert "it is empty" in refused("open", "")


def test_a_bare_name_of_the_catalogue_will_do() -> None:
    told = CliRunner().invoke(cli.main, ["path", "pcie-a30", "--gpu", "1", "--nic", "0", "--json"])
    assert told.exit_code == 0
    assert json.loads(told.stdout)["distance"] == "SYS"


def test_what_a_file_says_of_gpudirect_rdma_is_shown(tmp_path: Path) -> None:
    file = tmp_path / "topo.xml"
    file.write_text(
        '<system version="1"><cpu numaid="0"><pci busid="0000:01:00.0" class="0x030200">'
        '<gpu dev="0" gdr="1"/></pci><pci busid="0000:02:00.0" class="0x020000">'
        '<nic><net name="mlx5_0" dev="0" gdr="0"/></nic></pci></cpu></system>'
    )
    told = CliRunner().invoke(cli.main, ["open", str(file)]).stdout
    gpu, nic = (next(line for line in told.splitlines() if name in line) for name in ("0000:01", "0000:02"))
    assert " yes " in gpu
    assert " no " in nic


def test_between_sockets_the_rate_is_nccls() -> None:
    said = gdviz("path", "pcie-a30", "--gpu", "1", "--nic", "0").stdout
    assert "what NCCL counts with" in said
    assert "what NCCL counts with" not in gdviz("path", "pcie-a30", "--gpu", "0", "--nic", "0").stdout


@pytest.mark.parametrize("arguments", [("capture", "-o"), ("bench", "-n", "5", "--out_json_file")])
def test_a_file_that_cannot_be_written_is_named(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    file = str(tmp_path / "no" / "such.json")
    done = subprocess.run(
        [sys.executable, "-m", "gdviz.cli", *arguments, file], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == f"gdviz: {file}: No such file or directory"


def test_a_key_is_for_anonymising() -> None:
    assert "--anonymise" in refused("capture", "--key", "abc")
