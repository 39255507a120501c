"""GPU models by the names that tools print, for sources that give no PCI ids."""

from __future__ import annotations

import re
from functools import cache

from gdviz.machine import PciIds
from gdviz.machine.known import GPUS, GpuModel

#: The driver's names of models that `GPUS` calls otherwise.
_DRIVER_NAMES = {
    "h100 80gb hbm3": "H100-SXM5-80GB",
    "h100 pcie": "H100-PCIe-80GB",
    "h200": "H200-SXM5-141GB",
    "h200 sxm 141gb": "H200-SXM5-141GB",
    "gh200 480gb": "GH200-96GB",
    "gh200 120gb": "GH200-96GB",
    "a100 80gb pcie": "A100-PCIE-80GB",
    "a100 pcie 80gb": "A100-PCIE-80GB",
    "a100 pcie 40gb": "A100-PCIE-40GB",
    "a100 sxm 80gb": "A100-SXM4-80GB",
    "v100 sxm2 16gb": "V100-SXM2-16GB",
}

_MAKER = re.compile(r"^(?:nvidia corporation|nvidia|tesla|amd|\s)+", re.IGNORECASE)
_BRACKET = re.compile(r"\[([^\[\]]{2,60})\]")


@cache
def _by_name() -> dict[str, tuple[PciIds, GpuModel]]:
    found: dict[str, tuple[PciIds, GpuModel]] = {}
    for (vendor, device), model in GPUS.items():
        found[_plain(model.name)] = (PciIds(vendor, device), model)
    for name, model_name in _DRIVER_NAMES.items():
        found.setdefault(name, found[_plain(model_name)])
    return found


def _plain(name: str) -> str:
    return " ".join(_MAKER.sub("", name).lower().replace("-", " ").split())


def gpu_model_by_name(name: str) -> GpuModel | None:
    """Return the model that a printed name means, None if it is not known.

    Parameters
    ----------
    name
        As ``nvidia-smi`` prints it, or as ``lspci`` does (the model is in square brackets there).

    Examples
    --------
    >>> model = gpu_model_by_name("NVIDIA Corporation TU104GL [Tesla T4]")
    >>> model.name if model else None
    'T4'
    """
    known = _by_name()
    for candidate in (name[:200], *_BRACKET.findall(name[:200])):
        if found := known.get(_plain(candidate)):
            return found[1]
    return None
