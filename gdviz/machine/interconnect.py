"""What two CPU sockets carry between them.

The figures are the ones NCCL ships as constants (src/graph/topo.h of v2.30.7), usable bytes one way.
"""

from __future__ import annotations

from gdviz.machine.parts import Cpu

_AMD = 16e9
_INTEL_BROADWELL = 6e9
_INTEL_SKYLAKE = 10e9
_INTEL_SAPPHIRE_RAPIDS = 22e9
_INTEL_EMERALD_RAPIDS = 40e9
_ZHAOXIN = 6e9
_POWER9 = 32e9
_ARM = 6e9

# Family 6 models: Skylake-SP and its successors share model 85; Ice Lake-SP is 106; Sapphire Rapids
# 143; Emerald Rapids 207.
_FIRST_SKYLAKE, _FIRST_SAPPHIRE_RAPIDS, _FIRST_EMERALD_RAPIDS = 85, 143, 207


def inter_socket_bytes_per_s(left: Cpu, right: Cpu) -> float | None:
    """Return bytes per second one way between two sockets, None for an unknown make."""
    del right  # Both sockets of a board are of one make.
    if left.arch == "ppc64":
        return _POWER9
    if left.arch in ("arm64", "aarch64"):
        return _ARM
    vendor = left.vendor.lower()
    if "amd" in vendor:
        return _AMD
    if "zhaoxin" in vendor or "shanghai" in vendor:
        return _ZHAOXIN
    if "intel" in vendor:
        return _intel(left.model)
    return None


def _intel(model: int | None) -> float:
    if model is None or model < _FIRST_SKYLAKE:
        return _INTEL_BROADWELL
    if model >= _FIRST_EMERALD_RAPIDS:
        return _INTEL_EMERALD_RAPIDS
    if model >= _FIRST_SAPPHIRE_RAPIDS:
        return _INTEL_SAPPHIRE_RAPIDS
    return _INTEL_SKYLAKE
