"""Names and figures of parts by PCI id, for sources that give only numbers.

Memory sizes and bandwidths are the makers' data sheets'; BAR1 is the size of the window that the
driver shows for the model's default mode.
"""

from __future__ import annotations

from dataclasses import dataclass

_GIB = 2**30


@dataclass(frozen=True, slots=True)
class GpuModel:
    """What is known of a GPU model; None where it is not.

    Attributes
    ----------
    memory_bytes, memory_bytes_per_s
        Size and bandwidth of the GPU's own memory.
    bar1_bytes
        Size of the BAR1 window.
    """

    name: str
    compute_capability: int | None = None
    memory_bytes: int | None = None
    memory_bytes_per_s: float | None = None
    bar1_bytes: int | None = None


_NVIDIA, _AMD, _MELLANOX, _AMAZON, _BROADCOM = 0x10DE, 0x1002, 0x15B3, 0x1D0F, 0x14E4

GPUS: dict[tuple[int, int], GpuModel] = {
    (_NVIDIA, 0x1DB1): GpuModel("V100-SXM2-16GB", 70, 16 * _GIB, 0.9e12, 16 * _GIB),
    (_NVIDIA, 0x1DB5): GpuModel("V100-SXM2-32GB", 70, 32 * _GIB, 0.9e12, 32 * _GIB),
    (_NVIDIA, 0x1DB6): GpuModel("V100-PCIE-32GB", 70, 32 * _GIB, 0.9e12, 32 * _GIB),
    (_NVIDIA, 0x1EB8): GpuModel("T4", 75, 16 * _GIB, 0.32e12, 256 * 2**20),
    (_NVIDIA, 0x20B0): GpuModel("A100-SXM4-40GB", 80, 40 * _GIB, 1.555e12, 64 * _GIB),
    (_NVIDIA, 0x20B2): GpuModel("A100-SXM4-80GB", 80, 80 * _GIB, 2.039e12, 128 * _GIB),
    (_NVIDIA, 0x20B5): GpuModel("A100-PCIE-80GB", 80, 80 * _GIB, 1.935e12, 128 * _GIB),
    (_NVIDIA, 0x20F1): GpuModel("A100-PCIE-40GB", 80, 40 * _GIB, 1.555e12, 64 * _GIB),
    (_NVIDIA, 0x20B7): GpuModel("A30", 80, 24 * _GIB, 0.933e12, 32 * _GIB),
    (_NVIDIA, 0x2235): GpuModel("A40", 86, 48 * _GIB, 0.696e12, 64 * _GIB),
    (_NVIDIA, 0x2236): GpuModel("A10", 86, 24 * _GIB, 0.6e12, 32 * _GIB),
    (_NVIDIA, 0x2237): GpuModel("A10G", 86, 24 * _GIB, 0.6e12, 32 * _GIB),
    (_NVIDIA, 0x2330): GpuModel("H100-SXM5-80GB", 90, 80 * _GIB, 3.35e12, 128 * _GIB),
    (_NVIDIA, 0x2331): GpuModel("H100-PCIe-80GB", 90, 80 * _GIB, 2.0e12, 128 * _GIB),
    (_NVIDIA, 0x2335): GpuModel("H200-SXM5-141GB", 90, 141 * _GIB, 4.8e12, 256 * _GIB),
    (_NVIDIA, 0x2342): GpuModel("GH200-96GB", 90, 96 * _GIB, 4.0e12, 128 * _GIB),
    (_NVIDIA, 0x26B9): GpuModel("L40S", 89, 48 * _GIB, 0.864e12, 64 * _GIB),
    (_NVIDIA, 0x27B8): GpuModel("L4", 89, 24 * _GIB, 0.3e12, 32 * _GIB),
    (_NVIDIA, 0x2684): GpuModel("GeForce RTX 4090", 89, 24 * _GIB, 1.008e12, 256 * 2**20),
    (_NVIDIA, 0x2901): GpuModel("B200", 100, 180 * _GIB, 8.0e12, 256 * _GIB),
    (_NVIDIA, 0x2E12): GpuModel("GB10", 121, 128 * _GIB, 0.273e12),
    (_AMD, 0x66A1): GpuModel("Instinct MI50", None, 32 * _GIB, 1.024e12, 32 * _GIB),
    (_AMD, 0x738C): GpuModel("Instinct MI100", None, 32 * _GIB, 1.229e12, 32 * _GIB),
    (_AMD, 0x740C): GpuModel("Instinct MI250X", None, 64 * _GIB, 1.638e12, 64 * _GIB),
    (_AMD, 0x740F): GpuModel("Instinct MI210", None, 64 * _GIB, 1.638e12, 64 * _GIB),
    (_AMD, 0x74A1): GpuModel("Instinct MI300X", None, 192 * _GIB, 5.3e12, 256 * _GIB),
}

NICS: dict[tuple[int, int], str] = {
    (_MELLANOX, 0x1013): "ConnectX-4",
    (_MELLANOX, 0x1015): "ConnectX-4 Lx",
    (_MELLANOX, 0x1017): "ConnectX-5",
    (_MELLANOX, 0x1019): "ConnectX-5 Ex",
    (_MELLANOX, 0x101B): "ConnectX-6",
    (_MELLANOX, 0x101D): "ConnectX-6 Dx",
    (_MELLANOX, 0x1014): "ConnectX-4 virtual function",
    (_MELLANOX, 0x1016): "ConnectX-4 Lx virtual function",
    (_MELLANOX, 0x1018): "ConnectX-5 virtual function",
    (_MELLANOX, 0x101A): "ConnectX-5 Ex virtual function",
    (_MELLANOX, 0x101C): "ConnectX-6 virtual function",
    (_MELLANOX, 0x101E): "ConnectX virtual function",
    (_MELLANOX, 0x101F): "ConnectX-6 Lx",
    (_MELLANOX, 0x1021): "ConnectX-7",
    (_MELLANOX, 0x1023): "ConnectX-8",
    (_MELLANOX, 0xA2D6): "BlueField-2",
    (_MELLANOX, 0xA2DC): "BlueField-3",
    (_AMAZON, 0xEFA0): "EFA",
    (_AMAZON, 0xEFA1): "EFA",
    (_AMAZON, 0xEFA2): "EFA",
    (_AMAZON, 0xEFA3): "EFA",
    (_BROADCOM, 0x1750): "BCM57508 Thor",
    (_BROADCOM, 0x1760): "BCM57608 Thor 2",
}

#: Virtual functions of SR-IOV, as virtual machines see a port of a ConnectX.
VIRTUAL_FUNCTIONS = frozenset(
    (_MELLANOX, device) for device in (0x1014, 0x1016, 0x1018, 0x101A, 0x101C, 0x101E)
)

#: NVLink per link and direction by compute capability, bytes per second (NVIDIA's data sheets).
NVLINK_BYTES_PER_S = {60: 20e9, 70: 25e9, 80: 25e9, 86: 14.0625e9, 90: 25e9, 100: 50e9}


def gpu_model(vendor: int | None, device: int | None) -> GpuModel | None:
    """Return what is known of a GPU by its PCI ids, or None."""
    return GPUS.get((vendor, device)) if vendor is not None and device is not None else None


def nic_model(vendor: int | None, device: int | None) -> str | None:
    """Return a NIC's model name by its PCI ids, or None."""
    return NICS.get((vendor, device)) if vendor is not None and device is not None else None


def is_virtual_function(vendor: int | None, device: int | None) -> bool:
    """Return whether PCI ids are those of a NIC's virtual function."""
    return (vendor, device) in VIRTUAL_FUNCTIONS


def nvlink_bytes_per_s(compute_capability: int | None, count: int) -> float | None:
    """Return what `count` NVLinks of a GPU carry one way, None for an unknown generation."""
    rate = NVLINK_BYTES_PER_S.get(compute_capability or 0)
    return rate * count if rate else None


def xgmi_bytes_per_s(architecture: str, count: int) -> float:
    """Return what `count` xGMI links between two AMD GPUs carry one way, bytes per second.

    The figures are RCCL's constants a link (src/graph/topo.h): 36 GB/s for gfx90a, 48 for gfx94x and
    gfx95x, 24 for older ones.

    Parameters
    ----------
    architecture
        Such as ``gfx942``.
    """
    if architecture.startswith(("gfx94", "gfx95")):
        return 48e9 * count
    return (36e9 if architecture == "gfx90a" else 24e9) * count
