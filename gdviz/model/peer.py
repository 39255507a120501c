"""What a CPU's root complex lets through between two devices (peer-to-peer), by make.

CPUs are poor PCIe switches: many have a ceiling of their own for it, often lower for reads than for
writes, and lower again from socket to socket. The figures are published measurements, or the constants
that NCCL v2.30.7 (src/graph/topo.h) and UCX 1.22 (src/ucs/sys/topo) ship. Where a ceiling is a measurement
itself, comparing the model with that measurement shows nothing (`gdviz.model.FITTED`). Single
measurements stand for a whole family of CPUs; some of them may have been limited by something else.
"""

from __future__ import annotations

from dataclasses import dataclass

from gdviz.machine import Cpu


@dataclass(frozen=True, slots=True)
class PeerCeilings:
    """Ceilings of peer-to-peer traffic through one make of CPU; None: no more than the links'.

    Attributes
    ----------
    read, write
        Bytes a second under one socket.
    across_read, across_write
        Bytes a second from socket to socket.
    payload_bytes
        Largest packet that the root complex passes on; None: the link's own.
    source
        Where the figures come from.
    """

    read: float | None = None
    write: float | None = None
    across_read: float | None = None
    across_write: float | None = None
    payload_bytes: int | None = None
    source: str = ""


# NCCL reckons with 64 B packets where an Intel CPU passes traffic on (INTEL_P2P_OVERHEAD).
_INTEL_PAYLOAD = 64

_IVY_BRIDGE = PeerCeilings(
    3.5e9, None, 0.22e9, 0.22e9, _INTEL_PAYLOAD, "read: UCX 1.22 (PHB); sockets: UCX 1.22 (SYS)"
)
_BROADWELL = PeerCeilings(
    3.5e9, 7.1e9, 3.5e9, 6e9, _INTEL_PAYLOAD,
    "read: UCX 1.22 (PHB); write: E5-2650 v4 + P40, forums.developer.nvidia.com 55564; sockets: NCCL",
)  # fmt: skip
_SKYLAKE = PeerCeilings(
    None, None, 11.5e9, 11.5e9, _INTEL_PAYLOAD,
    "A30 + ConnectX-6 at SYS, 11 to 12 GB/s: perftest #241, ucx #9212",
)  # fmt: skip
_SAPPHIRE_RAPIDS = PeerCeilings(None, None, 22e9, 22e9, _INTEL_PAYLOAD, "sockets: NCCL")
_EMERALD_RAPIDS = PeerCeilings(None, None, 40e9, 40e9, _INTEL_PAYLOAD, "sockets: NCCL")
# The write of that measurement ran at the Gen3 link's own speed, so it names no ceiling of the root complex.
_ZEN_1_2 = PeerCeilings(
    6.1e9, None, 5.1e9, 16e9, None,
    "read: EPYC 7452 + V100, StackOverflow 59277346; across: read UCX 1.22 (AMD SYS), write NCCL",
)  # fmt: skip
_ZEN_3 = PeerCeilings(
    22.5e9, None, 16e9, 16e9, None,
    "180 Gb/s on Threadripper PRO: open-gpu-kernel-modules #1253; sockets: NCCL",
)  # fmt: skip
# Nothing is published of these; twice Zen 3's, as their links are twice as fast, is assumed.
_ZEN_4_ON = PeerCeilings(
    45e9, None, 32e9, 32e9, None, "assumed: twice Zen 3's; sockets: NCCL's for AMD, twice as well"
)
_POWER_9 = PeerCeilings(4.9e9, 4.9e9, 4.9e9, 4.9e9, None, "39 Gb/s on AC922: nv_peer_memory #66")
_UNKNOWN = PeerCeilings(None, None, 6e9, 6e9, None, "sockets: NCCL's least (ARM, Zhaoxin)")


def peer_ceilings(cpu: Cpu | None) -> PeerCeilings:
    """Return the peer-to-peer ceilings of a CPU."""
    if cpu is None:
        return _UNKNOWN
    if cpu.arch.startswith("ppc64"):
        return _POWER_9
    vendor = cpu.vendor.lower()
    if "amd" in vendor:
        return _amd(_amd_family(cpu), cpu.model or 0)
    if "intel" in vendor:
        model = cpu.model or 0
        # Family 6: Sapphire Rapids is 143, Emerald Rapids 207, Granite Rapids 173.
        if model in (173, 174) or model >= 207:
            return _EMERALD_RAPIDS
        if model >= 143:
            return _SAPPHIRE_RAPIDS
        if model >= 85:
            return _SKYLAKE
        # Sandy Bridge is 45, Ivy Bridge 62, Haswell 63, Broadwell 79.
        return _BROADWELL if model >= 63 or not model else _IVY_BRIDGE
    return _UNKNOWN


def _amd(family: int, model: int) -> PeerCeilings:
    """Return the ceilings of an EPYC or Threadripper: family 25 is Zen 3 and, in some models, Zen 4."""
    if family <= 23:
        return _ZEN_1_2
    zen_4 = 16 <= model < 32 or 160 <= model < 176
    return _ZEN_4_ON if family > 25 or zen_4 else _ZEN_3


def _amd_family(cpu: Cpu) -> int:
    """Return an AMD CPU's family; NCCL writes 0x8F for 23, with the extended family in the high digit."""
    family = cpu.family or 0
    return 15 + (family >> 4) if family > 31 and family % 16 == 15 else family


def strict_write_bytes_per_s(cpu: Cpu | None) -> float | None:
    """Return what a root complex takes of a NIC's writes without relaxed ordering; None: no ceiling known.

    150 of 200 Gb/s on AMD EPYC (ucx PR #8062), about 16 GB/s on Intel from Sapphire Rapids on (measured on
    Emerald Rapids: ucx PR #10955).
    """
    vendor = cpu.vendor.lower() if cpu is not None else ""
    if "amd" in vendor:
        return 150e9 / 8
    return 16e9 if cpu is not None and "intel" in vendor and (cpu.model or 0) >= 143 else None


def socket_memory_bytes_per_s(cpu: Cpu | None) -> float:
    """Return bytes a second of ordinary memory traffic, one way, between two sockets.

    Number of links times their rate (UPI: 2 B a transfer, xGMI: x16) from the makers' data sheets, quoted
    unverified; that three quarters are usable is assumed.
    """
    usable = 0.75
    vendor = cpu.vendor.lower() if cpu is not None else ""
    if cpu is not None and "amd" in vendor:
        return usable * 3 * 32e9 if _amd_family(cpu) <= 23 else usable * 4 * 36e9
    if cpu is not None and "intel" in vendor:
        model = cpu.model or 0
        if model >= 143:
            return usable * 4 * 32e9
        if model >= 106:
            return usable * 3 * 22.4e9
        return usable * 2 * 20.8e9 if model >= 85 else usable * 2 * 19.2e9
    return usable * 2 * 20.8e9
