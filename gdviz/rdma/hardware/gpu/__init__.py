"""GPU memory for real NICs: allocated by CuPy, exported as dma-buf by the CUDA driver, watched by NVML."""

from __future__ import annotations
