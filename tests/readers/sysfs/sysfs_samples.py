"""An invented host's /sys: two sockets, on one a switch with a GPU and a two-port NIC."""

from __future__ import annotations

import io
import tarfile

ROOT = "sys/devices/pci0000:15/0000:15:01.0"
SWITCH = f"{ROOT}/0000:16:00.0"
GPU = f"{SWITCH}/0000:17:00.0/0000:18:00.0"
NIC = f"{SWITCH}/0000:17:01.0/0000:19:00.0"


def _function(path: str, code: str, vendor: str, device: str, **more: str) -> dict[str, str]:
    found = {"class": code, "vendor": vendor, "device": device, "numa_node": "1", **more}
    return {f"{path}/{name}": text + "\n" for name, text in found.items()}


_LINK = {
    "current_link_speed": "32.0 GT/s PCIe",
    "current_link_width": "16",
    "max_link_speed": "32.0 GT/s PCIe",
    "max_link_width": "16",
}
_SLOW = {**_LINK, "current_link_speed": "16.0 GT/s PCIe", "current_link_width": "8"}


def files() -> dict[str, bytes]:
    """The files by path."""
    text = {
        **_function(ROOT, "0x060400", "0x8086", "0x352a", **_LINK),
        **_function(SWITCH, "0x060400", "0x1000", "0xc030", **_LINK),
        **_function(f"{SWITCH}/0000:17:00.0", "0x060400", "0x1000", "0xc030", **_LINK),
        **_function(f"{SWITCH}/0000:17:01.0", "0x060400", "0x1000", "0xc030", **_LINK),
        **_function(GPU, "0x030200", "0x10de", "0x2330", **_LINK),
        **_function(NIC, "0x020700", "0x15b3", "0x1021", **_SLOW),
        **_function("sys/devices/pci0000:00/0000:00:1f.0", "0x060100", "0x8086", "0x1b81"),
        "sys/devices/system/node/node0/cpulist": "0-3\n",
        "sys/devices/system/node/node1/cpulist": "4-7\n",
        "sys/devices/system/node/node2/cpulist": "\n",
        "sys/kernel/iommu_groups/7/type": "identity\n",
        "sys/module/nvidia_peermem/version": "570.1.2\n",
        "sys/class/dmi/id/product_name": "Model 1\n",
        "sys/class/dmi/id/sys_vendor": "Maker\n",
        "proc/version": "Linux version 6.8.0-9-generic (b@b) (gcc) #1\n",
        "proc/cmdline": "root=/dev/sda iommu=pt\n",
        "proc/cpuinfo": "processor : 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n\n",
        "proc/modules": "mlx5_ib 466944 0 - Live 0xffffffffc0a00000\n",
    }
    resource = "0x0 0x0 0x0\n0x20000000000 0x21fffffffff 0x14220c\n0x0 0x0 0x0\n"
    text[f"{GPU}/resource"] = resource
    for name, port, state, rate in (
        ("mlx5_1", 1, "4: ACTIVE", "400 Gb/sec (4X NDR)"),
        ("mlx5_1", 2, "1: DOWN", "40 Gb/sec (4X QDR)"),
    ):
        device = f"{NIC}/infiniband/{name}"
        place = f"{device}/ports/{port}"
        text |= {
            f"{device}/fw_ver": "28.39.1\n",
            f"{device}/node_guid": "0000:0000:0000:00a1\n",
            f"{place}/state": f"{state}\n",
            f"{place}/phys_state": "5: LinkUp\n",
            f"{place}/rate": f"{rate}\n",
            f"{place}/link_layer": "Ethernet\n",
            f"{place}/gids/3": "0000:0000:0000:0000:0000:ffff:0a00:0001\n",
            f"{place}/gid_attrs/types/3": "RoCE v2\n",
            f"{place}/gid_attrs/ndevs/3": "ens6np0\n",
            f"{place}/hw_counters/out_of_sequence": "12\n",
        }
    return {path: content.encode() for path, content in text.items()}


def links() -> dict[str, str]:
    """The symbolic links by path."""
    return {
        f"{GPU}/iommu_group": "../../../../../../kernel/iommu_groups/7",
        f"{NIC}/iommu_group": "../../../../../../kernel/iommu_groups/8",
        f"{NIC}/driver": "../../../../../../bus/pci/drivers/mlx5_core",
        "sys/class/infiniband/mlx5_1": "../../devices/pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:01.0"
        "/0000:19:00.0/infiniband/mlx5_1",
    }


def config_space(*, acs: int, kind: int) -> bytes:
    """A configuration space with the PCI Express capability of a port type, and ACS."""
    data = bytearray(4096)
    data[0:4] = bytes.fromhex("0010 30c0")
    data[6] = 0x10
    data[9:12] = b"\0\x04\x06"
    data[0x0E] = 1
    data[0x18:0x1B] = bytes((0x16, 0x17, 0x19))
    data[0x34] = 0x40
    data[0x40:0x44] = bytes((0x10, 0, kind << 4, 0))
    data[0x48:0x4A] = (0x10 | 2 << 5 | 5 << 12).to_bytes(2, "little")
    data[0x4C:0x50] = (5 | 16 << 4).to_bytes(4, "little")
    data[0x52:0x54] = (4 | 8 << 4).to_bytes(2, "little")
    data[0x100:0x104] = (0x0D | 1 << 16 | 0x140 << 20).to_bytes(4, "little")
    data[0x104:0x106] = (0x5F).to_bytes(2, "little")
    data[0x106:0x108] = acs.to_bytes(2, "little")
    data[0x140:0x144] = (0x0F | 1 << 16).to_bytes(4, "little")
    data[0x146:0x148] = (0x8000).to_bytes(2, "little")
    return bytes(data)


def archive(prefix: str = "", mode: str = "w:gz", extra: tuple[tarfile.TarInfo, ...] = ()) -> bytes:
    """The host as a tar archive below a folder, perhaps with members that nobody should have."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as tar:  # type: ignore[call-overload]
        for path, content in files().items():
            member = tarfile.TarInfo(prefix + path)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
        for path, target in links().items():
            member = tarfile.TarInfo(prefix + path)
            member.type, member.linkname = tarfile.SYMTYPE, target
            tar.addfile(member)
        for member in extra:
            tar.addfile(member, io.BytesIO(b"x" * member.size))
    return stream.getvalue()
