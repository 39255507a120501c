"""Texts of programs that no reader turns into a fact of its own."""

from __future__ import annotations

import re

#: NCCL and perftest on a GPU without DMA-BUF.
NO_DMABUF = re.compile(
    r"DMA-?BUF is not supported|dma-?buf (?:export )?is not supported|DMA_BUF.{0,20}not supported",
    re.IGNORECASE,
)

#: rdma-core without the verb; the same line about mlx5dv_reg_dmabuf_mr is harmless.
DLVSYM_REG = re.compile(r"dlv?sym failed on ibv_reg_dmabuf_mr\b")

#: Memory of CUDA's virtual memory management.
CUMEM = re.compile(r"\bcuMem(?:Create|Map|AddressReserve)|\bVMM\b|expandable_segments:True")

#: NCCL could not read a PCIe speed.
NO_SPEED = re.compile(
    r"could not read \S*(?:link_speed|link_width)|could not find value of '[^']*' in dictionary, falling back"
)

#: A completion with an error: status, and the NIC's own word for it.
COMPLETION = re.compile(
    r"(?:Got completion|completion from peer).*?(?:with error|status=)\s*=?\s*(\d+).*?vendor err\s*(\d+)",
    re.IGNORECASE,
)

#: The two ends' GIDs of such a line.
GIDS = re.compile(r"local ?GID:?\s+([0-9a-f:.]+),?\s+remote ?GIDs?:?\s*([0-9a-f:.]+)", re.IGNORECASE)

#: A connection that came to nothing.
MODIFY_QP = re.compile(r"ibv_modify_qp failed|modify_qp.*timed out", re.IGNORECASE)

#: The driver's refusal of peer-to-peer pages.
P2P_PAGES = re.compile(r"nvidia_p2p_get_pages.*(?:-22|failed|error)", re.IGNORECASE)

#: A message of the kernel on a link that carries less than its device could.
LIMITED = re.compile(r"available PCIe bandwidth, limited by")

#: NCCL reads a topology file.
TOPO_FILE = re.compile(r"NCCL_TOPO_FILE set by environment to (\S+)|Loading topology file (\S+)")
