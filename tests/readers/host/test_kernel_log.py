"""The reader of kernel logs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from host_samples import DMESG

from gdviz.readers.host import KernelLog, kernel_log
from gdviz.readers.host.log_patterns import KINDS, values_of


def log_of(text: str) -> KernelLog:
    facts = kernel_log.read(text).facts
    assert isinstance(facts, KernelLog)
    return facts


def test_entries() -> None:
    log = log_of(DMESG)
    assert log.kernel is not None
    assert log.kernel.release == "6.8.0-55-generic"
    assert log.command_line is not None
    assert log.command_line.get("iommu") == "pt"
    by_kind = {entry.kind: entry for entry in log.entries}
    assert by_kind["iommu-domain"].values["type"] == "Passthrough"
    assert by_kind["iommu-domain"].line == 6
    assert by_kind["iommu-group"].values == {"busid": "0000:39:00.0", "group": "35"}
    assert by_kind["hypervisor"].values == {"name": "KVM"}
    assert by_kind["nvidia-module-closed"].values == {"version": "535.1.2"}
    assert by_kind["symbol-version"].values["symbol"] == "ib_register_peer_memory_client"
    assert by_kind["unknown-symbol"].values == {
        "module": "nvidia_peermem", "symbol": "ib_register_peer_memory_client", "error": "-22",
    }  # fmt: skip
    assert by_kind["pcie-bandwidth"].values["limiter"] == "0000:16:00.0"
    assert by_kind["pcie-bandwidth"].values["max_width"] == "16"
    assert by_kind["dmi"].values["product"].startswith("QEMU Standard PC")
    assert "usb" not in " ".join(entry.text for entry in log.entries)


def test_like_lines_are_counted() -> None:
    (entry,) = log_of(DMESG).of("invalid-context")
    assert (entry.count, entry.line) == (2, 13)


@pytest.mark.parametrize(
    "stamp",
    [
        "[   12.345678] ",
        "<6>[   12.345678] ",
        "[Mon Jan  6 10:11:12 2025] ",
        "kern  :err   : 2025-02-10T16:28:06,502716+00:00 ",
        "kern  :warn  : [    1.000000] ",
        "Jan  6 10:11:12 node-a kernel: ",
        "2025-01-06T10:11:12.123456+01:00 node-a kernel: [   12.345678] ",
        "",
    ],
)
def test_time_stamps(stamp: str) -> None:
    text = stamp + "nvidia_peermem: Unknown symbol ib_x (err -22)\n"
    assert kernel_log.looks_like(text)
    (entry,) = log_of(text).entries
    assert (entry.kind, entry.text) == ("unknown-symbol", "nvidia_peermem: Unknown symbol ib_x (err -22)")


@pytest.mark.parametrize(
    "text", ["nvidia_peermem         16384  0\n", "hello\n", "a:1:2 [0] NCCL INFO x\n", ""]
)
def test_what_is_no_kernel_log(text: str) -> None:
    assert not kernel_log.looks_like(text)


def test_refusals_to_load_have_one_form() -> None:
    for text in (
        "load nvidia_peermem failed: invalid argument",
        "modprobe: ERROR: could not insert 'nvidia_peermem': invalid argument",
    ):
        assert values_of("module-load-failed", text) == {
            "module": "nvidia_peermem", "error": "invalid argument",
        }  # fmt: skip


def test_open_is_not_closed() -> None:
    line = "NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  570.1.2  Release Build"
    assert list(KINDS).index("nvidia-module-open") < list(KINDS).index("nvidia-module-closed")
    (entry,) = log_of(line).entries
    assert entry.kind == "nvidia-module-open"
