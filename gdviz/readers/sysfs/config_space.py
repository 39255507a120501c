"""A PCI function's configuration space: what its capabilities say.

Offsets and bits are those of the PCI Express Base Specification. Without root the kernel shows only the
first 64 bytes, and none of the capabilities.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Names of the device/port types as lspci prints them.
PORT_TYPES = {
    0: "Endpoint",
    1: "Legacy Endpoint",
    4: "Root Port",
    5: "Upstream Port",
    6: "Downstream Port",
    7: "PCI-Express to PCI/PCI-X Bridge",
    9: "Root Complex Integrated Endpoint",
}

_PCIE, _ACS, _ATS = 0x10, 0x0D, 0x0F
_MAX_STEPS = 64


@dataclass(frozen=True, slots=True)
class ConfigSpace:
    """What was decoded; None is what the bytes at hand do not say.

    Attributes
    ----------
    whole
        Whether the capabilities could be looked at.
    acs
        ACS control register; `acs_capability` the capability register.
    """

    vendor: int | None = None
    device: int | None = None
    class_code: int | None = None
    subsystem_vendor: int | None = None
    subsystem_device: int | None = None
    primary: int | None = None
    secondary: int | None = None
    subordinate: int | None = None
    port_type: str = ""
    mps_bytes: int | None = None
    mrrs_bytes: int | None = None
    relaxed_ordering: bool | None = None
    speed: int | None = None
    width: int | None = None
    max_speed: int | None = None
    max_width: int | None = None
    acs: int | None = None
    acs_capability: int | None = None
    ats: bool | None = None
    whole: bool = False


def decode(data: bytes) -> ConfigSpace:
    """Return what a configuration space says; never raises.

    Parameters
    ----------
    data
        Its first 64, 256 or 4096 bytes.
    """
    if len(data) < 64:
        return ConfigSpace()
    bridge = data[0x0E] & 0x7F == 1
    found: dict[str, int | str | bool | None] = {
        "vendor": _word(data, 0),
        "device": _word(data, 2),
        "class_code": data[0x0B] << 16 | data[0x0A] << 8 | data[0x09],
    }
    if bridge:
        found |= {"primary": data[0x18], "secondary": data[0x19], "subordinate": data[0x1A]}
    else:
        found |= {"subsystem_vendor": _word(data, 0x2C), "subsystem_device": _word(data, 0x2E)}
    if len(data) >= 256:
        found["whole"] = True
        found |= _pcie(data)
    if len(data) >= 0x104:
        found |= _extended(data)
    return ConfigSpace(**found)  # type: ignore[arg-type]


def _word(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 2], "little")


def _pcie(data: bytes) -> dict[str, int | str | bool | None]:
    at = data[0x34] & 0xFC if data[0x06] & 0x10 else 0
    for _step in range(_MAX_STEPS):
        if not 0x40 <= at <= 0xF0:
            break
        if data[at] == _PCIE and at + 0x14 <= 256:
            control, status = _word(data, at + 8), _word(data, at + 0x12)
            capability = int.from_bytes(data[at + 0x0C : at + 0x10], "little")
            return {
                "port_type": PORT_TYPES.get(data[at + 2] >> 4, ""),
                "mps_bytes": 128 << (control >> 5 & 7),
                "mrrs_bytes": 128 << (control >> 12 & 7),
                "relaxed_ordering": bool(control & 0x10),
                "speed": (status & 0xF) or None,
                "width": (status >> 4 & 0x3F) or None,
                "max_speed": (capability & 0xF) or None,
                "max_width": (capability >> 4 & 0x3F) or None,
            }
        at = data[at + 1] & 0xFC
    return {}


def _extended(data: bytes) -> dict[str, int | str | bool | None]:
    found: dict[str, int | str | bool | None] = {}
    at = 0x100
    for _step in range(_MAX_STEPS * 4):
        if not 0x100 <= at <= len(data) - 8:
            break
        header = int.from_bytes(data[at : at + 4], "little")
        kind = header & 0xFFFF
        if header in (0, 0xFFFFFFFF):
            break
        if kind == _ACS:
            found |= {"acs_capability": _word(data, at + 4), "acs": _word(data, at + 6)}
        elif kind == _ATS:
            found["ats"] = bool(_word(data, at + 6) & 0x8000)
        at = header >> 20 & 0xFFC
    return found
