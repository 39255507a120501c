#!/usr/bin/env python3
"""Writes what matters for GPUDirect RDMA on this host into one JSON object.

Runs by itself on any host with Python 3.6 or newer, without root and without anything installed:

    ssh node python3 - < capture.py > node.json

Nothing secret is taken: of the environment only the names that begin with NCCL_, UCX_, CUDA_ or GDR, and
NVIDIA_VISIBLE_DEVICES; of the kernel's command line only the words that concern PCI, the IOMMU and drivers;
of the kernel's log only lines about them. With --anonymise host names, addresses, GUIDs, MAC addresses,
UUIDs and serial numbers are replaced, the same one always by the same; --key makes that agree between hosts.
"""

# Python 3.6 has no postponed annotations and no pathlib that everything takes: this file speaks its language.

import argparse
import base64
import gzip
import hashlib
import hmac
import json
import os
import re
import subprocess
import sys
import zlib
from contextlib import suppress
from typing import Any, Callable, Dict, Iterable, List, Match, Optional, Sequence

VERSION = 1

#: Seconds that a command may take, and characters of its output that are kept.
TIMEOUT_S = 20
MAX_OUTPUT = 2000000

BUS_ID = re.compile(r"^[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]$")
HOST_BRIDGE = re.compile(r"^pci[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}$")

#: Files of every PCI function, and more of those whose class matters here.
ALWAYS = ("class", "vendor", "device", "numa_node")
OFTEN = (
    *("subsystem_vendor", "subsystem_device", "current_link_speed", "current_link_width", "max_link_speed"),
    *("max_link_width", "resource", "sriov_numvfs"),
)
CLASSES = ("0x0604", "0x02", "0x03", "0x12", "0x0680", "0x0108", "0x0c06")
COUNTERS = (
    *("out_of_sequence", "packet_seq_err", "local_ack_timeout_err", "out_of_buffer", "rnr_nak_retry_err"),
    *("np_cnp_sent", "np_ecn_marked_roce_packets", "rp_cnp_handled", "roce_adp_retrans", "req_cqe_error"),
    *("resp_cqe_error", "duplicate_request", "implied_nak_seq_err", "roce_slow_restart", "symbol_error"),
    *("link_downed", "link_error_recovery", "port_rcv_errors", "port_xmit_discards", "port_xmit_wait"),
    *("local_link_integrity_errors", "retrans_pkts", "retrans_timeout_events"),
)
CONFIG = (
    *("CONFIG_PCI_P2PDMA", "CONFIG_DMABUF_MOVE_NOTIFY", "CONFIG_DMA_SHARED_BUFFER", "CONFIG_ZONE_DEVICE"),
    *("CONFIG_HSA_AMD_P2P", "CONFIG_INFINIBAND_USER_ACCESS", "CONFIG_INFINIBAND_ON_DEMAND_PAGING"),
    *("CONFIG_MLX5_INFINIBAND", "CONFIG_PCI_ATS", "CONFIG_IOMMU_DEFAULT_PASSTHROUGH"),
    *("CONFIG_IOMMU_DEFAULT_DMA_LAZY", "CONFIG_INTEL_IOMMU_DEFAULT_ON", "CONFIG_MODVERSIONS"),
)
SYSTEM = (
    *("/proc/version", "/proc/modules", "/proc/driver/nvidia/version", "/proc/driver/nvidia/params"),
    *("/proc/device-tree/model", "/sys/class/dmi/id/product_name", "/sys/class/dmi/id/sys_vendor"),
    *("/sys/module/nvidia_peermem/version", "/sys/kernel/mm/memory_peers/nv_mem/version"),
    *("/sys/kernel/mm/memory_peers/nv_mem_nc/version", "/sys/kernel/mm/memory_peers/nvidia-peermem/version"),
)
#: Words of the kernel's command line that are kept; of the others only the name is.
CMDLINE = re.compile(
    r"^(?:iommu|intel_iommu|amd_iommu|arm-smmu|pci|pcie|pcie_aspm|pcie_acs_override|nvidia|nouveau|mlx5|rdma|ib_|"
    r"hugepages|default_hugepagesz|vfio|module_blacklist|modprobe\.blacklist|numa|mitigations|nomodeset|acpi)"
)
KERNEL_LOG = re.compile(
    r"DMAR|IOMMU|iommu|AMD-Vi|smmu|NVRM|nvidia|peermem|peer_mem|mlx5_|mlx4_|Hypervisor detected|DMI:"
    r"|Linux version|PCIe bandwidth|AER:|peer-to-peer|P2P|p2pdma|BAR \d|ACS|gdrdrv|amdgpu.*(?:P2P|peer)"
)
VARIABLES = re.compile(r"^(?:(?:NCCL_|UCX_|CUDA_|GDR)[A-Za-z0-9_]*|NVIDIA_VISIBLE_DEVICES)$")
COMMANDS = (
    *("nvidia-smi topo -m", "nvidia-smi -q", "nvidia-smi nvlink --status", "rocm-smi --showtopo"),
    *("ibv_devinfo -v", "rdma link", "ofed_info -s", "modinfo nvidia", "modinfo nvidia_peermem"),
    *("modinfo mlx5_core", "systemd-detect-virt", "dmesg"),
)


class Capture:
    """Gathers files, links and the output of commands."""

    def __init__(self) -> None:
        self.files: Dict[str, Any] = {}
        self.links: Dict[str, str] = {}
        self.commands: Dict[str, Dict[str, Any]] = {}
        self.needs_root: List[str] = []

    def take(self, path: str, limit: int = 65536) -> None:
        """Take a file as text, if it can be read."""
        data = self.raw(path, limit)
        if data is not None:
            self.files[path.strip("/")] = data.decode("utf-8", "replace").strip("\0\n ")

    @staticmethod
    def raw(path: str, limit: int = 65536) -> Optional[bytes]:
        """Return a file's content, None if it cannot be read."""
        try:
            with open(path, "rb") as file:
                return file.read(limit)
        except (OSError, ValueError):
            return None

    def take_link(self, path: str) -> None:
        """Take where a link points, if it is one."""
        with suppress(OSError, ValueError):
            self.links[path.strip("/")] = os.readlink(path)

    def run(self, name: str) -> Optional[str]:
        """Take what a command prints; one that is missing leaves nothing."""
        try:
            pipe, env = subprocess.PIPE, dict(os.environ, LC_ALL="C")
            done = subprocess.run(
                name.split(), stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, timeout=TIMEOUT_S, env=env
            )
        except subprocess.TimeoutExpired:
            self.commands[name] = {"error": "took more than %d s" % TIMEOUT_S}
            return None
        except (OSError, ValueError):
            return None
        out = done.stdout.decode("utf-8", "replace")[:MAX_OUTPUT]
        error = done.stderr.decode("utf-8", "replace")[:2000]
        self.commands[name] = {"rc": done.returncode, "out": out}
        if error.strip():
            self.commands[name]["error"] = error
        return out


def names_in(path: str) -> List[str]:
    """Return the names in a folder, sorted; none if it cannot be read."""
    try:
        return sorted(os.listdir(path))
    except OSError:
        return []


def take_pci(capture: Capture) -> None:
    """Take the PCI functions, each below the bridge that it hangs from."""
    capabilities = False
    todo: List[str] = []
    for place in ("/sys/devices", "/sys/devices/platform"):
        for name in names_in(place):
            if HOST_BRIDGE.match(name):
                todo.append(place + "/" + name)
            elif place != "/sys/devices":
                inside = [inner for inner in names_in(place + "/" + name) if HOST_BRIDGE.match(inner)]
                todo += [place + "/" + name + "/" + inner for inner in inside]
    while todo:
        path = todo.pop()
        for name in names_in(path):
            if BUS_ID.match(name):
                function = path + "/" + name
                capabilities = take_function(capture, function) or capabilities
                todo.append(function)
    for name in names_in("/sys/class/infiniband"):
        netdev = capture.raw("/sys/class/infiniband/" + name + "/parent")
        if netdev:  # soft-RoCE: no PCI function of its own
            take_rdma(capture, "/sys/class/infiniband/" + name)
            capture.take_link("/sys/class/net/" + netdev.decode("utf-8", "replace").strip())
    if not capabilities and os.geteuid() != 0:
        capture.needs_root.append("PCI capabilities (ACS, ATS, payload sizes)")


def take_function(capture: Capture, path: str) -> bool:
    """Take a PCI function; return whether its capabilities could be read."""
    for name in ALWAYS:
        capture.take(path + "/" + name)
    kind = capture.files.get(path.strip("/") + "/class") or ""
    if not kind.startswith(CLASSES):
        return False
    for name in OFTEN:
        capture.take(path + "/" + name)
    for name in ("iommu_group", "driver", "physfn"):
        capture.take_link(path + "/" + name)
    config = capture.raw(path + "/config", 4096) or b""
    packed = zlib.compress(config.rstrip(b"\0").ljust(min(len(config), 260), b"\0"), 9)
    capture.files[path.strip("/") + "/config"] = {"z": base64.b64encode(packed).decode("ascii")}
    for device in names_in(path + "/infiniband"):
        take_rdma(capture, path + "/infiniband/" + device)
        capture.take_link("/sys/class/infiniband/" + device)
    return len(config) > 256


def take_rdma(capture: Capture, path: str) -> None:
    """Take an RDMA device with its ports."""
    for name in ("fw_ver", "hca_type", "board_id", "node_guid", "parent"):
        capture.take(path + "/" + name)
    for port in names_in(path + "/ports"):
        place = path + "/ports/" + port
        for name in ("state", "phys_state", "rate", "link_layer", "lid"):
            capture.take(place + "/" + name)
        for index in names_in(place + "/gids")[:256]:
            gid = capture.raw(place + "/gids/" + index) or b""
            if gid.strip(b"0:\n"):
                capture.take(place + "/gids/" + index)
                capture.take(place + "/gid_attrs/types/" + index)
                capture.take(place + "/gid_attrs/ndevs/" + index)
        for folder in ("hw_counters", "counters"):
            for name in COUNTERS:
                capture.take(place + "/" + folder + "/" + name)


def take_system(capture: Capture) -> None:
    """Take what the kernel says of itself, its modules and its NUMA nodes."""
    for path in SYSTEM:
        capture.take(path, 1 << 20)
    cpuinfo = (capture.raw("/proc/cpuinfo") or b"").decode("utf-8", "replace")
    capture.files["proc/cpuinfo"] = cpuinfo.split("\n\n")[0]
    words = (capture.raw("/proc/cmdline") or b"").decode("utf-8", "replace").split()
    kept = [word if CMDLINE.match(word) else word.split("=")[0] + "=hidden" for word in words if "=" in word]
    kept += [word for word in words if "=" not in word and CMDLINE.match(word)]
    capture.files["proc/cmdline"] = " ".join(kept)
    limits = (capture.raw("/proc/self/limits") or b"").decode("utf-8", "replace").splitlines()
    capture.files["proc/self/limits"] = "\n".join(line for line in limits if "locked memory" in line)
    for name in names_in("/proc/driver/nvidia/gpus"):
        capture.take("/proc/driver/nvidia/gpus/" + name + "/information")
    for name in names_in("/sys/devices/system/node"):
        if name.startswith("node"):
            capture.take("/sys/devices/system/node/" + name + "/cpulist")
    for name in names_in("/sys/class/net"):
        if os.path.exists("/sys/class/net/" + name + "/device"):
            for part in ("mtu", "operstate"):
                capture.take("/sys/class/net/" + name + "/" + part)
            capture.take_link("/sys/class/net/" + name + "/device")
    for name in names_in("/sys/kernel/iommu_groups"):
        capture.take("/sys/kernel/iommu_groups/" + name + "/type")
    take_config(capture)


def take_config(capture: Capture) -> None:
    """Take the few options of the kernel's configuration that matter."""
    release = os.uname().release
    text = ""
    for path in ("/proc/config.gz", "/boot/config-" + release, "/lib/modules/" + release + "/config"):
        try:
            if path.endswith(".gz"):
                with gzip.open(path, "rb") as packed:
                    text = packed.read(1 << 20).decode("utf-8", "replace")
            else:
                with open(path, "rb") as file:
                    text = file.read(1 << 20).decode("utf-8", "replace")
        except (OSError, ValueError, EOFError, zlib.error):
            continue
        break
    if not text:
        return
    lines = []
    for name in CONFIG:
        found = re.search(r"(?m)^%s=.*$" % name, text)
        lines.append(found.group(0) if found else "# %s is not set" % name)
    capture.files["boot/config"] = "\n".join(lines)


def take_commands(capture: Capture) -> None:
    """Run the tools that are installed."""
    for name in COMMANDS:
        out = capture.run(name)
        if name == "nvidia-smi -q" and out:
            # What runs on the GPUs is nobody's business.
            capture.commands[name]["out"] = re.sub(r"(?m)^ +(?:Process ID|Name) +:.*\n", "", out)
        elif name == "dmesg":
            if out is None or capture.commands[name]["rc"] != 0:
                capture.commands.pop(name, None)
                capture.needs_root.append("the kernel log (dmesg)")
            else:
                kept = [line for line in out.splitlines() if KERNEL_LOG.search(line)]
                kept = [re.sub(r"Command line:.*", "", line) for line in kept]
                capture.commands[name]["out"] = "\n".join(kept[:20000])


def collect(run_commands: bool = True) -> Dict[str, Any]:
    """Return everything as one object that json can write."""
    capture = Capture()
    take_system(capture)
    take_pci(capture)
    if run_commands:
        take_commands(capture)
    variables = {key: value for key, value in sorted(os.environ.items()) if VARIABLES.match(key)}
    return {
        "gdviz_capture": VERSION,
        "host": os.uname().nodename,
        "root": os.geteuid() == 0,
        "needs_root": capture.needs_root,
        "environment": variables,
        "commands": capture.commands,
        "links": capture.links,
        "files": capture.files,
    }


class Names:
    """Replaces what names a host or a device, the same always by the same."""

    IPV4 = re.compile(r"(?<![\w.-])(?:\d{1,3}\.){3}\d{1,3}(?![\w.-])")
    GID = re.compile(r"(?<![\w:])(?:[0-9a-fA-F]{4}:){7}[0-9a-fA-F]{4}(?![\w:])")
    IPV6 = re.compile(
        r"(?<![\w:])(?:[\da-fA-F]{1,4}:){1,7}:?(?:[\da-fA-F]{1,4}:){0,6}[\da-fA-F]{1,4}(?![\w:.])"
    )
    GUID = re.compile(r"(?<![\w:])(?:[0-9a-fA-F]{4}:){3}[0-9a-fA-F]{4}(?![\w:])")
    LONG = re.compile(r"\b0x[0-9a-fA-F]{16}\b")
    MAC = re.compile(r"(?<![\w:])(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}(?![\w:])")
    UUID = re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b")
    SERIAL = re.compile(r"(?i)((?:serial(?: number)?|board part number|gpu pdi|vin)\s*[:=]\s*)(?!N/A)(\S+)")

    def __init__(self, key: bytes, hosts: Iterable[str]) -> None:
        self.key = key
        names = sorted((name for name in hosts if len(name) > 1 and name != "localhost"), key=len)[::-1]
        listed = "|".join(re.escape(name) for name in names) or "\0"
        self.hosts = re.compile(r"(?<![\w-])(?:%s)(?![\w-])" % listed)

    def _digest(self, value: str) -> str:
        return hmac.new(self.key, value.lower().encode("utf-8", "replace"), hashlib.sha256).hexdigest()

    def host(self, name: str) -> str:
        """Replace a host's name without its domain."""
        return "host-" + self._digest(name.split(".")[0])[:8]

    def _ipv4(self, address: str) -> str:
        if address.startswith(("127.", "0.", "255.")):
            return address
        return "10." + ".".join(str(int(self._digest(address)[at : at + 2], 16)) for at in (0, 2, 4))

    def _gid(self, gid: str) -> str:
        groups = gid.lower().split(":")
        if groups[:5] == ["0000"] * 5 and groups[5] == "ffff":
            number = int(groups[6] + groups[7], 16)
            old = ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))
            new = [int(part) for part in self._ipv4(old).split(".")]
            return ":".join(groups[:6] + ["%02x%02x" % tuple(new[:2]), "%02x%02x" % tuple(new[2:])])
        digest = self._digest("".join(groups[4:]))
        return ":".join(groups[:4] + [digest[at : at + 4] for at in (0, 4, 8, 12)])

    def _like(self, value: str) -> str:
        prefix = "0x" if value.startswith("0x") else ""
        body = value[len(prefix) :]
        digits = iter(self._digest(re.sub(r"[^0-9a-fA-F]", "", body)))
        return prefix + "".join(next(digits) if ch in "0123456789abcdefABCDEF" else ch for ch in body)

    def _text(self, text: str) -> str:
        marks: List[str] = []

        def keep(new: str) -> str:
            marks.append(new)
            return "\1%d\2" % (len(marks) - 1)

        text = self.GID.sub(lambda match: keep(self._gid(match.group(0))), text)
        for pattern in (self.UUID, self.LONG, self.MAC, self.GUID):
            text = pattern.sub(lambda match: keep(self._like(match.group(0))), text)
        text = self.IPV6.sub(lambda match: self._maybe_ipv6(match.group(0), keep), text)
        text = self.IPV4.sub(lambda match: keep(self._ipv4(match.group(0))), text)

        def serial(match: Match[str]) -> str:
            return match.group(1) + keep("S" + self._digest(match.group(2))[:12])

        text = self.SERIAL.sub(serial, text)
        text = self.hosts.sub(lambda match: keep(self.host(match.group(0))), text)
        return re.sub("\1(\\d+)\2", lambda match: marks[int(match.group(1))], text)

    def _maybe_ipv6(self, found: str, keep: Callable[[str], str]) -> str:
        if "::" not in found and found.count(":") < 7:
            return found
        return keep("fd00::" + self._digest(found)[:4] + ":" + self._digest(found)[4:8])

    def replaced(self, value: Any) -> Any:
        """Replace everything in a value of JSON."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self.replaced(item) for item in value]
        if isinstance(value, dict):
            return {key: item if key == "z" else self.replaced(item) for key, item in value.items()}
        return value


def anonymised(capture: Dict[str, Any], key: str = "") -> Dict[str, Any]:
    """Return a capture without names: hosts, addresses, GUIDs, MACs, UUIDs and serial numbers replaced."""
    secret = key.encode("utf-8") if key else os.urandom(16)
    names = Names(secret, {capture["host"], capture["host"].split(".")[0]})
    return dict(names.replaced(dict(capture, host="")), host=names.host(capture["host"]), anonymised=True)


def main(argv: Optional[Sequence[str]] = None) -> int:
    """Write a capture to standard output or a file."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-o", "--output", default="-", help="file to write; - is standard output")
    parser.add_argument("--anonymise", action="store_true", help="replace names and addresses")
    parser.add_argument("--key", default="", help="text that makes --anonymise agree between hosts")
    options = parser.parse_args(argv)
    capture = anonymised(collect(), options.key) if options.anonymise else collect()
    with os.fdopen(os.dup(1), "w") if options.output == "-" else open(options.output, "w") as file:
        file.write(json.dumps(capture, indent=1) + "\n")
    for need in capture["needs_root"]:
        sys.stderr.write("not captured without root: %s\n" % need)
    return 0


if __name__ == "__main__":
    sys.exit(main())
