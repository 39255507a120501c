"""The verbs of real NICs, of soft-RoCE, and of real GPUs.

The program that uses them holds proxies (`provider`, `devices`, `buffers`, `queue_pairs`, `runs`); the things
themselves live in a worker process for each node (`worker`), which also moves the bytes. Below it is one of
two Python bindings of libibverbs (`backends`). `gpu` has what is NVIDIA's.
"""

from __future__ import annotations

from gdviz.rdma.hardware.provider import HardwareProvider

__all__ = ["HardwareProvider"]
