"""Copies of /sys: as a mapping, a folder, an archive."""

from __future__ import annotations

import io
import os
import sys
import tarfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from sysfs_samples import GPU, SWITCH, archive, config_space, files, links

from gdviz.errors import ReaderError
from gdviz.machine import Machine
from gdviz.readers import Reading, open_case, open_path
from gdviz.readers.fabric import Counters, GidTable, IbStat
from gdviz.readers.host import HostNotes, Kernel, KernelCommandLine, KernelModules, Product
from gdviz.readers.lspci.facts import PciListing
from gdviz.readers.sysfs.archive import read_archive
from gdviz.readers.sysfs.config_space import decode
from gdviz.readers.sysfs.locate import root_with_sys
from gdviz.readers.sysfs.reader import read_tree
from gdviz.readers.sysfs.tree import FolderTree, MappingTree, SubTree


@pytest.fixture
def readings() -> dict[str, Reading]:
    return {
        reading.kind: reading for reading in read_tree(MappingTree(files(), links()), name="a", source="s")
    }


@pytest.fixture
def on_disk(tmp_path: Path) -> Path:
    root = tmp_path / "host"
    for path, content in files().items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
    for path, target in links().items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).symlink_to(target)
    return root


def machine_of(readings: dict[str, Reading]) -> Machine:
    (machine,) = readings["sysfs"].machines
    return machine


def test_machine(readings: dict[str, Reading]) -> None:
    machine = machine_of(readings)
    assert str(machine) == "a: 1 GPUs, 2 NICs, 3 bridges, 2 CPUs"
    assert [bridge.kind.value for bridge in machine.bridges] == ["host bridge", "root port", "switch"]
    gpu = machine.gpus[0]
    assert (gpu.busid, gpu.name, gpu.numa, gpu.bar1_bytes) == (
        "0000:18:00.0",
        "H100-SXM5-80GB",
        1,
        128 * 2**30,
    )
    first, second = machine.nics
    assert (first.name, first.port, first.speed_bytes_per_s, first.busid) == (
        "mlx5_1",
        1,
        50e9,
        "0000:19:00.0",
    )
    assert (second.port, second.speed_bytes_per_s) == (2, 5e9)
    assert first.link_layer.value == "Ethernet"
    assert str(machine.path(0, 0).distance) == "PIX"
    assert first.link.degraded
    assert (first.link.gen, first.link.width, first.link.max_gen, first.link.max_width) == (4, 8, 5, 16)
    assert [sorted(cpu.affinity) for cpu in machine.cpus] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert (machine.cpus[0].arch, machine.cpus[0].model) == ("x86_64", 143)


def test_what_other_tools_would_say(readings: dict[str, Reading]) -> None:
    def facts(kind: str) -> object:
        return readings[kind].facts

    stat, gids, counts, notes = facts("ibstat"), facts("show_gids"), facts("counters"), facts("host_notes")
    assert isinstance(stat, IbStat)
    assert [port.state for port in stat.adapters[0].ports] == ["Active", "Down"]
    assert isinstance(gids, GidTable)
    assert (gids.rows[0].ipv4, gids.rows[0].version, gids.rows[0].index) == ("10.0.0.1", "v2", 3)
    assert isinstance(counts, Counters)
    assert counts.of("out_of_sequence")[0].value == 12
    assert isinstance(notes, HostNotes)
    assert {(note.subject, note.value) for note in notes.of("iommu-group")} == {
        ("0000:18:00.0", "7"),
        ("0000:19:00.0", "8"),
    }
    assert notes.of("iommu-group-type")[0].value == "identity"
    assert notes.of("ib-device", "mlx5_1")[0].value == "0000:19:00.0"
    assert notes.of("peer-memory-path")[0].subject == "/sys/module/nvidia_peermem/version"
    for kind in ("ibstat", "show_gids", "counters", "host_notes"):
        assert readings[kind].cite(1).text, kind
    command_line, modules, kernel, product = (
        facts("cmdline"),
        facts("lsmod"),
        facts("uname"),
        facts("product"),
    )
    assert isinstance(command_line, KernelCommandLine)
    assert command_line.get("iommu") == "pt"
    assert isinstance(modules, KernelModules)
    assert modules.find("mlx5_ib") is not None
    assert isinstance(kernel, Kernel)
    assert kernel.release == "6.8.0-9-generic"
    assert isinstance(product, Product)
    assert (product.name, product.vendor) == ("Model 1", "Maker")


def test_acs_from_configuration_space() -> None:
    held = files()
    port = f"{SWITCH}/0000:17:00.0"
    held[f"{port}/config"] = config_space(acs=0x1D, kind=6)
    found = {reading.kind: reading for reading in read_tree(MappingTree(held, links()), name="a")}
    listing = found["lspci"].facts
    assert isinstance(listing, PciListing)
    function = listing.function("0000:17:00.0")
    assert function is not None
    assert function.acs is not None
    assert (function.acs.req_redir, function.acs.src_valid, function.acs.trans_blk) == (True, True, False)
    assert function.acs.mask == 0x1D
    assert "ReqRedir+" in found["lspci"].cite(function.acs.line).text
    assert function.port_type == "Downstream Port"
    other = listing.function("0000:17:01.0")
    assert other is not None
    assert other.acs is None, "what could not be read is not off"
    assert other.acs_capability is None
    assert (other.port_type, listing.verbose) == ("Downstream Port", True)


def test_configuration_space() -> None:
    whole = decode(config_space(acs=4, kind=5))
    assert (whole.port_type, whole.acs, whole.ats, whole.relaxed_ordering) == ("Upstream Port", 4, True, True)
    assert (whole.mps_bytes, whole.mrrs_bytes) == (512, 4096)
    assert (whole.speed, whole.width, whole.max_speed, whole.max_width) == (4, 8, 5, 16)
    assert (whole.primary, whole.secondary, whole.subordinate) == (0x16, 0x17, 0x19)
    short = decode(config_space(acs=4, kind=5)[:64])
    assert (short.vendor, short.acs, short.port_type, short.whole) == (0x1000, None, "", False)
    assert decode(b"").vendor is None
    looped = bytearray(config_space(acs=4, kind=5))
    looped[0x100:0x104] = (0x0D | 0x100 << 20).to_bytes(4, "little")
    looped[0x40:0x42] = b"\x01\x40"
    assert decode(bytes(looped)).acs == 4


def test_folder_archive_and_mapping_give_the_same(on_disk: Path, tmp_path: Path) -> None:
    wanted = machine_of({r.kind: r for r in read_tree(MappingTree(files(), links()), name="x")})
    paths = [on_disk]
    for suffix, mode in (("tar", "w"), ("tar.gz", "w:gz"), ("tar.bz2", "w:bz2"), ("tar.xz", "w:xz")):
        path = tmp_path / f"any.{suffix}.dat"
        path.write_bytes(archive("host/", mode))
        paths.append(path)
    for path in paths:
        opened = open_path(path)
        assert opened.kind == "sysfs"
        assert [machine.parts for machine in opened.machines] == [wanted.parts], path


@pytest.mark.parametrize("part", ["sys", "sys/class/infiniband", "sys/bus/pci/devices"])
def test_parts_of_sys(part: str) -> None:
    held, linked = files(), links()
    if part == "sys/class/infiniband":
        # A copy without its hierarchy, as cp -rL makes it.
        held = {
            path.replace(path[: path.index("/infiniband/")], "sys/class"): content
            for path, content in held.items()
            if "/infiniband/" in path
        }
        linked = {}
    elif part == "sys/bus/pci/devices":
        ends = {path.rsplit("/", 1)[0].rsplit("/", 1)[1]: path for path in held if path.endswith("/class")}
        held = {
            f"{part}/{busid}/{name}": held[path.removesuffix("class") + name]
            for busid, path in ends.items()
            for name in ("class", "vendor", "device", "numa_node")
        }
        linked = {}
    tree = root_with_sys(SubTree(MappingTree(held, linked), part))
    assert tree is not None
    machine = read_tree(tree, name="a")[0].machines[0]
    counts = {"sys": (1, 2), "sys/class/infiniband": (0, 2), "sys/bus/pci/devices": (1, 1)}
    assert (len(machine.gpus), len(machine.nics)) == counts[part]
    for gpu in machine.gpus:
        for nic in machine.nics:
            machine.path(gpu, nic)


def test_links_lead_nowhere_outside(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    root = tmp_path / "root"
    (root / "sys/class/dmi/id").mkdir(parents=True)
    (root / "sys/class/dmi/id/product_name").symlink_to(secret)
    (root / "sys/class/dmi/id/sys_vendor").symlink_to("sys_vendor")
    os.mkfifo(root / "sys/class/dmi/id/bios")
    tree = FolderTree(root)
    for name in ("product_name", "sys_vendor", "bios", "missing", "../../../../../secret", "a\0b"):
        assert tree.read(f"sys/class/dmi/id/{name}") is None, name
    mapping = MappingTree({"a/b": b"1"}, {"x": "../../etc", "y": "y", "z": "/a", "w": "a"})
    assert mapping.read("z/b") == b"1"
    assert mapping.read("w/b") == b"1"
    assert mapping.read("x/passwd") is None
    assert mapping.read("y") is None


def _member(name: str, kind: bytes = tarfile.REGTYPE, size: int = 0, target: str = "") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.size, member.linkname = kind, size, target
    return member


def test_hostile_members_are_passed_over(tmp_path: Path) -> None:
    extra = (
        _member("/etc/cron.d/x", size=3),
        _member("../../escape", size=3),
        _member("host/dev/sda", tarfile.BLKTYPE),
        _member("host/pipe", tarfile.FIFOTYPE),
        _member("host/sys/class/dmi/id/product_name", tarfile.SYMTYPE, target="/etc/passwd"),
        _member("host/hard", tarfile.LNKTYPE, target="../../../etc/passwd"),
    )
    path = tmp_path / "a.tar.gz"
    path.write_bytes(archive("host/", extra=extra))
    before = sorted(tmp_path.iterdir())
    case = open_case(path)
    assert sorted(tmp_path.iterdir()) == before
    assert len(case.nodes) == 1
    (told,) = [unread for unread in case.unreadable if "passed over" in unread.reason]
    assert "4 of its members" in told.reason


def test_a_bomb_ends_at_a_limit() -> None:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        for number in range(9):
            member = tarfile.TarInfo(f"zeros{number}")
            member.size = 16 * 2**20
            tar.addfile(member, io.BytesIO(bytes(member.size)))
    found = read_archive(stream.getvalue())
    assert "more than" in found.broken
    assert sum(map(len, found.files.values())) < 70 * 2**20


def test_broken_archives(tmp_path: Path) -> None:
    whole = archive("host/", "w:bz2")
    path = tmp_path / "a.tar.bz2"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ReaderError):
        open_path(path)
    packed = archive("host/", "w:gz")
    for cut in range(20, len(packed), 499):
        path.write_bytes(packed[:cut] + b"\0\xff" + packed[cut:])
        case = open_case(path)
        assert case.nodes or case.unreadable
    path.write_bytes(b"\x28\xb5\x2f\xfd" + b"0" * 100)
    with pytest.raises(ReaderError, match="zstd -d"):
        open_path(path)


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("sysfs_tarball/hwloc-2pa-pcidomain32bits.tar.bz2", (0, 0, 1)),
        ("sysfs_tarball/hwloc-40intel64-2g2n4c+pcilocality.tar.bz2", (0, 1, 4)),
        ("sysfs_tarball/hwloc-nvidia-dgx-gb10.tar.bz2", (0, 0, 1)),
        ("sysfs_tree/testdata/sys-class-infiniband-h100.0", (0, 9, 1)),
    ],
)
def test_real_trees(shared: Path, name: str, counts: tuple[int, int, int]) -> None:
    opened = open_path(shared / "corpus" / name)
    (machine,) = opened.machines
    nodes = [cpu for cpu in machine.cpus if cpu.affinity] or machine.cpus
    assert (len(machine.gpus), len(machine.nics), len(nodes)) == counts


def test_a_gpu_without_place_is_still_a_gpu() -> None:
    held = {f"sys/{GPU.rpartition('/')[2]}/{name}": b"" for name in ("class",)}
    assert root_with_sys(MappingTree(held, {})) is None
